"""The demo's folder: the whole source, none of the project's results, nothing else destroyed."""

from pathlib import Path

import pytest

from remeasure.errors import UserError
from remeasure.pipeline.demo import copy_project, merged

ROOT = Path(__file__).parent.parent.parent


def sources(root: Path) -> set[str]:
    """Every file of the source, as a path below `root`."""
    return {str(path.relative_to(root)) for path in (root / "src").rglob("*.py")}


def test_all_of_the_source_is_copied_and_no_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    copy_project(tmp_path / "demo")
    assert sources(tmp_path / "demo") == sources(ROOT)
    assert (tmp_path / "demo" / "report" / "report.ipynb").is_file()
    for result in ("metrics", "plots", "dvc.lock", "report/report.html", "report/figures"):
        assert not (tmp_path / "demo" / result).exists()


def test_an_earlier_demo_is_replaced_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    copy_project(tmp_path / "demo")
    (tmp_path / "demo" / "left.txt").touch()
    copy_project(tmp_path / "demo")
    assert not (tmp_path / "demo" / "left.txt").exists()
    (tmp_path / "precious").mkdir()
    with pytest.raises(UserError, match="is no demo; name another folder"):
        copy_project(tmp_path / "precious")
    assert (tmp_path / "precious").is_dir()


def test_merging_goes_key_by_key() -> None:
    under = {"a": {"b": 1, "c": 2}, "d": [1, 2]}
    assert merged(under, {"a": {"c": 3}, "d": [4]}) == {"a": {"b": 1, "c": 3}, "d": [4]}
    assert under["a"] == {"b": 1, "c": 2}
