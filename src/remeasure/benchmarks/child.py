"""Work in a process of its own, so that running out of memory does not end this one."""

import multiprocessing
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeVar

from remeasure.benchmarks.memory import OutOfMemory, is_out_of_memory
from remeasure.errors import UserError

Result = TypeVar("Result")

KILL_ME_FIRST = "1000"
"""The highest value of Linux's oom_score_adj."""


def in_child(work: Callable[..., Result], *arguments: object) -> Result:
    """The result of `work` (a function of a module) in a fresh process, which then ends.

    Raises OutOfMemory if an allocation failed there, or if the system killed the process, as Linux
    does when the machine itself has no memory left; UserError if it ended in any other way.
    """
    context = multiprocessing.get_context("forkserver")
    # The server imports PyTorch once; each child is a fork of it that has computed nothing yet.
    context.set_forkserver_preload([__name__, work.__module__])
    receiving, sending = context.Pipe(duplex=False)
    child = context.Process(target=_send_result, args=(sending, work, arguments), daemon=True)
    child.start()
    sending.close()
    try:
        result = receiving.recv()
    except EOFError:
        child.join()
        raise _end_explained(child.exitcode, work) from None
    finally:
        receiving.close()
        child.kill()
        child.join()
    if isinstance(result, UserError):
        raise result
    return result


def _send_result(
    sending: Connection, work: Callable[..., object], arguments: tuple[object, ...]
) -> None:
    # Ctrl-C reaches every process of a terminal; the parent answers it for both.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _volunteer_to_be_killed()
    result: object
    try:
        result = work(*arguments)
    except UserError as error:
        result = error
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        result = _out_of_memory(work)
    sending.send(result)


def _volunteer_to_be_killed() -> None:
    """If the machine runs out of memory, it shall be this process that Linux kills."""
    adjustment = Path("/proc/self/oom_score_adj")
    if adjustment.exists():
        adjustment.write_text(KILL_ME_FIRST, encoding="utf-8")


def _end_explained(exit_code: int | None, work: Callable[..., object]) -> UserError:
    if exit_code == -signal.SIGKILL:
        return _out_of_memory(work)
    return UserError(
        f"{work.__module__}: the child process that measures ended with exit code {exit_code}; the"
        " reason is printed above"
    )


def _out_of_memory(work: Callable[..., object]) -> OutOfMemory:
    return OutOfMemory(
        f"{work.__module__}: out of memory; raise memory_limit_gb in params.yaml, leave out the"
        " largest sizes, or use a machine with more memory"
    )
