"""Everything that is compared between two commits, read and put side by side.

The stage `train` whole; of every other record under metrics/ whose numbers differ, those numbers.
Benchmarks are left out: they measure the machine.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from remeasure import paths
from remeasure.compare import differences
from remeasure.compare.differences import Metric, Parameter
from remeasure.compare.revisions import Revision, differing_files
from remeasure.compare.samples import Sample, read_sample
from remeasure.errors import ParameterError
from remeasure.params.ablations import variant_plan
from remeasure.params.families import TRAININGS

TRAIN = paths.metrics("train", "train")
FAMILIES = (*(family.folder for family in TRAININGS), "probes")
COUNTED_IN_TOKENS = {"perplexity", "by_window"}
"""Parts of an address that say: this number depends on what a token is."""


@dataclass(frozen=True)
class Side:
    """What one commit holds; None for what it does not."""

    revision: Revision
    params: Mapping[str, Any]
    train: Mapping[str, Any] | None
    """metrics/train/train.json."""
    curve: pd.DataFrame | None
    corpus: Mapping[str, Any]
    """metrics/corpus.json; empty without it."""
    sample: Sample

    def seeds(self) -> list[str]:
        """Seeds that the record of `train` was measured with; none without it."""
        found = [metric.a for metric in differences.metrics(self.train or {}, {}) if metric.a]
        return next((list(number.per_seed) for number in found if number.per_seed), [])

    def tokens(self) -> tuple[Any, ...]:
        """What tells one tokenizer from another: its entries, and how many tokens it makes."""
        return self.corpus.get("vocab_size"), self.corpus.get("tokens")

    def bits_per_byte(self) -> float | None:
        """What a held-out loss in nats a token is multiplied by; None if the counts are unknown."""
        tokens, size = self.corpus.get("held_out_tokens"), self.corpus.get("held_out_bytes")
        return (tokens - 1) / size / math.log(2) if tokens and size else None


@dataclass(frozen=True)
class RecordPair:
    """One record in both commits."""

    path: Path
    metrics: list[Metric]
    same_settings: bool
    same_text: bool
    """Whether both were measured on one held-out text, or on none."""
    same_tokens: bool
    """Whether a token, if they know any, is the same thing in both."""

    def comparable(self, metric: Metric) -> bool:
        """Whether the two numbers of a metric measure the same thing."""
        in_tokens = not COUNTED_IN_TOKENS.isdisjoint(metric.address.split("."))
        return self.same_tokens if in_tokens else self.same_text or metric.address == "parameters"


@dataclass(frozen=True)
class Comparison:
    """Two sides, and what differs between them."""

    a: Side
    b: Side
    parameters: list[Parameter]
    train: RecordPair | None
    """All numbers of the stage `train`; None unless both have its record."""
    others: list[RecordPair]
    """Other records, with their differing numbers."""
    only_a: list[Path]
    only_b: list[Path]
    """Records that one side has alone."""

    def notes(self) -> Iterator[str]:
        """What the reader must know before the numbers, one sentence each."""
        for side in (self.a, self.b):
            name = side.revision.title
            if side.train is None:
                yield f"{name} holds no {TRAIN}: the stage train never ran there."
            elif measured_with_others(side.params, side.train):
                yield (
                    f"{name}: its {TRAIN} was measured with other parameters than stand in its"
                    f" {paths.PARAMS}; 'dvc repro train' there measures them."
                )
        if self.train is not None:
            yield from self._what_compares(self.train)
            yield self._what_is_tested(self.train)

    def _what_compares(self, train: RecordPair) -> Iterator[str]:
        if not train.same_text:
            yield (
                "The held-out texts differ: neither perplexity nor bits per byte says which model"
                " is better."
            )
        elif not train.same_tokens:
            ours, theirs = self.a.tokens()[0], self.b.tokens()[0]
            yield (
                f"The tokenizers differ ({ours} and {theirs} entries): perplexities count different"
                " tokens and cannot be compared. Bits per byte can."
            )

    def _what_is_tested(self, train: RecordPair) -> str:
        seeds = max((metric.common_seeds for metric in train.metrics), key=len, default=[])
        if len(seeds) >= 2:
            return (
                f"B − A is the mean over {len(seeds)} common seeds ± half its"
                f" {differences.CONFIDENCE:.0%} interval; p is that of the two-sided paired t-test,"
                " not corrected for the number of rows."
            )
        budget = self.b.params["model"]["budget"]
        shared = f"one seed in common ({seeds[0]})" if seeds else "no seed in common"
        return (
            f"The two have {shared}: nothing can be tested, and any difference may be chance."
            f" To test it, give both sides -S 'budgets.{budget}.seeds=[0,1,2]'."
        )


def compare(a: Revision, b: Revision) -> Comparison:
    """Read both commits. Raises UserError for what cannot be read."""
    one, other = _side(a), _side(b)
    train = None
    if one.train is not None and other.train is not None:
        train = _pair(TRAIN, one, other, one.train, other.train)
    others: list[RecordPair] = []
    only_a: list[Path] = []
    only_b: list[Path] = []
    for path in differing_files(a, b, [paths.metrics(family, "").parent for family in FAMILIES]):
        ours, theirs = a.json(path), b.json(path)
        if ours is not None and theirs is not None:
            pair = _pair(path, one, other, ours, theirs)
            differing = [metric for metric in pair.metrics if not metric.same]
            if differing or not pair.same_settings:
                others.append(replace(pair, metrics=differing))
        else:
            (only_b if ours is None else only_a).append(path)
    parameters = differences.parameters(one.params, other.params)
    return Comparison(one, other, parameters, train, others, only_a, only_b)


def measured_with_others(params: Mapping[str, Any], train: Mapping[str, Any]) -> bool:
    """Whether a record of `train` is known to belong to other parameters than these."""
    try:
        plan = variant_plan(params)
    except ParameterError:
        return False
    return _protocol(train, "settings") not in (None, plan.settings)


def _side(revision: Revision) -> Side:
    return Side(
        revision,
        revision.params(),
        revision.json(TRAIN),
        revision.csv(paths.curve("train", "train")),
        revision.json(paths.CORPUS_METRICS) or {},
        read_sample(revision),
    )


def _pair(
    path: Path, a: Side, b: Side, ours: Mapping[str, Any], theirs: Mapping[str, Any]
) -> RecordPair:
    settings, text = (
        _protocol(ours, key) == _protocol(theirs, key) for key in ("settings", "corpus")
    )
    tokens = text
    if _protocol(ours, "corpus") is not None:
        text = text and a.corpus.get("held_out_bytes") == b.corpus.get("held_out_bytes")
        tokens = text and a.tokens() == b.tokens()
    return RecordPair(path, differences.metrics(ours, theirs), settings, text, tokens)


def _protocol(record: Mapping[str, Any], key: str) -> Any:
    return record.get("protocol", {}).get(key)
