"""A reply is accepted only if it answers what was asked, to the last checksum."""

import json
from collections.abc import Mapping
from typing import Any

from remeasure.pipeline.cluster.asking import Request
from remeasure.pipeline.cluster.task import Reply, md5_of

ENTRY = ("commit", "cmd", "deps", "params", "outs")


def refusal(request: Request, reply: Reply) -> str:
    """Why a reply that claims to be done cannot be accepted; empty if it can.

    Nothing that a worker says is believed for its form either. What cannot be seen: numbers that
    the worker made up together with their checksums; `make verify` trains them again.
    """
    files, entry = reply.get("files"), reply.get("entry")
    if not isinstance(entry, Mapping) or set(entry) != set(ENTRY):
        return "its entry is not of the form that was asked for"
    if not isinstance(files, Mapping) or not all(isinstance(one, bytes) for one in files.values()):
        return "its files are not of the form that was asked for"
    return (
        _changed("commit", request["commit"], entry["commit"])
        or _changed("command", request["command"], entry["cmd"])
        or _differs("dependency", request["files"], entry["deps"])
        or _differs("parameters of", request["params"], entry["params"])
        or _outputs(request, files, entry["outs"])
        or _notes(request, files)
    )


def _changed(what: str, asked: Any, told: Any) -> str:
    return "" if asked == told else f"its {what} is {told}, asked for was {asked}"


def _differs(what: str, asked: Mapping[str, Any], told: Any) -> str:
    if not isinstance(told, Mapping):
        return f"it names no {what}"
    for name in {**asked, **told}:
        if name not in asked or name not in told or asked[name] != told[name]:
            here, there = asked.get(name, "not asked for"), told.get(name, "missing")
            return f"{what} {name} is {there}, asked for was {here}"
    return ""


def _outputs(request: Request, files: Mapping[str, bytes], told: Any) -> str:
    outputs, allowed = set(request["outputs"]), {*request["outputs"], *request["notes"]}
    if not isinstance(told, Mapping) or set(told) != outputs or not outputs <= set(files):
        return "it does not bring the outputs that were asked for"
    if not set(files) <= allowed:
        return f"it brings what nobody asked for: {', '.join(sorted(set(files) - allowed))}"
    size = sum(len(content) for content in files.values())
    if size > request["most_bytes"]:
        return f"it brings {size:,} bytes; at most {request['most_bytes']:,} are taken"
    for path in sorted(outputs):
        if md5_of(files[path]) != told[path]:
            return f"output {path} is not what its entry says"
    return ""


def _notes(request: Request, files: Mapping[str, bytes]) -> str:
    """Provenance must be JSON that names the commit, unchanged."""
    for path in request["notes"]:
        if path not in files:
            continue
        try:
            commit = json.loads(files[path])["commit"]
        except (ValueError, KeyError, TypeError):
            return f"{path} is no provenance"
        if commit != {"revision": request["commit"], "uncommitted_changes": False}:
            return f"{path} names another commit: {commit}"
    return ""
