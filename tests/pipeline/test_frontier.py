"""What is started next, and beside what, follows from how long stages took."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from remeasure.pipeline import frontier as module
from remeasure.pipeline.frontier import Frontier
from remeasure.pipeline.stages import Graph

TOOK = {"ablation@long": 900.0, "ablation@short": 30.0, "probe@quick": 4.0}
NAMES = ("ablation@long", "ablation@new", "ablation@short", "probe@quick", "recurrent@new")


@pytest.fixture
def frontier(monkeypatch: pytest.MonkeyPatch) -> Frontier:
    """Five stale stages that need nothing, two of which never ran."""

    @contextmanager
    def all_stale() -> Iterator[object]:
        yield lambda name: True

    monkeypatch.setattr(module.costs, "seconds", TOOK.get)
    monkeypatch.setattr(module, "staleness", all_stale)
    found = Frontier(Graph(dict.fromkeys(NAMES, frozenset()), frozenset()))
    found.release()
    return found


def test_a_stage_that_never_ran_is_expected_to_last_as_the_longest_of_its_group(
    frontier: Frontier,
) -> None:
    assert frontier.expected("ablation@new") == 900
    assert frontier.expected("ablation@short") == 30
    assert frontier.expected("recurrent@new") is None


def test_what_is_unknown_comes_first_and_then_the_longest(frontier: Frontier) -> None:
    assert frontier.ready == [
        "recurrent@new",
        "ablation@long",
        "ablation@new",
        "ablation@short",
        "probe@quick",
    ]


def test_what_ended_here_tells_of_its_group(frontier: Frontier) -> None:
    frontier.take(["ablation@long"])
    frontier.finish(["ablation@long"], 10)
    frontier.release()
    assert frontier.expected("ablation@new") == 30
    assert frontier.ready[:3] == ["recurrent@new", "ablation@new", "ablation@short"]


def test_the_time_to_come_is_unknown_until_something_ended(frontier: Frontier) -> None:
    assert frontier.seconds_to_come() is None
    frontier.take(["probe@quick"])
    frontier.finish(["probe@quick"], 6)
    assert frontier.seconds_to_come() == 900 + 900 + 30 + 6


def test_only_short_stages_share_a_start(frontier: Frontier) -> None:
    short = [f"probe@{name}" for name in ("quick", "a", "b", "c", "d", "e", "f")]
    assert frontier.share(short, jobs=2) == ["probe@quick", "probe@a"]
    assert frontier.share(["ablation@new", *short], jobs=2) == ["ablation@new"]
    assert frontier.share(["recurrent@new", *short], jobs=2) == ["recurrent@new"]
    assert frontier.share([], jobs=2) == []
