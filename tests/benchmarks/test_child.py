import os

import pytest

from remeasure.benchmarks.child import in_child
from remeasure.benchmarks.memory import OutOfMemory
from remeasure.errors import UserError

# exec and eval are functions of a module, as `in_child` wants them, that do anything one likes.


def test_the_result_comes_from_another_process():
    assert in_child(eval, "__import__('os').getpid()", {}) not in (os.getpid(), None)


@pytest.mark.parametrize(
    "code",
    [
        "raise MemoryError",
        "import torch; torch.empty(2**47, dtype=torch.uint8)",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    ],
    ids=["python", "torch", "killed"],
)
def test_out_of_memory_in_the_child_is_an_exception_in_the_parent(code):
    with pytest.raises(OutOfMemory, match="out of memory; raise memory_limit_gb"):
        in_child(exec, code, {})


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        ("raise ValueError('wrong')", 1),
        ("raise RuntimeError('shapes do not fit')", 1),
        ("import os; os._exit(7)", 7),
        ("import os; os.abort()", -6),
    ],
)
def test_any_other_end_is_not_taken_for_out_of_memory(code, exit_code):
    with pytest.raises(UserError, match=f"exit code {exit_code};") as raised:
        in_child(exec, code, {})
    assert not isinstance(raised.value, OutOfMemory)


def test_an_error_for_the_user_arrives_as_it_is():
    code = "from remeasure.errors import UserError; raise UserError('plug it in')"
    with pytest.raises(UserError, match=r"^plug it in$"):
        in_child(exec, code, {})


def test_each_child_starts_afresh():
    in_child(exec, "import torch; torch.manual_seed(1); torch.marked = True", {})
    assert in_child(eval, "hasattr(__import__('torch'), 'marked')", {}) is False
