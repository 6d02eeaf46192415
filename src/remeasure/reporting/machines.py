"""Which machines measured: in words, and as a remark where one table has numbers from several."""

from collections.abc import Iterable, Mapping
from typing import Any

from remeasure.figures.words import listed
from remeasure.reporting.html import Html, tag
from remeasure.reporting.loading import Report


def machine(ran: Mapping[str, Any]) -> str:
    """The machine of a stage, in words."""
    found = ran["machine"]
    return f"{_processor(ran)}, {found['cores']} cores, {found['system']}"


def _processor(ran: Mapping[str, Any]) -> str:
    """What did the arithmetic of a stage: two of one name round alike, others may not.

    Clouds call several generations by one name, so family and model stand beside it where known.
    """
    found = ran["machine"]
    model, gpu = found.get("model") or {}, found.get("gpu")
    known = ", ".join(
        f"{word} {model[key]}"
        for key, word in (("cpu_family", "family"), ("model", "model"))
        if model.get(key)
    )
    named = f"{found['processor']} ({known})" if known else found["processor"]
    return f"{named} with {gpu}" if gpu else named


def mixed(report: Report, compared: Iterable[Iterable[str]]) -> Html | None:
    """That stages which are compared with each other ran on several processors, where they did.

    Rounding differs between them, so that one seed takes another course on each: such differences
    are like those between seeds, and a time is not to be compared at all.
    """
    names: dict[str, None] = {}
    for stages in compared:
        found = [ran for stage in stages if (ran := report.ran(stage)) is not None]
        processors = dict.fromkeys(map(_processor, found))
        if len(processors) > 1:
            names |= processors
    if not names:
        return None
    return tag(
        "p",
        f"Compared across machines: {listed(names)}; the report’s last table says which.",
        kind="reason",
    )


def by_group(stages: Iterable[str]) -> list[list[str]]:
    """Stages of one group, such as `ablation`, together: what a table of all of them compares."""
    groups: dict[str, list[str]] = {}
    for stage in stages:
        groups.setdefault(stage.partition("@")[0], []).append(stage)
    return list(groups.values())
