"""What runs on GitHub is well formed, and gives away neither a secret nor the GPU runner."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remeasure.params.reading import read_yaml

ROOT = Path(__file__).parent.parent.parent
FILES = sorted((ROOT / ".github/workflows").glob("*.yml"))
FROM_WITHIN = {"push", "workflow_dispatch", "schedule"}
"""Events that nobody without write access to the repository can cause."""
BY_VERSION = {"iterative/setup-cml"}
"""Actions whose commit hash could not be looked up."""
MAY_WRITE = {("gpu.yml", "comment"): {"pull-requests"}}
MINUTES = 720


def workflow(file: Path) -> dict[str, Any]:
    """A workflow; YAML 1.1 would read its key `on` as true, this reader does not."""
    content: dict[str, Any] = read_yaml(file)
    assert "on" in content
    return content


def each_job() -> Iterator[tuple[Path, dict[str, Any], str, dict[str, Any]]]:
    for file in FILES:
        content = workflow(file)
        for name, job in content["jobs"].items():
            yield file, content, name, job


JOBS = [pytest.param(*each, id=f"{each[0].name}-{each[2]}") for each in each_job()]
SCRIPTS = [
    pytest.param(step["run"], id=f"{file.name}-{name}-{number}")
    for file, _, name, job in each_job()
    for number, step in enumerate(job["steps"])
    if "run" in step
]


def tool(name: str) -> str:
    """A command that is installed beside this Python, or on PATH."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    found = shutil.which(name, path=path)
    assert found, f"{name} is not installed"
    return found


def passes(*words: str, given: str | None = None) -> None:
    done = subprocess.run(
        words, cwd=ROOT, input=given, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_two() -> None:
    assert [file.name for file in FILES] == ["gpu.yml", "tests.yml"]


def test_they_follow_the_schema() -> None:
    names = map(str, FILES)
    passes(tool("check-jsonschema"), "--builtin-schema", "vendor.github-workflows", *names)


def test_zizmor_finds_nothing() -> None:
    passes(tool("zizmor"), "--offline", "--no-progress", "--persona", "pedantic", ".github")


@pytest.mark.skipif(shutil.which("actionlint") is None, reason="actionlint is not installed")
def test_actionlint_finds_nothing() -> None:
    """A program of its own, which no package brings without fetching it from elsewhere."""
    words = ("-config-file", ".github/actionlint.yaml", "-shellcheck", tool("shellcheck"))
    passes(tool("actionlint"), *words, *map(str, FILES))


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_are_sound_and_hold_no_expression(script: str) -> None:
    assert "${{" not in script, "an expression in a script is pasted into it: use env"
    passes("bash", "-n", given=script)
    passes(tool("shellcheck"), "--shell", "bash", "-", given=script)


@pytest.mark.parametrize(("file", "content", "name", "job"), JOBS)
def test_each_job_ends_and_may_do_little(
    file: Path, content: dict[str, Any], name: str, job: dict[str, Any]
) -> None:
    assert 0 < job["timeout-minutes"] <= MINUTES
    assert content["permissions"] == {}
    assert set(content["concurrency"]) == {"group", "cancel-in-progress"}
    writes = {right for right, degree in job["permissions"].items() if degree != "read"}
    assert writes == MAY_WRITE.get((file.name, name), set())


@pytest.mark.parametrize(("file", "content", "name", "job"), JOBS)
def test_actions_are_pinned_and_keep_no_token(
    file: Path, content: dict[str, Any], name: str, job: dict[str, Any]
) -> None:
    for step in job["steps"]:
        action, _, version = step.get("uses", "").partition("@")
        if action and action not in BY_VERSION:
            assert re.fullmatch("[0-9a-f]{40}", version), step["uses"]
        if action == "actions/checkout":
            assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize(("file", "content", "name", "job"), JOBS)
def test_what_a_fork_can_start_sees_no_secret_and_no_gpu(
    file: Path, content: dict[str, Any], name: str, job: dict[str, Any]
) -> None:
    events = set(content["on"])
    assert "pull_request_target" not in events
    own = "self-hosted" in job["runs-on"]
    secret = "secrets." in str(job) or "github.token" in str(job)
    if own or secret:
        assert events <= FROM_WITHIN
    if own:
        assert job["if"] == "${{ !github.event.repository.fork }}"
        assert job["environment"] == "gpu"
        assert "github.token" not in str(job)


@pytest.mark.parametrize(("file", "content", "name", "job"), JOBS)
def test_secrets_reach_single_steps_and_are_not_shown(
    file: Path, content: dict[str, Any], name: str, job: dict[str, Any]
) -> None:
    outside = {**content, "jobs": {}} | {key: value for key, value in job.items() if key != "steps"}
    assert "secrets" not in str(outside)
    for step in job["steps"]:
        given = [key for key, value in step.get("env", {}).items() if "secrets." in str(value)]
        script = step.get("run", "")
        assert "secrets" not in str({**step, "env": {}})
        assert not given or re.fullmatch("make [a-z]+", script)
        assert not re.search(r"\b(env|printenv|set -x)\b", script)
