"""Accepted results become DVC's: written whole, hashed by DVC itself, put into dvc.lock."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dvc.dependency.param import ParamsDependency
from dvc.exceptions import DvcException
from dvc.stage.serialize import to_single_stage_lockfile

from remeasure import paths
from remeasure.pipeline.cluster.asking import Request
from remeasure.pipeline.cluster.task import md5_of
from remeasure.pipeline.stages import locked
from remeasure.records.files import replacing


@dataclass(frozen=True)
class Result:
    """What was asked and the accepted files that came back."""

    request: Request
    files: Mapping[str, bytes]


class Recorder:
    """Knows DVC's stages as they were at the start: reading them takes DVC long where many are."""

    def __init__(self, stages: Mapping[str, Any]) -> None:
        self._stages = stages
        self._pipeline = _checksum(paths.PIPELINE)
        self._pool = ThreadPoolExecutor(1)
        self._running: Future[dict[str, str]] | None = None

    @property
    def busy(self) -> bool:
        """Whether it records, with DVC's lock in its hands, or the outcome is still to be taken."""
        return self._running is not None

    def begin(self, results: Sequence[Result]) -> None:
        """Record these in a thread of its own."""
        self._running = self._pool.submit(self.record, results)

    def outcome(self) -> dict[str, str]:
        """Of what was begun, once it is done: what `record` returns; empty before and after."""
        if self._running is None or not self._running.done():
            return {}
        done, self._running = self._running, None
        return done.result()

    def close(self) -> None:
        """To the end of what was begun."""
        self._pool.shutdown()

    def record(self, results: Sequence[Result]) -> dict[str, str]:
        """Write the files and record their stages, all in one go, as `dvc commit -f` would.

        Returns for each stage why it could not be recorded, because something here is no longer as
        it was asked for; empty where it could. What was not stays stale, and a kill on the way
        leaves it stale too, as dvc.lock is written last.
        """
        outcome: dict[str, str] = {}
        saved = []
        repo = self._stages[results[0].request["stage"]].repo
        with locked(repo), repo.scm_context():
            for result in results:
                stage = self._stages[result.request["stage"]]
                wrong = self._changed(result.request) or _save(stage, result)
                outcome[stage.addressing] = wrong
                if not wrong:
                    saved.append(stage)
            if saved:
                saved[0].dvcfile.dump_stages(saved, update_pipeline=False)
        return outcome

    def _changed(self, request: Request) -> str:
        """What is no longer here as it was sent; empty if nothing."""
        for path, md5 in {str(paths.PIPELINE): self._pipeline, **request["files"]}.items():
            if _checksum(Path(path)) != md5:
                return f"{path} was changed here meanwhile"
        return ""


def _save(stage: Any, result: Result) -> str:
    """Write a stage's files and let DVC hash and keep them; why it could not be, or empty."""
    for path, content in result.files.items():
        with replacing(Path(path)) as temporary:
            temporary.write_bytes(content)
    for dep in stage.deps:
        if isinstance(dep, ParamsDependency):
            # DVC would read all of the file three times, seconds each where ablations are many;
            # that it is as it was when these values were read has just been seen.
            dep.read_params = partial(dict, result.request["params"][str(dep)])
    try:
        stage.save()
        wrong = _otherwise(result, to_single_stage_lockfile(stage))
        if not wrong:
            stage.commit()
    except DvcException as error:
        return f"DVC cannot record it: {error}"
    return wrong


def _otherwise(result: Result, entry: Mapping[str, Any]) -> str:
    """Where DVC's own entry departs from what was asked and accepted; empty if nowhere."""
    request = result.request
    deps = {dep["path"]: dep["md5"] for dep in entry.get("deps", [])}
    params = {file: dict(values) for file, values in entry.get("params", {}).items()}
    outs = {out["path"]: out["md5"] for out in entry["outs"]}
    asked = {path: md5 for path, md5 in request["files"].items() if path not in params}
    brought = {path: md5_of(result.files[path]) for path in request["outputs"]}
    for what, one, other in (
        ("command", entry["cmd"], request["command"]),
        ("dependencies", deps, asked),
        ("parameters", params, request["params"]),
        ("outputs", outs, brought),
    ):
        if one != other:
            return f"its {what} are not for DVC what they were on the worker"
    return ""


def _checksum(path: Path) -> str | None:
    """None if there is no such file."""
    return md5_of(path.read_bytes()) if path.is_file() else None
