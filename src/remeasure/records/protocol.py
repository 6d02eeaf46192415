"""Under which settings and on which text a number was measured, carried by the record itself."""

import hashlib
import json
from typing import Any

from pydantic import BaseModel


def settings_digest(*parts: BaseModel | dict[str, Any]) -> str:
    """Twelve hexadecimal digits that change with any value of `parts`."""
    plain = [
        part.model_dump(mode="json") if isinstance(part, BaseModel) else part for part in parts
    ]
    text = json.dumps(plain, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def protocol(settings: str, corpus: str | None, fraction: float) -> dict[str, Any]:
    """What the ledger needs to know to accept a number as the chapter's experiment.

    `settings` is a `settings_digest`; `corpus` the SHA-256 of the text, None where no text is read;
    `fraction` the part of the budget that was really spent, 1 for all.
    """
    return {"settings": settings, "corpus": corpus, "fraction": fraction}
