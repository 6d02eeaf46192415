"""Projects with made-up records, each written once a session; nothing in them is changed."""

import sys
from pathlib import Path

import pytest

from remeasure.reporting.loading import Report, load

sys.path.append(str(Path(__file__).parent))

from synthetic import write_project


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything is measured."""
    root = tmp_path_factory.mktemp("whole")
    write_project(root)
    return root


@pytest.fixture(scope="session")
def empty_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nothing is measured, and the ledger says so."""
    root = tmp_path_factory.mktemp("empty")
    write_project(root, records=False)
    return root


@pytest.fixture(scope="session")
def demo_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All is measured, at a fiftieth of the budget."""
    root = tmp_path_factory.mktemp("demo")
    write_project(root, fraction=0.02)
    return root


@pytest.fixture(scope="session")
def report(project: Path) -> Report:
    """The whole project, loaded."""
    return load(project)


@pytest.fixture(scope="session")
def empty_report(empty_project: Path) -> Report:
    """The empty project, loaded."""
    return load(empty_project)


@pytest.fixture(scope="session")
def demo_report(demo_project: Path) -> Report:
    """The demo, loaded."""
    return load(demo_project)
