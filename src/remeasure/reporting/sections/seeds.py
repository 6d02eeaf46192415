"""What a single run could not tell: each difference over seeds, beside chance."""

import math
from dataclasses import dataclass
from statistics import fmean, stdev

from remeasure.figures.words import count, fixed, listed, percent
from remeasure.ledger.statistics import sign_error, t_quantile
from remeasure.records.results import Spread
from remeasure.reporting.html import Cell, Html, join, paragraph, table
from remeasure.reporting.loading import Report
from remeasure.reporting.machines import mixed
from remeasure.reporting.verdicts import NOTHING, NUMERIC, number_cell, printed_cell

HELD_OUT = "held_out.perplexity"

Comparison = tuple[str, str, str, str, str | None]

COMPARISONS: tuple[Comparison, ...] = (
    ("positions on the uniform average", "uniform", "uniform_positions", HELD_OUT,
     "average.uniform_positions.gain"),
    ("adding the average, not replacing by it", "uniform", "uniform_residual", HELD_OUT,
     "average.residual.gain"),
    ("one head over the uniform average", "uniform_residual", "head", HELD_OUT,
     "ladder.one_head.gain"),
    ("adding the head, not replacing by it", "head_replacing", "head", HELD_OUT,
     "ladder.one_head.added_over_replacing"),
    ("four heads over one", "head", "heads", HELD_OUT, "ladder.four_heads.gain"),
    ("the feed-forward layer", "heads", "feed_forward", HELD_OUT, None),
    ("LayerNorm", "feed_forward", "one_block", HELD_OUT, "ladder.layernorm.gain"),
    ("a second block, held out", "one_block", "two_blocks", HELD_OUT, None),
    ("a second block, training text", "one_block", "two_blocks", "training.perplexity", None),
    ("dropout of 10 % on one block", "one_block", "dropout_one_block_10", HELD_OUT, None),
    ("dropout of 10 % on two blocks", "two_blocks", "dropout_two_blocks_10", HELD_OUT, None),
    ("dividing by √d at 32", "scaling_32_undivided", "one_block", HELD_OUT, "scaling.ablation.d32"),
    ("dividing by √d at 128", "scaling_128_undivided", "scaling_128_divided", HELD_OUT, None),
    ("dividing by √d at 256, short budget", "scaling_short_256_undivided",
     "scaling_short_256_divided", HELD_OUT, "scaling.ablation.d256"),
    ("dividing by √d at 1024, short budget", "scaling_short_1024_undivided",
     "scaling_short_1024_divided", HELD_OUT, "scaling.ablation.d1024"),
    ("learned positions over none", "positions_none", "positions_learned", "by_window.64", None),
    ("learned positions over RoPE", "positions_rope", "positions_learned", "by_window.64", None),
    ("learned positions over ALiBi", "positions_alibi", "positions_learned", "by_window.64", None),
    ("warmup with pre-norm", "norm_pre", "norm_pre_warmup", HELD_OUT, None),
    ("warmup with post-norm", "norm_post", "norm_post_warmup", HELD_OUT, None),
)  # fmt: skip
"""What is gained, the ablation without it, the one with it, which number, the chapter's claim."""

HEADINGS = ("Chapter", "Ours", "95 % interval", "n", "wrong sign")
OVER_SEEDS = {None: "one seed", True: "holds", False: "may be chance"}
"""What a table says of `Gain.holds`."""


@dataclass(frozen=True)
class Gain:
    """By how much the second of two ablations is lower, in points of perplexity, seed by seed."""

    label: str
    claim: str | None
    differences: tuple[float, ...]

    @property
    def mean(self) -> float:
        """Over the seeds that both have."""
        return fmean(self.differences)

    @property
    def reach(self) -> float | None:
        """Half the 95 % interval of the mean; None with a single seed."""
        n = len(self.differences)
        return None if n < 2 else t_quantile(0.975, n) * stdev(self.differences) / math.sqrt(n)

    @property
    def interval(self) -> str:
        """The 95 % interval of the mean, in words; empty with a single seed."""
        if self.reach is None:
            return ""
        return f"{fixed(self.mean - self.reach)} to {fixed(self.mean + self.reach)}"

    @property
    def holds(self) -> bool | None:
        """Whether that interval leaves out zero; None with a single seed."""
        return None if self.reach is None else abs(self.mean) > self.reach


def seeds(report: Report) -> Html:
    """Which differences hold over seeds, and how often one pair of runs would mislead."""
    found = [gain_of(report, comparison) for comparison in COMPARISONS]
    tested = [gain for gain in found if gain.holds is not None]
    noise = [gain.label for gain in tested if not gain.holds]
    return join(
        paragraph(
            [
                None if not tested else _measured(len(tested)),
                f"Not told apart from chance: {listed(noise)}." if noise else None,
                "All of them are told apart from chance." if tested and not noise else None,
            ]
        ),
        table(
            ("gained by", *(Cell(name, NUMERIC) for name in HEADINGS), "over seeds"),
            [_line(report, gain) for gain in found],
            caption="Points of perplexity gained, seed by seed",
            kind="comparison",
        ),
        mixed(report, (map("ablation@{}".format, pair) for _, *pair, _, _ in COMPARISONS)),
    )


def gain_of(report: Report, comparison: Comparison) -> Gain:
    """The differences over the seeds that both ablations have; none if one is not measured."""
    label, without, with_it, keys, claim = comparison
    before, after = (report.results.ablation(name, keys) for name in (without, with_it))
    return gain(label, before, after, claim)


def gain(label: str, before: Spread | None, after: Spread | None, claim: str | None = None) -> Gain:
    """The differences over the seeds that both numbers have; none if one is not measured."""
    befores, afters = ((found.per_seed if found else None) or {} for found in (before, after))
    shared = (befores[seed] - afters[seed] for seed in befores if seed in afters)
    return Gain(label, claim, tuple(shared))


def _measured(number: int) -> str:
    if number == 1:
        return "One difference is measured over several seeds."
    return f"{number} differences are measured over several seeds."


def _line(report: Report, gain: Gain) -> list[object]:
    claim = None if gain.claim is None else report.results.claim(gain.claim)
    chapter = printed_cell(claim)
    if not gain.differences:
        return [gain.label, chapter, NOTHING, *(number_cell("") for _ in range(3)), ""]
    wrong = ""
    if gain.reach is not None:
        share = sign_error(gain.differences)
        wrong = "< 0.1 %" if share < 0.001 else percent(share)
    numbers = (fixed(gain.mean), gain.interval, count(len(gain.differences)), wrong)
    return [gain.label, chapter, *map(number_cell, numbers), Cell(OVER_SEEDS[gain.holds], "nowrap")]
