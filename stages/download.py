"""Fetch the corpus, pinned by its SHA-256.

Writes data/corpus.txt. Serves every section that trains on text.
"""

from remeasure import paths
from remeasure.commands import run_stage
from remeasure.data.corpus import fetch
from remeasure.params.corpus import CorpusSettings
from remeasure.params.reading import check, read_params, section
from remeasure.progress import ByteProgress


def main(words: list[str]) -> None:
    """Take no words; leave the verified text or nothing."""
    settings = check(CorpusSettings, section(read_params(), "corpus"), "corpus")
    with ByteProgress("download") as progress:
        source = fetch(settings.sources, settings.sha256, paths.CORPUS, progress.update)
    print(f"{settings.name} from {source}")


if __name__ == "__main__":
    run_stage(main)
