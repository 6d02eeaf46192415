"""Records against claims: what counts, what does not, and that verdicts follow the numbers."""

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from remeasure.errors import UserError
from remeasure.ledger.claims import Claim, Claims, Growth
from remeasure.ledger.ledger import hold, number, summary
from remeasure.ledger.values import NotMeasured, is_spread, split_address, value_at
from remeasure.ledger.verdicts import Verdict, judge
from remeasure.records.spread import spread

ROOT = Path(__file__).parents[2]
Records = dict[str, dict[str, Any]]
Write = Callable[[Mapping[str, Any]], Path]
ONE_BLOCK = "metrics/ablations/one_block.json"


def verdicts(claims: Claims, entries: dict[str, Any], root: Path) -> dict[str, str]:
    return {row["id"]: row["verdict"] for row in hold(claims, entries, root)["claims"]}


def test_every_claim_can_be_reproduced(
    claims: Claims, records: Records, entries: dict[str, Any], write: Write
) -> None:
    found = hold(claims, entries, write(records))["claims"]
    reasons = {row["id"]: row["reason"] for row in found if row["verdict"] != "reproduced"}
    assert reasons == {}


def wrong(claim: Claim, value: Any) -> Any:
    """Numbers that no longer bear the claim out."""
    if is_spread(value):
        return spread({int(s): 50 * v + 7 for s, v in value["per_seed"].items()})
    if isinstance(value, Mapping):
        return {key: wrong(claim, entry) for key, entry in value.items()}
    if isinstance(value, list):
        if isinstance(claim.rule, Growth) and claim.rule.at_most:
            return [*value[:-1], 50 * value[-1]]
        return value[::-1] if claim.kind == "hardware" else [wrong(claim, v) for v in value]
    return 50 * value + 7


def test_every_claim_can_fail(claims: Claims, records: Records) -> None:
    for claim in claims.claims:
        values = []
        for address in claim.addresses:
            file, keys = split_address(address)
            values.append(value_at(records[str(file)], keys))
        assert judge(claim, values, 0.01).verdict == Verdict.REPRODUCED, claim.id
        place = 0 if claim.kind in ("order", "trained") else -1
        values[place] = wrong(claim, values[place])
        try:
            verdict = judge(claim, values, 0.01).verdict
        except NotMeasured:
            verdict = Verdict.NOT_MEASURED
        assert verdict != Verdict.REPRODUCED, claim.id


def test_shuffled_records_turn_verdicts(
    claims: Claims, records: Records, entries: dict[str, Any], write: Write
) -> None:
    names = sorted(name for name in records if name.startswith("metrics/ablations/"))
    shuffled = copy.deepcopy(records)
    for name, other in zip(names, names[7:] + names[:7], strict=True):
        shuffled[name] = records[other] | {"protocol": records[name]["protocol"]}
    found = verdicts(claims, entries, write(shuffled))
    trained = {
        claim.id
        for claim in claims.claims
        if claim.kind in ("trained", "order") and "metrics/ablations/" in claim.addresses[0]
    }
    turned = {name for name in trained if found[name] != "reproduced"}
    assert len(turned) > 0.9 * len(trained), trained - turned
    assert all(found[name] == "reproduced" for name in set(found) - trained)


def test_two_records_in_each_others_place_turn_an_order(
    claims: Claims, records: Records, entries: dict[str, Any], write: Write
) -> None:
    other = "metrics/ablations/two_blocks.json"
    one, two = records[ONE_BLOCK], records[other]
    records[ONE_BLOCK] = two | {"protocol": one["protocol"]}
    records[other] = one | {"protocol": two["protocol"]}
    assert verdicts(claims, entries, write(records))["ladder.overfitting"] == "contradicted"


@pytest.mark.parametrize(
    ("protocol", "reason"),
    [
        ({"fraction": 0.05}, "ablation@one_block ran at 5 % of its budget"),
        ({"settings": "0123456789ab"}, "ran with settings 0123456789ab"),
        ({"corpus": "f" * 64}, "another text was read: SHA-256 ffffffffffff"),
        ({"corpus": None}, "another text was read: SHA-256 None"),
    ],
)
def test_another_experiment_never_counts(
    claims: Claims,
    records: Records,
    entries: dict[str, Any],
    write: Write,
    protocol: dict[str, Any],
    reason: str,
) -> None:
    records[ONE_BLOCK]["protocol"] |= protocol
    ledger = hold(claims, entries, write(records))
    touched = [row for row in ledger["claims"] if "ablation@one_block" in row["stages"]]
    assert len(touched) == 6
    for row in touched:
        assert row["verdict"] == "not measured"
        assert reason in row["reason"]
        assert row["measured"] is None
    others = [row["verdict"] for row in ledger["claims"] if row not in touched]
    assert set(others) == {"reproduced"}


@pytest.mark.parametrize("count", ["vocab_size", "tokens", "training_tokens"])
def test_a_text_cut_otherwise_never_counts(
    claims: Claims, records: Records, entries: dict[str, Any], write: Write, count: str
) -> None:
    records["metrics/corpus.json"][count] -= 1
    for row in hold(claims, entries, write(records))["claims"]:
        reads_text = any(
            claims.protocol.records[str(split_address(a)[0])].text for a in row["addresses"]
        )
        assert (row["verdict"] == "not measured") == reads_text
        assert not reads_text or f"cut otherwise: {count}" in row["reason"]


