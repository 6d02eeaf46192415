"""Accepted results become DVC's: written whole, hashed by DVC itself, put into dvc.lock."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dvc.exceptions import DvcException
from dvc.stage.serialize import to_single_stage_lockfile

from remeasure.pipeline.cluster.asking import Request
from remeasure.pipeline.stages import locked_stages
from remeasure.records.files import replacing


@dataclass(frozen=True)
class Result:
    """What was asked and the accepted files that came back."""

    request: Request
    files: Mapping[str, bytes]


def record(results: Sequence[Result]) -> dict[str, str]:
    """Write the files and record their stages, all in one go, as `dvc commit -f` would.

    Returns the stages that DVC sees otherwise than was asked, each with the reason: they stay
    stale. A kill on the way leaves them stale too, as dvc.lock is written last.
    """
    refused: dict[str, str] = {}
    good = []
    with locked_stages() as stages:
        for result in results:
            stage = stages[result.request["stage"]]
            for path, content in result.files.items():
                with replacing(Path(path)) as temporary:
                    temporary.write_bytes(content)
            try:
                stage.save()
                wrong = _otherwise(result, to_single_stage_lockfile(stage))
                if not wrong:
                    stage.commit()
                    good.append(stage)
            except DvcException as error:
                wrong = f"DVC cannot record it: {error}"
            if wrong:
                refused[stage.addressing] = wrong
        if good:
            with good[0].repo.scm_context():
                good[0].dvcfile.dump_stages(good, update_pipeline=False)
    return refused


def _otherwise(result: Result, entry: Mapping[str, Any]) -> str:
    """Where DVC's own entry departs from the request and the reply; empty if nowhere."""
    request = result.request
    if entry["cmd"] != request["command"]:
        return "its command was changed here meanwhile"
    for dep in entry.get("deps", []):
        if request["files"].get(dep["path"]) != dep["md5"]:
            return f"{dep['path']} was changed here meanwhile"
    for file, values in entry.get("params", {}).items():
        for address, value in values.items():
            if request["params"][file].get(address) != value:
                return f"{file}: {address} was changed here meanwhile"
    return ""
