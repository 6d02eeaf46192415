"""Made-up records, and none at all."""

import sys
from pathlib import Path

import pandas as pd
import pytest

from remeasure.records.results import Results, read_results

sys.path.append(str(Path(__file__).parent.parent / "report"))

from synthetic import write_project


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Everything is measured."""
    root = tmp_path_factory.mktemp("whole")
    write_project(root)
    return read_results(root)


@pytest.fixture
def nothing() -> Results:
    """No record, no curve, no ledger."""
    return Results({}, dict[str, pd.DataFrame]())
