"""Where the parameters are: the section's text, tables and figures."""

from collections.abc import Mapping

from remeasure.figures.words import count, listed, percent
from remeasure.reporting.html import Html, figures, join, paragraph
from remeasure.reporting.loading import Report
from remeasure.reporting.prose import told
from remeasure.reporting.verdicts import comparison, others, tally

RECORD = "metrics/probes/parameters.json"
GPT2 = (
    ("token embeddings", "parameters.gpt2.token_embeddings"),
    ("position embeddings", "parameters.gpt2.position_embeddings"),
    ("one block", "parameters.gpt2.block"),
    ("12 blocks", "parameters.gpt2.blocks"),
    ("final LayerNorm", "parameters.gpt2.final_layernorm"),
    ("total, weights tied", "parameters.gpt2.total_tied"),
)


def parameters(report: Report) -> Html:
    """The feed-forward layer's share, and the shape of GPT-2 small, counted."""
    shares = report.results.value(f"{RECORD}#ffn_share")
    total = report.results.number(f"{RECORD}#gpt2.total_tied")
    tokens = report.results.number(f"{RECORD}#gpt2.token_embeddings")
    return join(
        tally(report.rows("parameters")),
        paragraph(
            [
                told(
                    lambda shares: (
                        f"The feed-forward layer holds {_ends(shares)} of a block’s parameters."
                    ),
                    shares,
                ),
                told(
                    lambda total, tokens: (
                        f"Built in the shape of GPT-2 small, our model has {count(total)}, of which"
                        f" the token embedding is {percent(tokens / total)}."
                    ),
                    total,
                    tokens,
                ),
            ]
        ),
        comparison(report, GPT2, "The shape of GPT-2 small"),
        figures(
            report.results,
            ("parameters_one_block", "The model of one block that the ladder ends at."),
            ("parameters_gpt2", "The same count for GPT-2 small."),
        ),
        others(report, "parameters", [name for _, name in GPT2]),
    )


def _ends(shares: Mapping[str, float]) -> str:
    """The shares of the narrowest and the widest block, in words."""
    widths = sorted(shares, key=int)
    ends = dict.fromkeys((widths[0], widths[-1]))
    return listed(f"{percent(shares[d])} at width {count(int(d))}" for d in ends)
