"""The companion chapter: the section's text, tables and figures."""

from remeasure.figures.words import count, significant
from remeasure.reporting.html import Html, figures, join, paragraph
from remeasure.reporting.loading import Report
from remeasure.reporting.prose import ppl, told
from remeasure.reporting.verdicts import comparison, tally

CLAIMS = (
    ("keys and values shuffled together: change of the output", "companion.set_operation"),
    ("feed-forward layer’s share of a block", "companion.mlp_share"),
    ("final vector minus the sum of what was written", "companion.residual_stream"),
    ("logits with and without the cache: difference", "companion.kv_cache_exact"),
    ("with the cache: longest prefix over shortest, time", "companion.kv_cache_saves.cached"),
    ("without it: longest prefix over shortest, time", "companion.kv_cache_saves.uncached"),
    ("training perplexity without and with the mask", "companion.causal_mask_needed"),
    ("held-out perplexity without the mask", "companion.leak.ppl"),
    ("the same model with the mask put back", "companion.leak.masked_ppl"),
)
CACHE = "metrics/benchmarks/kv_cache.json"


def companion(report: Report) -> Html:
    """Residual stream, keys and values kept, and what happens without the mask."""
    results = report.results
    return join(
        tally(report.rows("companion")),
        paragraph(
            [
                told(
                    lambda difference: (
                        "The vector that the output layer reads is the embedding plus what every"
                        f" sub-layer wrote, to {significant(difference)}."
                    ),
                    results.number("metrics/probes/residual_stream.json#max_diff"),
                ),
                told(
                    lambda cached, uncached, tokens: (
                        f"Over {count(tokens)} generated tokens, a thousand tokens more of prefix"
                        f" add {significant(cached, 2)} ms a token with the cache and"
                        f" {significant(uncached, 2)} ms without it."
                    ),
                    results.number(f"{CACHE}#slopes.cached"),
                    results.number(f"{CACHE}#slopes.uncached"),
                    results.number(f"{CACHE}#tokens"),
                ),
                told(
                    lambda leaking, masked: (
                        f"Trained without the mask, a model has a held-out perplexity of"
                        f" {ppl(leaking)}, since the answer is in its input, and {ppl(masked)} once"
                        " the mask is put back."
                    ),
                    results.ablation("leak", "held_out.perplexity"),
                    results.ablation("leak", "evaluated_otherwise.perplexity"),
                ),
            ]
        ),
        comparison(report, CLAIMS, "What the companion chapter says"),
        figures(
            results,
            ("residual_stream", "Length of what each piece wrote into the final vector."),
            ("kv_cache", "Median, with a band between the quartiles of neighbouring tokens."),
            ("leak", "Trained without the causal mask, beside one block."),
        ),
    )
