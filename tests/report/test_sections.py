import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from synthetic import write_ledger, write_project

from remeasure import paths
from remeasure.figures.words import duration
from remeasure.ledger.verdicts import Verdict
from remeasure.records.files import read_json, write_json
from remeasure.reporting import sections
from remeasure.reporting.loading import Report, load
from remeasure.reporting.verdicts import printed

CHAPTER = {
    "corpus": ["corpus"],
    "average": ["average"],
    "scaling": ["scaling"],
    "ladder": ["ladder"],
    "parameters": ["parameters"],
    "norm": ["norm"],
    "positions": ["positions"],
    "cost": ["cost"],
    "referent": ["referent", "maps"],
    "equivalence": ["equivalence"],
    "companion": ["companion"],
}
"""A claim's section, and the functions that have to show it."""
SHOWN = [name for name in sections.__all__ if name not in ("load", "stylesheet")]


class Text(HTMLParser):
    """The words of a page, and whether its elements are closed in order."""

    VOID = ("br", "meta", "link", "input")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.words, self.open = "", []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag: str, attributes: object) -> None:
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += f" {data}"


def words(html: str) -> str:
    """The text, without scripts and styles, in one line."""
    shown = re.sub(r"<(script|style)\b.*?</\1>", "", html, flags=re.S)
    return " ".join(Text(shown).words.split())


def with_record(root: Path, file: str, **values: float) -> Report:
    """A project in which perplexities of one record are others."""
    write_project(root)
    record = read_json(root / file)
    for split, mean in values.items():
        spread = {"mean": mean, "std": 0.1, "n": 2, "per_seed": {"0": mean - 0.1, "1": mean + 0.1}}
        record[split]["perplexity"] = spread
    write_json(root / file, record)
    write_ledger(root)
    return load(root)


@pytest.mark.parametrize("name", SHOWN)
def test_a_section_is_well_formed_and_has_no_hole(name: str, report: Report) -> None:
    text = words(getattr(sections, name)(report))
    assert text
    for hole in ("None", "nan", "inf ", "not measured yet", "{", "}", "&#", "&amp;"):
        assert hole not in text, hole


@pytest.mark.parametrize("section", CHAPTER)
def test_every_claim_stands_in_its_section_beside_what_the_chapter_prints(
    section: str, report: Report
) -> None:
    html = "".join(getattr(sections, name)(report) for name in CHAPTER[section])
    linked = set(re.findall(r'href="#claim-([^"]+)"', html))
    columns = {row["id"] for row in report.rows(section) if isinstance(row["printed"], list)}
    assert {row["id"] for row in report.rows(section)} - linked <= columns - linked


def test_every_claim_belongs_to_a_section(report: Report) -> None:
    assert {row["section"] for row in report.rows()} == set(CHAPTER)


@pytest.mark.parametrize("name", SHOWN)
def test_nothing_measured_is_said_and_never_zero(name: str, empty_report: Report) -> None:
    html = getattr(sections, name)(empty_report)
    assert "not measured" in words(html) or name == "reproduce"
    allowed = {"not measured", "–", "lost", "", *(printed(row) for row in empty_report.rows())}
    for row in re.findall(r"<tr[^>]*>(.*?)</tr>", html, flags=re.S):
        if "not measured" in row:
            cells = re.findall(r'<td class="number[^"]*"[^>]*>(.*?)</td>', row, flags=re.S)
            assert {words(cell) for cell in cells} <= allowed


@pytest.mark.parametrize("name", sorted({*SHOWN} - {"answer", "runs"}))
def test_what_is_measured_is_not_called_missing(name: str, report: Report) -> None:
    """Such as a finding that a table shows and claims.yaml does not have.

    One of the two left out names the verdict, the other shows the variant that nobody has trained.
    """
    assert "not measured" not in words(getattr(sections, name)(report))


def test_counts_are_those_of_the_ledger(report: Report) -> None:
    text = words(sections.answer(report))
    rows = report.rows()
    assert f"print {len(rows)} figures" in text
    for verdict in Verdict:
        count = sum(row["verdict"] == verdict for row in rows)
        assert f"{count} {verdict}" in text


def test_what_is_contradicted_is_said_at_the_top(report: Report) -> None:
    contradicted = [row for row in report.rows() if row["verdict"] == Verdict.CONTRADICTED]
    assert contradicted, "the synthetic records contradict something"
    text = words(sections.answer(report))
    for row in contradicted:
        assert row["what"].rstrip(".") in text


def test_numbers_and_words_follow_the_records(report: Report, tmp_path: Path) -> None:
    before = words(sections.ladder(report))
    sentence = r"A second block is [\d.]+ points (\w+) on .* and [\d.]+ points (\w+) on held-out"
    found = re.search(sentence, before)
    assert found
    assert found.groups() == ("better", "worse")
    file = "metrics/ablations/two_blocks.json"
    after = words(sections.ladder(with_record(tmp_path, file, held_out=30.0, training=99.0)))
    found = re.search(sentence, after)
    assert found
    assert found.groups() == ("worse", "better")
    assert "30.00" in after
    assert "30.00" not in before


