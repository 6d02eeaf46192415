"""When two curves are the same training, and when they are not."""

from pathlib import Path

import pytest

from remeasure.errors import UserError
from remeasure.pipeline.curves import MOST, differences, read_curve, rounding_at

TABLE = "seed,step,batch_loss,held_out_loss\n0,0,,5.5\n0,1,5.25,\n0,2,5.0,5.125\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "curve.csv"
    path.write_text(text)
    return path


def test_a_curve_equals_itself_and_stops_where_asked(tmp_path: Path) -> None:
    curve = read_curve(written(tmp_path, TABLE))
    assert curve[0, 1] == {"batch_loss": 5.25, "held_out_loss": None}
    assert differences(curve, curve) == []
    assert set(read_curve(written(tmp_path, TABLE), up_to=1)) == {(0, 0), (0, 1)}


def test_the_last_bit_of_a_number_is_found_and_named(tmp_path: Path) -> None:
    before = read_curve(written(tmp_path, TABLE))
    after = read_curve(written(tmp_path, TABLE.replace("5.25", "5.250000000000001")))
    (found,) = differences(before, after)
    assert str(found) == "step 1, seed 0: batch_loss was 5.25, is 5.250000000000001"
    assert found.is_rounding
    (found,) = differences(before, read_curve(written(tmp_path, TABLE.replace("5.25", "5.26"))))
    assert not found.is_rounding


def test_a_row_or_a_number_that_is_missing_is_no_rounding(tmp_path: Path) -> None:
    whole = read_curve(written(tmp_path, TABLE))
    short = read_curve(written(tmp_path, TABLE), up_to=1)
    assert [(each.step, each.is_rounding) for each in differences(whole, short)] == [(2, False)] * 2
    no_evaluation = read_curve(written(tmp_path, TABLE.replace("5.0,5.125", "5.0,")))
    assert [each.column for each in differences(whole, no_evaluation)] == ["held_out_loss"]


def test_an_evaluation_that_only_the_last_step_of_a_short_run_has_is_passed_over(
    tmp_path: Path,
) -> None:
    whole = read_curve(written(tmp_path, TABLE))
    assert (
        differences(read_curve(written(tmp_path, TABLE.replace("5.0,5.125", "5.0,"))), whole) == []
    )


def test_rounding_grows_with_the_steps_up_to_a_limit() -> None:
    assert rounding_at(0) < rounding_at(50) < rounding_at(3000) <= MOST == rounding_at(10**9)


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", TABLE + "0,x,1,1\n", TABLE + "0,3,high,1\n"])
def test_a_damaged_table_is_said_to_be(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)
    if text:
        with pytest.raises(UserError, match=r"curve\.csv: damaged"):
            read_curve(path)
    with pytest.raises(UserError, match="not found"):
        read_curve(tmp_path / "none.csv")
