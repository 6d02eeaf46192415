"""Which text, where it may come from, and how it is cut into tokens."""

from pathlib import PurePath
from typing import Annotated

from pydantic import Field, field_validator

from remeasure.params.reading import Settings


class CorpusSettings(Settings):
    """The text, pinned by its SHA-256. Sources are tried in order: paths or https addresses."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    sources: Annotated[
        tuple[Annotated[str, Field(min_length=1)], ...], Field(strict=False, min_length=1)
    ]

    @field_validator("sources")
    @classmethod
    def _sources_are_paths_or_addresses(cls, sources: tuple[str, ...]) -> tuple[str, ...]:
        for source in sources:
            if "://" in source and not source.startswith(("https://", "http://")):
                raise ValueError(f"source {source!r} is neither a path nor an https address")
            if "\0" in source or not PurePath(source).name:
                raise ValueError(f"source {source!r} names no file")
        return sources


class TokenizerSettings(Settings):
    """Byte-level BPE: 256 byte symbols and merges up to `vocab_size`."""

    vocab_size: Annotated[int, Field(ge=256, le=65536)]


class SplitSettings(Settings):
    """The last `held_out` part of the tokens is never trained on."""

    held_out: Annotated[float, Field(gt=0, lt=1)]