def test_a_demo_is_said_loudly_and_counts_for_nothing(demo_report: Report) -> None:
    html = sections.answer(demo_report)
    assert 'class="banner"' in html
    assert "trained for 2.0 % of the budget" in words(html)
    counted = {row["section"] for row in demo_report.rows() if row["verdict"] != "not measured"}
    assert counted == {"corpus"}, "the text is whole in a demo too"
    ladder = words(sections.ladder(demo_report))
    assert "ran at 2 % of its budget" in ladder
    shown = re.search(r"one block 38.07 3\d\.\d\d", ladder)
    assert shown, "what was measured is shown all the same"


def test_the_whole_budget_on_the_chapters_text_needs_no_banner(report: Report) -> None:
    assert "banner" not in sections.answer(report)


def test_another_text_is_said_loudly(project: Path, tmp_path: Path) -> None:
    write_project(tmp_path)
    counts = read_json(tmp_path / paths.CORPUS_METRICS)
    write_json(tmp_path / paths.CORPUS_METRICS, {**counts, "sha256": "ab" * 32})
    write_ledger(tmp_path)
    text = words(sections.answer(load(tmp_path)))
    assert "This is another text." in text
    assert "abababababab" in text


def test_commit_machine_and_times_come_from_provenance(
    report: Report, empty_report: Report
) -> None:
    text = words(sections.answer(report)) + words(sections.reproduce(report))
    assert "an invented processor, 2 cores, Linux" in text
    assert "git checkout 0123456789abcdef0123456789abcdef01234567" in text
    assert "torch 2.0.0" in text
    missing = words(sections.answer(empty_report))
    assert "Commit not on record" in missing


def test_each_machine_has_its_share_of_the_stages_and_of_the_time(report: Report) -> None:
    path = "provenance/ablations/one_block.json"
    ours = report.provenance[path]
    theirs = {**ours, "machine": {**ours["machine"], "cores": 64}, "wall_seconds": 7380}
    text = words(
        sections.reproduce(replace(report, provenance={**report.provenance, path: theirs}))
    )
    assert "64 cores, Linux: 1 stage, 2 h 03 min" in text
    others = sum(ran["wall_seconds"] for ran in report.provenance.values()) - ours["wall_seconds"]
    told = f"2 cores, Linux: {len(report.provenance) - 1} stages, {duration(others)}"
    assert told in text


def test_the_ledger_counts_what_was_lost_with_its_table_and_how_much_of_it_is_measured(
    report: Report,
) -> None:
    findings = report.results.records["metrics/ledger.json"]["findings"]
    lost = [row for row in findings if row["lost"]]
    first, *others = lost
    less = {**report.results.records["metrics/ledger.json"]}
    less["findings"] = [{**first, "measured": None, "reason": "has not run"}, *others]
    records = {**report.results.records, "metrics/ledger.json": less}
    one_less = replace(report, results=replace(report.results, records=records))
    html = sections.ledger(one_less)
    assert f"{len(lost)} numbers stood in tables" in html
    assert f"{len(lost) - 1} of them are measured" in html


def test_ledger_rows_link_to_their_section_and_stage(report: Report) -> None:
    html = sections.ledger(report)
    row = re.search(r'<tr id="claim-ladder\.one_block\.val_ppl".*?</tr>', html, flags=re.S)
    assert row
    assert 'href="#ladder"' in row[0]
    assert 'href="#stage-ablation@one_block"' in row[0]
    assert 'id="stage-ablation@one_block"' in sections.reproduce(report)


def test_every_ablation_has_a_line_even_if_no_claim_reads_it(
    report: Report, tmp_path: Path
) -> None:
    write_project(tmp_path)
    file = tmp_path / paths.PARAMS
    params = {**report.params, "ablations": {"brand_new": {"budget": "standard", "pos": "rope"}}}
    with file.open("w", encoding="utf-8") as stream:
        YAML(typ="safe", pure=True).dump(params, stream)
    text = words(sections.runs(load(tmp_path)))
    assert "brand_new standard pos rope not measured" in text


def test_weights_to_explore_are_those_of_the_record(report: Report) -> None:
    html = sections.maps(report)
    script = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', html, flags=re.S)
    assert script
    data = json.loads(script[1])
    record = report.results.records["metrics/referent/pool_two_blocks.json"]["attention"]["map"]
    heads = record["sentences"][3]["blocks"][1]["heads"]
    shown = data["pool_two_blocks"]["sentences"][3]["blocks"][1]
    assert shown == [[round(weight, 3) for weight in head] for head in heads]
    assert "category_uniform" not in data, "an average has no attention to show"
