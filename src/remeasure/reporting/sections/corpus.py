"""The text, and how it is cut into tokens."""

from remeasure import paths
from remeasure.figures.words import count, fixed, percent
from remeasure.reporting.html import Html, join, paragraph
from remeasure.reporting.loading import Report
from remeasure.reporting.prose import told
from remeasure.reporting.verdicts import comparison, tally

CLAIMS = (
    ("characters", "corpus.characters"),
    ("entries of the vocabulary", "corpus.vocab_size"),
    ("tokens", "corpus.tokens"),
    ("characters a token", "corpus.characters_per_token"),
)


def corpus(report: Report) -> Html:
    """What the text holds, and the chapter's counts beside ours."""
    found = report.results.records.get(str(paths.CORPUS_METRICS))
    return join(
        tally(report.rows("corpus")),
        paragraph(
            [
                told(
                    lambda text: (
                        f"Our tokenizer cuts {count(text['characters'])} characters into"
                        f" {count(text['tokens'])} tokens,"
                        f" {fixed(text['characters_per_token'])} characters each. The first"
                        f" {percent(text['training_tokens'] / text['tokens'], 0)} are trained on;"
                        f" perplexity is that of the other {count(text['held_out_tokens'])}."
                    ),
                    found,
                )
            ]
        ),
        comparison(report, CLAIMS, "The text in numbers"),
    )
