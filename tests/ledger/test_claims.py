"""claims.yaml itself, and what may not stand in it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from remeasure.errors import ParameterError
from remeasure.ledger.claims import Claim, Claims, read_claims
from remeasure.ledger.graph import read_stages
from remeasure.ledger.values import split_address, value_at
from remeasure.params.reading import check, read_params, read_yaml
from remeasure.records.files import read_json

ROOT = Path(__file__).parents[2]
FACTS = Path(__file__).with_name("chapter_facts.yaml")
CHAPTER = ROOT.parent / "shared/chapter/claims.yaml"

PREDICTION = {
    "id": "ladder.one_block.val_ppl",
    "chapter": "main",
    "section": "ladder",
    "what": "Held-out perplexity of one whole block.",
    "kind": "trained",
    "printed": 38.07,
    "digits": 2,
    "addresses": ["metrics/ablations/one_block.json#held_out.perplexity"],
    "rule": {"type": "prediction"},
}


def fact(facts: Mapping[str, Any], name: str) -> Any:
    """The figure of a claim: that of the longest id before it, and there its own row and column."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        parent = ".".join(parts[:end])
        if parent in facts:
            value = facts[parent]
            for part in parts[end:]:
                if isinstance(value, Mapping):
                    value = value[int(part) if part.isdigit() else part]
            return value
    raise KeyError(name)


def figures(value: Any) -> Iterator[float]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for entry in value:
            yield from figures(entry)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def test_every_printed_value_is_the_chapters(claims: Claims) -> None:
    facts = read_yaml(FACTS)
    for claim in claims.claims:
        printed = None if isinstance(claim.printed, str) else claim.printed
        assert printed == fact(facts, claim.id), claim.id


def test_every_figure_of_the_chapters_has_a_claim(claims: Claims) -> None:
    for name, value in read_yaml(FACTS).items():
        mine = [claim for claim in claims.claims if f"{claim.id}.".startswith(f"{name}.")]
        assert mine, name
        assert set(figures(value)) == set(figures([claim.printed for claim in mine])), name


def test_facts_are_those_of_the_chapters() -> None:
    if not CHAPTER.exists():
        pytest.skip(f"{CHAPTER} is not beside this checkout")
    facts, found = read_yaml(FACTS), {}
    for section in read_yaml(CHAPTER).values():
        entries = section.get("claims", []) if isinstance(section, Mapping) else section
        found |= {entry["id"]: entry for entry in entries}
    assert set(facts) == set(found)
    for name, entry in found.items():
        # The table's first column says at how many tokens, which is a setting and no result.
        value = [row[1:] for row in entry["value"]] if name == "cost.table" else entry["value"]
        # The chapter's averaging matrix is given here with its zeros.
        theirs, ours = (sorted(filter(None, figures(side))) for side in (value, facts[name]))
        assert theirs == ours, name


def test_every_claim_resolves_in_the_record_contract(
    claims: Claims, records: dict[str, dict[str, Any]]
) -> None:
    for entry in (*claims.claims, *claims.findings):
        for address in entry.addresses:
            file, keys = split_address(address)
            value_at(records[str(file)], keys)


def test_every_claim_resolves_in_the_records_that_are_there(claims: Claims) -> None:
    for entry in (*claims.claims, *claims.findings):
        for address in entry.addresses:
            file, keys = split_address(address)
            if (ROOT / file).exists():
                value_at(read_json(ROOT / file), keys)


def test_pins_name_the_stage_that_writes_each_record(
    claims: Claims, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    stages = read_stages(read_params())
    writes = {out: stage.name for stage in stages for out in stage.outs}
    named = {file: pin.stage for file, pin in claims.protocol.records.items()}
    assert named == {file: writes.get(file) for file in named}


def test_ten_headlines(claims: Claims) -> None:
    assert len(claims.headlines) == 10


def test_a_claim_is_accepted_as_written() -> None:
    claim = check(Claim, PREDICTION, "claims.yaml: x")
    assert claim.rule.type == "prediction"
    assert claim.figure == 38.07


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rule": None}, "rule"),
        ({"rule": {}}, "rule"),
        ({"rule": {"type": "plausible"}}, "plausible"),
        ({"rule": {"type": "equal"}}, "no rule for kind trained: equal"),
        ({"rule": {"type": "at_most", "limit": 40}}, "no rule for kind trained"),
        ({"rule": {"type": "prediction", "close": {"relative": 0.05}}}, "needs its why"),
        ({"rule": {"type": "prediction", "close": {}, "why": "w"}}, "exactly one of"),
        ({"rule": {"type": "prediction", "tolerance": 1}}, "tolerance"),
        ({"rule": {"type": "difference", "close": {"absolute": 1}}}, "why"),
        ({"rule": {"type": "difference", "close": {"absolute": 1}, "why": "w"}}, "takes 2"),
        ({"kind": "order", "rule": {"type": "order"}}, "takes 2 or 4"),
        ({"kind": "exact"}, "no rule for kind exact"),
        ({"printed": "38.07"}, "is no number"),
        ({"printed": 38.071}, "more decimals than digits 2"),
        ({"addresses": []}, "addresses"),
        ({"addresses": ["metrics/ablations/one_block.json"]}, "addresses"),
        ({"chapter": "appendix"}, "chapter"),
        ({"toleranec": 3}, "toleranec"),
    ],
)
def test_a_claim_that_cannot_be_judged_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        check(Claim, PREDICTION | change, "claims.yaml: ladder.one_block.val_ppl")


def test_a_claim_without_rule_is_refused() -> None:
    with pytest.raises(ParameterError, match="rule: missing"):
        check(
            Claim, {key: PREDICTION[key] for key in PREDICTION if key != "rule"}, "claims.yaml: x"
        )


CLAIMS = """
typical_spread: 0.01
protocol:
  text: {sha256: "%s", vocab_size: 1024, tokens: 459760, training_tokens: 413784}
  records:
    metrics/corpus.json: {stage: tokenize, entry: tokenizer, text: sha256}
headlines: {}
claims:
  - id: corpus.tokens
    chapter: main
    section: corpus
    what: Tokens of the whole text.
    kind: exact
    printed: 459760
    addresses: [metrics/corpus.json#tokens]
    rule: {type: equal}
findings: []
""" % ("0" * 64)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("findings: []", "findings: []\nextra: 1", "extra: unknown key"),
        ("headlines: {}\n", "", "headlines: missing"),
        ("headlines: {}", "headlines: {tokens: corpus.words}", "corpus.words is no claim"),
        ("metrics/corpus.json#", "metrics/probes/x.json#", "metrics/probes/x.json is not pinned"),
        ("{type: equal}", "{type: same}", "claims.yaml: corpus.tokens.rule"),
        (
            "findings: []",
            "findings: [{id: corpus.tokens, section: corpus, what: w,"
            " address: metrics/corpus.json#tokens}]",
            "corpus.tokens: stands there twice",
        ),
    ],
)
def test_a_slip_in_the_file_is_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "claims.yaml"
    path.write_text(CLAIMS, encoding="utf-8")
    assert len(read_claims(path).claims) == 1
    path.write_text(CLAIMS.replace(old, new), encoding="utf-8")
    with pytest.raises(ParameterError, match=message):
        read_claims(path)
