"""Under which settings and on which text a number was measured, carried by the record itself."""

from typing import Any


def protocol(settings: str, corpus: str | None, fraction: float) -> dict[str, Any]:
    """What the ledger needs to know to accept a number as the chapter's experiment.

    `settings` is a digest (`params.digest`); `corpus` the SHA-256 of the text, None where no text
    is read; `fraction` the part of the budget that was really spent, 1 for all.
    """
    return {"settings": settings, "corpus": corpus, "fraction": fraction}
