"""A real scheduler and real workers of Dask on the loopback, each worker in a folder of its own."""

import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil

from remeasure.pipeline.environment import environment


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


class Loopback:
    """Starts them, and ends those that it started."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._port = folder, free_port()
        self._started: list[subprocess.Popen[bytes]] = []
        self.address = f"tcp://127.0.0.1:{self._port}"

    def scheduler(self) -> subprocess.Popen[bytes]:
        words = ["--host", "127.0.0.1", "--port", str(self._port), "--no-dashboard"]
        started = self._start("scheduler", "distributed.cli.dask_scheduler", words)
        deadline = time.monotonic() + 60
        while not self._answers():
            assert started.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        return started

    def worker(self, name: str, *words: str, code: Path | None = None) -> psutil.Process:
        """A worker without a nanny; `code` is what it has installed as far as Python can see."""
        told = [self.address, "--name", name, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        started = self._start(name, "distributed.cli.dask_worker", [*told, *words], code)
        return psutil.Process(started.pid)

    def close(self) -> None:
        for started in self._started:
            if started.poll() is None:
                for process in [*psutil.Process(started.pid).children(recursive=True), started]:
                    process.kill()
            started.wait()

    def _answers(self) -> bool:
        with socket.socket() as asking:
            return asking.connect_ex(("127.0.0.1", self._port)) == 0

    def _start(
        self, name: str, module: str, words: list[str], code: Path | None = None
    ) -> subprocess.Popen[bytes]:
        folder = self._folder / name
        folder.mkdir(parents=True, exist_ok=True)
        variables = environment(folder) | {"PYTHONPATH": str(code or ""), "OMP_NUM_THREADS": "1"}
        with (folder / "log").open("ab") as log:
            started = subprocess.Popen(
                [sys.executable, "-m", module, *words],
                cwd=folder,
                env=variables,
                stdout=log,
                stderr=log,
            )
        self._started.append(started)
        return started
