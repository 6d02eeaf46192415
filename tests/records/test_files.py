"""Files are whole or not there, and the same content has the same bytes."""

from pathlib import Path

import pytest

from remeasure.errors import UserError
from remeasure.params.digest import settings_digest
from remeasure.records.files import read_json, replacing, write_csv, write_json, write_text
from remeasure.records.spread import spread


def test_a_failure_leaves_the_old_file_and_no_temporary_one(tmp_path: Path) -> None:
    path = tmp_path / "a" / "file.txt"
    write_text(path, "old")

    def write_half() -> None:
        with replacing(path) as temporary:
            temporary.write_text("ha")
            raise RuntimeError("cut")

    with pytest.raises(RuntimeError, match="cut"):
        write_half()
    assert [file.name for file in path.parent.iterdir()] == ["file.txt"]
    assert path.read_text() == "old"


def test_json_round_trip_and_no_nan(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_json(path, {"a": 0.1 + 0.2, "b": None})
    assert read_json(path) == {"a": 0.30000000000000004, "b": None}
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(path, {"a": float("nan")})
    assert read_json(path)["b"] is None


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff", b'{"a": 1'])
def test_damaged_json_is_said_to_be(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"x\.json: damaged"):
        read_json(path)
    with pytest.raises(UserError, match="not found"):
        read_json(tmp_path / "y.json")


def test_csv_keeps_full_precision_and_empty_cells(tmp_path: Path) -> None:
    write_csv(tmp_path / "x.csv", ["a", "b"], [[1 / 3, None], [1, "x"]])
    assert (tmp_path / "x.csv").read_text() == "a,b\n0.3333333333333333,\n1,x\n"


def test_spread() -> None:
    found = spread({4: 1.0, 7: 3.0})
    assert (found["mean"], found["n"]) == (2.0, 2)
    assert found["std"] == pytest.approx(2**0.5)
    assert found["per_seed"] == {"4": 1.0, "7": 3.0}
    assert spread({1: 5.0})["std"] is None


def test_digest_knows_every_value_and_not_the_order() -> None:
    assert settings_digest({"a": 1, "b": 2}) == settings_digest({"b": 2, "a": 1})
    assert settings_digest({"a": 1}) != settings_digest({"a": 1.5})
    assert len(settings_digest({})) == 12
