"""What the norm averages over: the section's text, tables and figures."""

from remeasure.figures.normalisation import KINDS, MODES, is_undefined, record
from remeasure.figures.words import fixed, significant, with_spread
from remeasure.reporting.html import Cell, Html, figures, join, paragraph, table
from remeasure.reporting.loading import Report
from remeasure.reporting.prose import MARKED, lower, points, ppl, told
from remeasure.reporting.verdicts import NUMERIC, grid, number_cell

COLUMNS = tuple(name for _, name, _ in KINDS)
PERPLEXITIES = (
    ("held_out.perplexity", "evaluation mode, the whole split"),
    *((f"modes.{keys}", label) for keys, label in MODES),
)
LEAKS = tuple(
    (
        f"{mode}: {label}",
        tuple(f"normalisation.{kind}.leak.{mode}.{name}" for kind, _, _ in KINDS),
    )
    for mode in ("training", "evaluation")
    for name, label in (
        ("later_token", "the last token of the window is another"),
        ("other_window", "another window of the batch is another"),
    )
)
ONE_NUMBER = tuple(keys for keys, _ in MODES)


def normalisation(report: Report) -> Html:
    """One block with three norms, in training and in evaluation mode."""
    results = report.results
    return join(
        paragraph([_held_out(report), *(_one_number(report, k, n) for k, n, _ in KINDS[:2])]),
        figures(results, ("norm_modes", f"The same windows in every row. {MARKED}")),
        _perplexities(report),
        paragraph([_modes(report), _undefined(report), _leak(report)]),
        grid(report, "", COLUMNS, LEAKS, "Largest change of a logit that must not change"),
    )


def _perplexities(report: Report) -> Html:
    return table(
        ("", *(Cell(name, NUMERIC) for name in COLUMNS)),
        [
            [label, *(_perplexity(report, kind, keys) for kind, _, _ in KINDS)]
            for keys, label in PERPLEXITIES
        ],
        caption="Held-out perplexity by mode",
        kind="grid",
    )


def _perplexity(report: Report, kind: str, keys: str) -> Cell:
    """A number, `not defined` where the record says so, or that it is not measured."""
    address = record(kind, keys)
    if address.partition("#")[0] not in report.results.records:
        return number_cell(None)
    found = report.results.spread(address)
    return number_cell("not defined" if found is None else with_spread(found))


def _held_out(report: Report) -> str | None:
    return told(
        lambda layer, rms, batch: (
            f"In evaluation mode, on the whole split, LayerNorm reaches a perplexity of"
            f" {ppl(layer)}; RMSNorm is {points(rms.mean - layer.mean)}"
            f" {lower(rms.mean, layer.mean)} it and BatchNorm {points(batch.mean - layer.mean)}"
            f" {lower(batch.mean, layer.mean)}."
        ),
        *(report.results.spread(record(kind, "held_out.perplexity")) for kind, _, _ in KINDS),
    )


def _one_number(report: Report, kind: str, name: str) -> str | None:
    """The largest relative difference between the modes, which is rounding for these norms."""
    found = [report.results.spread(record(kind, f"modes.{keys}")) for keys in ONE_NUMBER]
    values = [value for one in found if one is not None for value in (one.per_seed or {}).values()]
    if any(one is None for one in found) or not values:
        return None
    seeds = [one.per_seed or {} for one in found if one is not None]
    apart = max(
        max(one[seed] for one in seeds) / min(one[seed] for one in seeds) - 1 for seed in seeds[0]
    )
    return (
        f"{name} takes each token by itself: its perplexities in all {len(found)} ways of asking"
        f" are equal to a relative {significant(apart, 1)}."
    )


def _modes(report: Report) -> str | None:
    def at(keys: str) -> object:
        return report.results.spread(record("batch", f"modes.{keys}"))

    return told(
        lambda evaluation, batch, single, token: (
            f"BatchNorm takes each feature over the batch. On these windows it has a perplexity of"
            f" {ppl(evaluation)} with its running statistics and of {ppl(batch)} with those of the"
            f" batch; of {ppl(single)} with those of one window alone, and of {ppl(token)} where a"
            " batch is asked token by token, so that they are taken at one position only."
        ),
        at("whole.evaluation.batch"),
        at("whole.training.batch"),
        at("whole.training.single"),
        at("token.training.batch"),
    )


def _undefined(report: Report) -> str | None:
    if not is_undefined(report.results, "batch", "token.training.single"):
        return None
    return (
        "One token of one window in training mode has no variance over the batch: there BatchNorm"
        " is not defined and PyTorch refuses it, so that row has no number of it."
    )


def _leak(report: Report) -> str | None:
    def at(kind: str, keys: str) -> object:
        return report.results.spread(record(kind, f"leak.training.{keys}"))

    return told(
        lambda later, other, layer, rms: (
            f"In training mode it passes the causal mask by: when the last token of a window is"
            f" another, a logit before it changes by up to {fixed(later.mean, 3)}, and when another"
            f" window of the batch is another by up to {fixed(other.mean, 3)}. With LayerNorm or"
            f" RMSNorm the first changes by {significant(max(layer.mean, rms.mean))} at most."
        ),
        at("batch", "later_token"),
        at("batch", "other_window"),
        at("layer", "later_token"),
        at("rms", "later_token"),
    )
