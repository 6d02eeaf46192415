"""What is accepted, and that nothing altered is."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remeasure.pipeline.cluster.accepting import refusal
from remeasure.pipeline.cluster.task import md5_of

OUT, NOTE = "metrics/x.json", "provenance/x.json"
METRICS = b'{"loss": 1.5}'
COMMIT = {"revision": "c0ffee", "uncommitted_changes": False}
REQUEST: dict[str, Any] = {
    "commit": "c0ffee",
    "command": "python x.py",
    "files": {"x.py": "1" * 32, "params.yaml": "2" * 32},
    "params": {"params.yaml": {"x.rate": 0.001}},
    "outputs": [OUT],
    "notes": [NOTE],
    "most_bytes": 1000,
}


def reply() -> dict[str, Any]:
    """As an honest worker gives it."""
    return {
        "outcome": "done",
        "files": {OUT: METRICS, NOTE: json.dumps({"commit": COMMIT}).encode()},
        "entry": {
            "commit": "c0ffee",
            "cmd": "python x.py",
            "deps": dict(REQUEST["files"]),
            "params": copy.deepcopy(REQUEST["params"]),
            "outs": {OUT: md5_of(METRICS)},
        },
    }


def test_an_honest_reply_is_accepted_with_or_without_provenance() -> None:
    told = reply()
    assert refusal(REQUEST, told) == ""
    del told["files"][NOTE]
    assert refusal(REQUEST, told) == ""


def put(*where: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(told: dict[str, Any]) -> None:
        for key in where[:-1]:
            told = told[key]
        told[where[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (put("entry", "commit", value="bad"), "its commit is bad, asked for was c0ffee"),
        (put("entry", "cmd", value="python y.py"), "its command is python y.py"),
        (put("entry", "deps", "x.py", value="0"), "dependency x.py is 0, asked for was 111"),
        (put("entry", "deps", value={}), "dependency x.py is missing"),
        (put("entry", "deps", "y.py", value="0"), "y.py is 0, asked for was not asked for"),
        (put("entry", "params", value={}), "parameters of params.yaml is missing"),
        (put("entry", "params", "params.yaml", "x.rate", value=0.1), "parameters of params.yaml"),
        (put("entry", "outs", OUT, value="0"), f"output {OUT} is not what its entry says"),
        (put("entry", "outs", value={}), "does not bring the outputs"),
        (put("entry", "more", value=1), "not of the form"),
        (put("entry", value=None), "not of the form"),
        (put("files", value=None), "not of the form"),
        (put("files", OUT, value="text"), "not of the form"),
        (put("files", OUT, value=METRICS.replace(b"1", b"2")), "is not what its entry says"),
        (put("files", "../../etc/x", value=b""), "brings what nobody asked for: ../../etc/x"),
        (put("files", "dvc.lock", value=b""), "brings what nobody asked for: dvc.lock"),
        (put("files", OUT, value=b"x" * 2000), "at most 1,000 are taken"),
        (put("files", NOTE, value=b"{"), "is no provenance"),
        (put("files", NOTE, value=b"[]"), "is no provenance"),
        (put("files", NOTE, value=b'{"commit": {"revision": "x"}}'), "names another commit"),
    ],
)
def test_what_is_altered_is_refused(change: Callable[[dict[str, Any]], None], reason: str) -> None:
    told = reply()
    change(told)
    assert reason in refusal(REQUEST, told)


@given(position=st.integers(0, len(METRICS) - 1), bit=st.integers(0, 7))
def test_any_one_bit_of_an_output_is_seen(position: int, bit: int) -> None:
    told, content = reply(), bytearray(METRICS)
    content[position] ^= 1 << bit
    told["files"][OUT] = bytes(content)
    assert refusal(REQUEST, told)
