"""Commits by name, experiments of DVC among them, and what their files hold.

Nothing is checked out: files are read from git's own store. Commands run in the folder that holds
params.yaml; paths are relative to it, wherever in its git repository it lies.
"""

import io
import json
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from remeasure import paths
from remeasure.errors import UserError

EXPERIMENT = re.compile(r"refs/exps/([0-9a-f]{2}/[0-9a-f]{38})/([^/]+)")
"""DVC's name of an experiment: the commit that it started from, cut in two, and its own name."""


@dataclass(frozen=True)
class Revision:
    """A commit, under the name that the person gave it."""

    name: str
    commit: str
    """40 hexadecimal digits."""

    @property
    def title(self) -> str:
        """The name with the commit's first digits, unless that is all the name says."""
        short = self.commit[:7]
        return short if self.commit.startswith(self.name) else f"{self.name} ({short})"

    def text(self, path: Path) -> str | None:
        """The file's content in this commit; None if it holds no such file."""
        return _git_or_none("show", f"{self.commit}:./{path.as_posix()}")

    def json(self, path: Path) -> dict[str, Any] | None:
        """A record in this commit; None if there is none. Raises UserError if it is damaged."""
        text = self.text(path)
        if text is None:
            return None
        try:
            content = json.loads(text)
        except json.JSONDecodeError as error:
            raise UserError(f"{path} in {self.title} is damaged: {error}") from None
        if not isinstance(content, dict):
            raise UserError(f"{path} in {self.title} is damaged: not a JSON object")
        return content

    def csv(self, path: Path) -> pd.DataFrame | None:
        """A table in this commit; None if there is none."""
        text = self.text(path)
        return None if text is None else pd.read_csv(io.StringIO(text))

    def params(self) -> dict[str, Any]:
        """params.yaml in this commit, unchecked. Raises UserError if it is not there or no YAML."""
        text = self.text(paths.PARAMS)
        if text is None:
            raise UserError(f"{self.title} holds no {paths.PARAMS}; name another commit")
        return parsed_params(text, f"{paths.PARAMS} in {self.title}")


@dataclass(frozen=True)
class WorkingTree(Revision):
    """The files as they lie there, in place of a commit."""

    @property
    def title(self) -> str:
        """The name alone."""
        return self.name

    def text(self, path: Path) -> str | None:
        """The file's content; None if there is no such file."""
        try:
            return path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None


@dataclass(frozen=True)
class Experiment:
    """An experiment of DVC and the commit that it started from."""

    revision: Revision
    baseline: str


def resolve(name: str) -> Revision:
    """A commit, tag, branch or experiment by its name. Raises UserError if there is none."""
    if not name or name.startswith("-"):
        raise UserError(f"{name!r}: not a commit, tag, branch or experiment")
    commit = _git_or_none("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    if commit is not None:
        return Revision(name, commit.strip())
    found = [each for each in experiments() if each.revision.name == name]
    if len(found) > 1:
        commits = ", ".join(each.revision.commit[:7] for each in found)
        raise UserError(f"{name}: the name of {len(found)} experiments; give a commit: {commits}")
    if not found:
        raise UserError(
            f"{name}: no commit, tag, branch or experiment has this name;"
            " 'git branch -a' and 'dvc exp list --all-commits' show them"
        )
    return found[0].revision


def experiments() -> list[Experiment]:
    """All experiments of this repository, those of all commits, in the order of their dates."""
    listed = _git(
        "for-each-ref", "--sort=committerdate", "--format=%(objectname) %(refname)", "refs/exps"
    )
    found = []
    for line in listed.splitlines():
        commit, _, ref = line.partition(" ")
        if match := EXPERIMENT.fullmatch(ref):
            found.append(Experiment(Revision(match[2], commit), match[1].replace("/", "")))
    return found


def differing_files(a: Revision, b: Revision, folders: Sequence[Path]) -> list[Path]:
    """Files below `folders` that are not the same in both commits, sorted."""
    names = [folder.as_posix() for folder in folders]
    listed = _git(
        "diff", "--name-only", "--no-renames", "--relative", "-z", a.commit, b.commit, "--", *names
    )
    return sorted(Path(name) for name in listed.split("\0") if name)


def parsed_params(text: str, where: str) -> dict[str, Any]:
    """params.yaml as DVC reads it. Raises UserError if it is no mapping."""
    try:
        content = YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        raise UserError(
            f"{where} cannot be read as YAML: {' '.join(str(error).split())[:200]}"
        ) from None
    if not isinstance(content, dict):
        raise UserError(f"{where} is no mapping of sections")
    return content


def _git(*words: str) -> str:
    done = _run(words)
    if done.returncode:
        first_line = (done.stderr.strip() or "unknown error").splitlines()[0]
        raise UserError(f"git cannot read this repository: {first_line}")
    return done.stdout


def _git_or_none(*words: str) -> str | None:
    done = _run(words)
    return done.stdout if done.returncode == 0 else None


def _run(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ["git", *words], capture_output=True, encoding="utf-8", errors="replace", check=False
        )
    except OSError as error:
        raise UserError(f"git cannot be run: {error}") from None
