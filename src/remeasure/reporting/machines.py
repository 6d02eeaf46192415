"""Which machines measured: in words, and as a remark where one table has numbers from several."""

from collections.abc import Iterable, Mapping
from typing import Any

from remeasure.figures.words import listed
from remeasure.reporting.html import Html, tag
from remeasure.reporting.loading import Report


def machine(ran: Mapping[str, Any]) -> str:
    """The machine of a stage, in words."""
    found = ran["machine"]
    return f"{processor(ran)}, {found['cores']} cores, {found['system']}"


def processor(ran: Mapping[str, Any]) -> str:
    """What did the arithmetic of a stage: two of one name round alike, others may not."""
    found: str = ran["machine"]["processor"]
    gpu = ran["machine"].get("gpu")
    return f"{found} with {gpu}" if gpu else found


def mixed(report: Report, stages: Iterable[str]) -> Html | None:
    """That a table of these stages compares numbers from several processors, if it does.

    Rounding differs between them, so that one seed takes another course on each: such differences
    are like those between seeds, and a time is not to be compared at all.
    """
    found = [ran for stage in dict.fromkeys(stages) if (ran := report.ran(stage)) is not None]
    names = list(dict.fromkeys(map(processor, found)))
    if len(names) < 2:
        return None
    return tag(
        "p",
        f"Measured on different machines: {listed(names)}; the report’s last table says which.",
        kind="reason",
    )
