"""Where the model looks: a picture for everyone, and a map to explore where scripts run."""

import json
from typing import Any

from remeasure.reporting.html import Html, figures, join, tag
from remeasure.reporting.loading import Report
from remeasure.reporting.sections.referent import LOOKS
from remeasure.reporting.verdicts import comparison, tally

RUNS = {
    "pool_two_blocks": "two blocks, one pool of nouns",
    "pool_one_block": "one block, one pool of nouns",
    "category_two_blocks": "two blocks, kinds of noun",
    "category_one_block": "one block, kinds of noun",
}
LABELS = {
    "referent.uniform_weight": "weight of a uniform average",
    "referent.block1_same_for_both_adjectives": "block 1: change of its scores with the adjective",
    "referent.block1_weight_on_first_noun": "block 1: weight on the first noun",
    "referent.block2_crosser_weight_on_adjective": "block 2, crosser: weight on the adjective",
    "referent.block2_crossed_weight_on_second_noun": "block 2, crossed: weight on the second noun",
}
DIGITS = 3


def maps(report: Report) -> Html:
    """The picture, the map to explore, and what the chapter says of both."""
    return join(
        tally([row for row in report.rows("referent") if row["id"] in LOOKS]),
        _explorer(report),
        figures(
            report.results,
            (
                "attention_map",
                "Two blocks, first seed, the mean of each block’s heads, for all eight adjectives:"
                " the first four mean the crosser, the others the crossed.",
            ),
        ),
        comparison(
            report,
            [(LABELS[name], name) for name in LOOKS],
            "Weights at the asked word, over seeds",
        ),
    )


def _explorer(report: Report) -> Html | None:
    data = {name: found for name in RUNS if (found := _map(report, name)) is not None}
    if not data:
        return None
    text = json.dumps(data, separators=(",", ":"))
    return join(
        tag("script", Html(text), type="application/json", id="attention-data"),
        tag("div", "", id="attention-explorer", kind="explorer", hidden="hidden"),
    )


def _map(report: Report, name: str) -> dict[str, Any] | None:
    found = report.results.value(f"metrics/referent/{name}.json#attention.map")
    if not found or not found["sentences"][0]["blocks"]:
        return None
    return {
        "label": RUNS[name],
        "seed": found["seed"],
        "sentences": [
            {
                **{key: sentence[key] for key in ("words", "adjective", "referent", "answer")},
                "blocks": [
                    [[round(weight, DIGITS) for weight in head] for head in block["heads"]]
                    for block in sentence["blocks"]
                ],
            }
            for sentence in found["sentences"]
        ],
    }
