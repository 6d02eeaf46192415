"""Fetch the pinned text from the first source that has it, whole and with the right checksum."""

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import httpx

from remeasure.errors import UserError
from remeasure.records.files import replacing, sha256_of

CORPUS_FILE = "CORPUS_FILE"
"""Environment variable that names a copy of the text to be tried before all other sources."""

TIMEOUT = httpx.Timeout(20.0, connect=10.0)
ATTEMPTS = 3
SECONDS_BEFORE_RETRY = 0.5
SECONDS_PER_ATTEMPT = 120.0
MAX_REDIRECTS = 5
MAX_BYTES = 512 * 1024 * 1024

Progress = Callable[[int, int | None], None]
"""Called with the bytes so far and the bytes expected (None if unknown)."""


class SourceError(Exception):
    """One source did not deliver; the message says why."""


def fetch(
    sources: Sequence[str], sha256: str, target: Path, progress: Progress | None = None
) -> str:
    """Put the text with this checksum at `target`; returns the source that had it.

    The path in the environment variable CORPUS_FILE comes before `sources`. Each source is a path
    or an http(s) address. Raises UserError naming every source tried and why it failed; `target`
    is written whole or not at all.
    """
    ordered = [os.environ[CORPUS_FILE]] if os.environ.get(CORPUS_FILE) else []
    ordered += sources
    failures: list[str] = []
    for source in ordered:
        try:
            with replacing(target) as temporary:
                _copy(source, temporary, progress)
                _verify(temporary, sha256)
        except SourceError as error:
            failures.append(f"  {source}: {error}")
        else:
            return source
    raise UserError(
        "the corpus could not be had from any source:\n"
        + "\n".join(failures)
        + f"\nwanted: a file with SHA-256 {sha256}.\n"
        f"What you can do: check the network, or put a copy anywhere and run again with"
        f" {CORPUS_FILE}=/path/to/the/file set, or change corpus.sources in params.yaml."
    )


def _copy(source: str, temporary: Path, progress: Progress | None) -> None:
    if source.startswith(("https://", "http://")):
        _download(source, temporary, progress)
        return
    try:
        content = Path(source).read_bytes()
    except OSError as error:
        raise SourceError(error.strerror or str(error)) from None
    temporary.write_bytes(content)


def _download(url: str, temporary: Path, progress: Progress | None) -> None:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _download_once(url, temporary, progress)
            return
        except httpx.TooManyRedirects:
            raise SourceError(f"redirected more than {MAX_REDIRECTS} times") from None
        except (httpx.TransportError, httpx.InvalidURL, TimeoutError) as error:
            reason = f"{type(error).__name__}: {error}".rstrip(": ")
            if attempt == ATTEMPTS:
                raise SourceError(f"{reason} ({ATTEMPTS} attempts)") from None
            time.sleep(SECONDS_BEFORE_RETRY * 2**attempt)


def _download_once(url: str, temporary: Path, progress: Progress | None) -> None:
    deadline = time.monotonic() + SECONDS_PER_ATTEMPT
    with (
        httpx.Client(timeout=TIMEOUT, follow_redirects=True, max_redirects=MAX_REDIRECTS) as client,
        client.stream("GET", url) as response,
        temporary.open("wb") as file,
    ):
        if response.status_code != httpx.codes.OK:
            raise SourceError(f"the server answered {response.status_code}")
        content_type = response.headers.get("content-type", "")
        if content_type.startswith("text/html"):
            raise SourceError("the server answered with an HTML page instead of the text")
        expected = response.headers.get("content-length")
        received = 0
        for chunk in response.iter_bytes():
            file.write(chunk)
            received += len(chunk)
            if received > MAX_BYTES:
                raise SourceError(f"more than {MAX_BYTES} bytes; this is not the text")
            if time.monotonic() > deadline:
                raise TimeoutError(f"not done after {SECONDS_PER_ATTEMPT:.0f} seconds")
            if progress is not None:
                progress(received, int(expected) if expected else None)


def _verify(path: Path, sha256: str) -> None:
    found = sha256_of(path)
    if found != sha256:
        raise SourceError(
            f"wrong content: {path.stat().st_size} bytes with SHA-256 {found[:16]}...,"
            f" wanted {sha256[:16]}..."
        )
