"""Nothing that a file or a parameter says is executed, and nothing is written outside."""

import ast
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiny
import torch

from remeasure.data.encoding import load_tokenizer
from remeasure.data.tokens import load_tokens
from remeasure.errors import ParameterError, UserError
from remeasure.models.storage import load_model
from remeasure.pipeline.check import check_all
from remeasure.records.files import read_json
from remeasure.reporting import rendering

pytestmark = pytest.mark.faults

SOURCES = sorted([*(tiny.ROOT / "src").rglob("*.py"), *(tiny.ROOT / "stages").glob("*.py")])
UNPICKLING = {
    "pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal",
}  # fmt: skip
EXECUTING = {"eval", "exec", "torch.load", "pd.read_pickle", "pandas.read_pickle", "os.system"}


def dotted(node: ast.expr) -> str:
    """`a.b.c` for such an expression, else an empty text."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def forbidden(tree: ast.AST) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names if name.name.split(".")[0] in UNPICKLING]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module] if node.module.split(".")[0] in UNPICKLING else []
        elif isinstance(node, ast.Call):
            name = dotted(node.func)
            settings = {word.arg: ast.unparse(word.value) for word in node.keywords}
            found += [name] if name in EXECUTING else []
            if settings.get("allow_pickle", "False") != "False":
                found.append(f"{name}(allow_pickle)")
            if settings.get("shell", "False") != "False":
                found.append(f"{name}(shell)")
            if name in ("yaml.load", "yaml.full_load", "yaml.unsafe_load"):
                loader = ast.unparse(node.args[1]) if len(node.args) > 1 else ""
                found += [] if loader == "yaml.CBaseLoader" else [name]
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(tiny.ROOT)))
def test_no_source_file_unpickles_or_evaluates(path: Path) -> None:
    assert forbidden(ast.parse(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "line",
    ["import pickle", "from joblib import load", "torch.load(x)", "np.load(x, allow_pickle=True)",
     "eval(x)", "subprocess.run(x, shell=True)", "yaml.load(x)", "yaml.load(x, yaml.Loader)"],
)  # fmt: skip
def test_the_search_itself_finds_them(line: str) -> None:
    assert forbidden(ast.parse(line))


class Trap:
    """An object whose unpickling leaves a file."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.mkdir, (str(self.mark),)


@pytest.mark.parametrize("read", [load_model, load_tokens, load_tokenizer, read_json])
@pytest.mark.parametrize("kind", ["pickle", "torch"])
def test_a_pickled_file_is_refused_and_not_unpickled(
    tmp_path: Path, read: Callable[[Path], object], kind: str
) -> None:
    file, mark = tmp_path / "file", tmp_path / "mark"
    if kind == "torch":
        torch.save({"embedding.weight": Trap(mark)}, file)
    else:
        file.write_bytes(pickle.dumps(Trap(mark)))
    with pytest.raises(UserError):
        read(file)
    assert not mark.exists()
    pickle.loads(pickle.dumps(Trap(mark)))
    assert mark.exists()


def test_the_notebook_is_given_no_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    monkeypatch.setattr(
        rendering.papermill, "execute_notebook", lambda *words, **more: given.append((words, more))
    )
    rendering.execute(tiny.ROOT)
    ((words, more),) = given
    assert len(words) == 2, "papermill's third argument is parameters"
    assert "parameters" not in more
    notebook = read_json(tiny.ROOT / "report" / "report.ipynb")
    assert all("parameters" not in cell["metadata"].get("tags", []) for cell in notebook["cells"])


@pytest.mark.parametrize("group", ["ablations", "budgets", "probes", "benchmarks"])
@pytest.mark.parametrize(
    "name", ["/tmp/evil", "../evil", "a/b", "a;b", "", "$(id)", "a b", "-f", 1]
)
def test_a_name_that_could_be_a_path_or_a_command_is_refused(
    params: dict[str, Any], group: str, name: object
) -> None:
    entry = next(iter(params[group].values()))
    changed = {**params, group: {**params[group], name: entry}}
    with pytest.raises(ParameterError, match=f"{group}: .* is no name"):
        check_all(changed)