def test_a_missing_record_is_not_measured_and_says_why(
    claims: Claims, records: Records, entries: dict[str, Any], write: Write
) -> None:
    del records[ONE_BLOCK]
    ledger = hold(claims, entries, write(records))
    rows = {row["id"]: row for row in ledger["claims"]}
    assert rows["ladder.overfitting"]["verdict"] == "not measured"
    assert rows["ladder.overfitting"]["reason"] == "ablation@one_block has not run here"
    findings = {row["id"]: row for row in ledger["findings"]}
    assert findings["ladder.one_block.bits_per_byte"]["measured"] is None
    assert "has not run here" in findings["ladder.one_block.bits_per_byte"]["reason"]


def test_nothing_measured_at_all_is_no_error(
    claims: Claims, entries: dict[str, Any], tmp_path: Path
) -> None:
    assert set(verdicts(claims, entries, tmp_path).values()) == {"not measured"}


def test_a_record_whose_experiment_is_gone_no_longer_counts(
    claims: Claims, records: Records, entries: dict[str, Any], write: Write
) -> None:
    without = copy.deepcopy(entries)
    del without["ablations"]["one_block"]
    row = next(
        row
        for row in hold(claims, without, write(records))["claims"]
        if row["id"] == "ladder.one_block.val_ppl"
    )
    assert row["verdict"] == "not measured"
    assert row["reason"] == "ablations.one_block is no longer in params.yaml"


def test_a_number_that_is_missing_in_a_record_is_not_measured(
    claims: Claims, records: Records, entries: dict[str, Any], write: Write
) -> None:
    del records[ONE_BLOCK]["held_out"]["perplexity"]
    rows = {row["id"]: row for row in hold(claims, entries, write(records))["claims"]}
    assert rows["ladder.one_block.val_ppl"]["verdict"] == "not measured"
    assert "has no 'perplexity'" in rows["ladder.one_block.val_ppl"]["reason"]
    assert rows["ladder.one_block.train_ppl"]["verdict"] == "reproduced"


def test_a_damaged_record_is_an_error(
    claims: Claims, records: Records, entries: dict[str, Any], write: Write
) -> None:
    root = write(records)
    (root / ONE_BLOCK).write_text("{", encoding="utf-8")
    with pytest.raises(UserError, match="damaged"):
        hold(claims, entries, root)


def test_one_seed_gives_a_verdict_only_where_nothing_is_trained(
    claims: Claims, records: Records, entries: dict[str, Any], write: Write
) -> None:
    def first_seed(value: Any) -> Any:
        if is_spread(value):
            return spread({0: value["per_seed"]["0"]})
        if isinstance(value, dict):
            return {key: first_seed(entry) for key, entry in value.items()}
        return [first_seed(entry) for entry in value] if isinstance(value, list) else value

    for row in hold(claims, entries, write(first_seed(records)))["claims"]:
        over_seeds = row["kind"] in ("trained", "order") or row["rule"]["type"] == "prediction"
        assert row["verdict"] == ("underpowered" if over_seeds else "reproduced"), row["id"]
        assert row["more_seeds"] is None or row["more_seeds"] >= 1


def test_a_row_carries_the_numbers_behind_its_verdict(
    claims: Claims, records: Records, entries: dict[str, Any], write: Write
) -> None:
    rows = {row["id"]: row for row in hold(claims, entries, write(records))["claims"]}
    row = rows["ladder.one_block.val_ppl"]
    assert row["printed"] == 38.07
    assert row["measured"] == records[ONE_BLOCK]["held_out"]["perplexity"]
    low, high = row["interval"]
    assert low < 38.07 < high
    assert row["stages"] == ["ablation@one_block"]
    assert row["addresses"] == [f"{ONE_BLOCK}#held_out.perplexity"]
    assert row["rule"]["close"] == {"relative": 0.03}
    assert 0 < rows["ladder.overfitting"]["p_value"] < 0.05
    assert rows["ladder.one_head.gain"]["stages"] == ["ablation@uniform_residual", "ablation@head"]


def test_summary_counts_claims_and_no_findings(
    claims: Claims, records: Records, entries: dict[str, Any], write: Write
) -> None:
    del records[ONE_BLOCK]
    ledger = hold(claims, entries, write(records))
    found = summary(claims, ledger)
    assert sum(found["verdicts"].values()) == len(claims.claims)
    assert found["verdicts"]["not_measured"] == 6
    assert len(ledger["findings"]) == len(claims.findings) > 0
    headline = found["headline"]
    assert headline["no_context_perplexity"] == pytest.approx(59.71)
    assert headline["uniform_average_times_worse"] == pytest.approx(248.45 / 59.71, rel=1e-3)
    assert headline["one_block_perplexity"] is None


def test_headlines_are_single_numbers(
    claims: Claims, records: Records, entries: dict[str, Any], write: Write
) -> None:
    found = summary(claims, hold(claims, entries, write(records)))
    assert all(isinstance(value, float) for value in found["headline"].values())


def test_a_table_has_no_single_number() -> None:
    assert number({"measured": {"value": [1.0, 2.0]}}) is None
    assert number({"measured": None}) is None
    assert number({"measured": {"pairs": []}}) is None
