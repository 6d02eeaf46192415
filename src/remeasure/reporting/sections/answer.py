"""The top of the report: how the chapter's figures fared, and on what they were measured."""

from collections.abc import Iterable, Mapping
from typing import Any

from remeasure import paths
from remeasure.figures.words import count, counted, duration, listed, percent
from remeasure.ledger.verdicts import Verdict
from remeasure.reporting.html import Html, join, link, paragraph, tag
from remeasure.reporting.loading import Report, Row
from remeasure.reporting.machines import machine
from remeasure.reporting.verdicts import (
    SIGNS,
    anchor,
    kind_of,
    ours_in_words,
    printed,
)

MEANINGS = {
    Verdict.REPRODUCED: (
        "equal to the digits printed, inside the stated tolerance, or a run that our seeds could"
        " have given: inside their 95 % prediction interval"
    ),
    Verdict.CLOSE: "outside it, and still so near that nobody would decide otherwise",
    Verdict.CONTRADICTED: "further off than that",
    Verdict.UNDERPOWERED: "too few seeds to tell",
    Verdict.NOT_MEASURED: "no record, or one that is not of the chapter’s experiment",
}

MOST_COMMITS = 3
"""More are counted, not listed."""


def answer(report: Report) -> Html:
    """Banners, the counts, what was contradicted, and the facts of the measurement."""
    return join(
        *_banners(report),
        tag("div", join(_counts(report), _contradicted(report)), kind="answer"),
        _facts(report),
    )


def _banners(report: Report) -> list[Html]:
    records = report.results.records
    fractions = [
        record["protocol"]["fraction"] for record in records.values() if "protocol" in record
    ]
    parts = sorted({fraction for fraction in fractions if fraction < 1})
    banners = []
    if parts:
        short = sum(fraction < 1 for fraction in fractions)
        share = listed(percent(part, 0 if part >= 0.1 else 1) for part in parts)
        banners.append(
            _banner(
                "This is a demo.",
                f"{short} of {len(fractions)} records were trained for {share} of the budget. They"
                " are shown, and none of them counts as a measurement of the chapter’s figures.",
            )
        )
    found = report.results.value(f"{paths.CORPUS_METRICS}#sha256")
    pinned = report.claims.protocol.text.sha256
    if found is not None and found != pinned:
        banners.append(
            _banner(
                "This is another text.",
                f"The chapter’s text has the SHA-256 {pinned[:12]}…, what was measured here was"
                f" trained on {found[:12]}…, so that no perplexity can be compared.",
            )
        )
    return banners


def _banner(title: str, text: str) -> Html:
    return tag("div", join(tag("strong", title), tag("span", text)), kind="banner", role="note")


def _counts(report: Report) -> Html:
    rows = report.rows()
    if not rows:
        return tag("p", "There is no ledger yet: nothing was held against the chapter.")
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in Verdict}
    there = {verdict: number for verdict, number in counts.items() if number}
    lead = paragraph(
        [
            f"The two chapters print {len(rows)} figures that can be checked.",
            f"Of these, {listed(f'{n} {_were(verdict, n)}' for verdict, n in there.items())}.",
        ],
        "lead",
    )
    bar = tag(
        "div",
        Html(
            "".join(
                f'<span class="{kind_of(verdict)}" style="flex-grow:{number}">'
                f"{SIGNS[verdict]} {number}</span>"
                for verdict, number in there.items()
            )
        ),
        kind="bar",
        aria_hidden="true",
    )
    legend = tag(
        "dl",
        Html(
            "".join(
                tag(
                    "div",
                    join(
                        tag("dt", f"{SIGNS[verdict]} {number} {verdict}", kind=kind_of(verdict)),
                        tag("dd", MEANINGS[verdict]),
                    ),
                )
                for verdict, number in counts.items()
            )
        ),
        kind="legend",
    )
    return join(lead, bar, legend)


def _were(verdict: Verdict, number: int) -> str:
    return (
        f"{'was' if number == 1 else 'were'} {verdict}"
        if verdict != "underpowered"
        else (f"{'is' if number == 1 else 'are'} underpowered")
    )


def _contradicted(report: Report) -> Html | None:
    rows = [row for row in report.rows() if row["verdict"] == Verdict.CONTRADICTED]
    if not rows:
        return None
    items = Html("".join(tag("li", _contradiction(report, row)) for row in rows))
    return join(
        tag("h2", "What did not hold", kind="small"),
        tag("ul", items, kind="failures"),
    )


def _contradiction(report: Report, row: Row) -> Html:
    return join(
        link(anchor(row), row["what"].rstrip(".")),
        tag("span", f"chapter {printed(row)}, ours {ours_in_words(report, row)}", kind="reason"),
    )


def _facts(report: Report) -> Html:
    facts = {
        "Text": _text(report),
        "Budget": _budget(report),
        "Machine": _distinct(map(machine, report.provenance.values())),
        "Versions": _distinct(map(_versions, report.provenance.values())),
        "Commit": _commits(report),
        "Time": _time(report),
    }
    items = "".join(
        tag("div", join(tag("dt", name), tag("dd", text or "not on record")))
        for name, text in facts.items()
    )
    return tag("dl", Html(items), kind="facts")


def _commits(report: Report) -> str:
    found = list(dict.fromkeys(filter(None, map(commit, report.provenance.values()))))
    if len(found) <= MOST_COMMITS:
        return "; ".join(found)
    return (
        f"{len(found)} commits, one after the other; the last table says which stage ran at which"
    )


def _text(report: Report) -> str | None:
    found = report.results.records.get(str(paths.CORPUS_METRICS))
    if found is None:
        return None
    return (
        f"{report.params['corpus']['name']}: {count(found['characters'])} characters,"
        f" {count(found['tokens'])} tokens of a vocabulary of {count(found['vocab_size'])},"
        f" SHA-256 {found['sha256'][:12]}…"
    )


def _budget(report: Report) -> str:
    standard, base = report.params["budgets"]["standard"], report.params["base"]
    fraction = report.params["training"]["fraction"]
    part = "" if fraction == 1 else f"{percent(fraction, 0)} of "
    return (
        f"{part}{count(standard['steps'])} steps of AdamW, each on {standard['batch_size']} windows"
        f" of {base['context']} tokens; {counted(len(standard['seeds']), 'seed')} a run"
        " (standard; the others are in the table of runs)"
    )


def _time(report: Report) -> str | None:
    seconds = [ran["wall_seconds"] for ran in report.provenance.values()]
    if not seconds:
        return None
    return f"{duration(sum(seconds))} in {len(seconds)} stages, one after the other"


def commit(ran: Mapping[str, Any]) -> str | None:
    """The commit of a stage, shortened, and whether there were changes on top."""
    revision = ran["commit"]["revision"]
    if revision is None:
        return None
    return revision[:10] + (" with changes" if ran["commit"]["uncommitted_changes"] else "")


def _versions(ran: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {number}" for name, number in ran["versions"].items())


def _distinct(values: Iterable[str | None]) -> str:
    return "; ".join(dict.fromkeys(value for value in values if value))
