"""The small project, measured once a session; each test changes a copy of its own."""

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

sys.path.append(str(Path(__file__).parent))

from small_project import CORPUS, PIPELINE, TRAIN, Project

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory, params: dict[str, Any]) -> Path:
    """The project with one commit on `main`, measured."""
    project = Project(tmp_path_factory.mktemp("project"))
    project.git("init", "-q", "-b", "main")
    project.git("config", "user.name", "n")
    project.git("config", "user.email", "e")
    (project.root / ".dvc").mkdir()
    (project.root / ".dvc/config").write_text("[core]\n    analytics = false\n")
    (project.root / ".dvc/.gitignore").write_text("/config.local\n/tmp\n/cache\n")
    (project.root / "dvc.yaml").write_text(PIPELINE)
    (project.root / "train.py").write_text(TRAIN)
    (project.root / ".gitignore").write_text("/models/\n/build/\n__pycache__/\n")
    small = {name: params[name] for name in ("model", "budgets", "training", "tokenizer")}
    with (project.root / "params.yaml").open("w") as file:
        YAML(typ="safe").dump(small, file)
    project.write("metrics/corpus.json", CORPUS)
    project.write("metrics/ablations/kept.json", {"held_out": {"perplexity": 1.0}})
    project.dvc("repro", "-q")
    project.commit("first")
    for name in ("content.css", "page.css"):
        target = project.root / "report/template" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "report/template" / name, target)
    project.commit("stylesheets")
    return project.root


@pytest.fixture
def project(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A copy of it, in which the test runs."""
    root = tmp_path / "project"
    shutil.copytree(template, root)
    monkeypatch.chdir(root)
    return Project(root)
