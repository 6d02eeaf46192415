import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from remeasure.figures import marks, style
from remeasure.records.results import Spread

CURVE = pd.DataFrame(
    {
        "seed": [0, 0, 0, 1, 1, 1],
        "step": [0, 1, 2, 0, 1, 2],
        "held_out_loss": [2.0, np.nan, 1.0, 4.0, np.nan, 3.0],
    }
)


def test_a_band_goes_from_the_lowest_seed_to_the_highest_where_there_is_a_value() -> None:
    table = marks.over_seeds(CURVE, "held_out_loss")
    assert table.index.tolist() == [0, 2]
    assert table.loc[2].to_dict() == {"mean": 2.0, "min": 1.0, "max": 3.0}


def test_the_mean_perplexity_is_the_mean_of_perplexities() -> None:
    table = marks.perplexity(CURVE)
    assert table.loc[2, "mean"] == pytest.approx((np.e + np.e**3) / 2)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.01, 0.1))
def test_names_are_moved_apart_and_keep_their_order(places: list[float], least: float) -> None:
    moved = marks._apart(np.sort(np.array(places)), least)
    assert (np.diff(moved) >= least * 0.95).all()


def test_names_that_do_not_overlap_stay() -> None:
    places = np.array([0.1, 0.5, 0.9])
    assert marks._apart(places, 0.1).tolist() == places.tolist()


def test_a_row_without_a_record_says_so_and_has_no_dot() -> None:
    axes = Figure().subplots()
    marks.dot_rows(axes, [marks.Row("there", Spread(3.0)), marks.Row("away", None, 2.0)])
    labels = axes.get_yticklabels()
    assert [label.get_text() for label in labels] == ["there", "away: not measured"]
    assert to_hex(labels[1].get_color()) == style.LIGHT["muted"]
    drawn = [tuple(map(float, line.get_xdata())) for line in axes.lines]
    assert (3.0,) in drawn
    assert (2.0,) in drawn, "the chapter's figure"
    assert (0.0,) not in drawn


def test_series_differ_in_more_than_their_colour() -> None:
    looks = [marks.look(index) for index in range(len(style.SERIES))]
    for attribute in ("role", "marker", "line"):
        assert len({str(getattr(look, attribute)) for look in looks}) == len(looks)
