"""Against PyTorch's own: the section's text and table."""

from remeasure.figures.words import fixed, significant
from remeasure.reporting.html import Html, join, paragraph
from remeasure.reporting.loading import Report
from remeasure.reporting.prose import told
from remeasure.reporting.verdicts import comparison, tally

RECORD = "metrics/probes/equivalence.json"
CLAIMS = (
    ("nn.MultiheadAttention, largest difference", "equivalence.multihead_attention.max_diff"),
    (
        "scaled_dot_product_attention, largest difference",
        "equivalence.scaled_dot_product_attention.max_diff",
    ),
    ("mean magnitude of what is compared", "equivalence.mean_magnitude"),
)


def equivalence(report: Report) -> Html:
    """Our attention against two of PyTorch's, with the same weights."""
    results = report.results
    return join(
        tally(report.rows("equivalence")),
        paragraph(
            [
                told(
                    lambda module, function, size: (
                        f"On outputs of mean magnitude {fixed(size, 3)}, ours differs from"
                        f" PyTorch’s module by at most {significant(module)} and from its function"
                        f" by at most {significant(function)}."
                    ),
                    results.number(f"{RECORD}#multihead_attention.max_diff"),
                    results.number(f"{RECORD}#scaled_dot_product_attention.max_diff"),
                    results.number(f"{RECORD}#mean_magnitude"),
                )
            ]
        ),
        comparison(report, CLAIMS, "The same weights in three implementations"),
    )
