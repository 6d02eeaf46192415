"""Settings as a few digits, by which a record says what it was measured with."""

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
