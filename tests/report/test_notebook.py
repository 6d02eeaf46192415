import ast
import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from remeasure import paths
from remeasure.closure import import_closure
from remeasure.reporting import sections

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def notebook() -> Any:
    return nbformat.read(ROOT / paths.NOTEBOOK, as_version=4)


def test_the_notebook_holds_no_results(notebook: Any) -> None:
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == []
            assert cell.execution_count is None


def test_the_notebook_is_written_so_that_it_diffs_well() -> None:
    text = (ROOT / paths.NOTEBOOK).read_text(encoding="utf-8")
    content = json.loads(text)
    assert text == json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    ids = [cell["id"] for cell in content["cells"]]
    assert len(set(ids)) == len(ids)


def test_cells_are_thin_and_show_every_section(notebook: Any) -> None:
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    assert all(len(source.splitlines()) <= 3 for source in code)
    used = {
        node.attr
        for source in code
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute)
    }
    assert used == set(sections.__all__)


def test_what_the_notebook_imports_is_in_the_stages_closure(notebook: Any, tmp_path: Path) -> None:
    script = tmp_path / "notebook.py"
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    script.write_text("\n".join(cells), encoding="utf-8")
    needed = set(import_closure(script, ROOT)) - {script}
    assert needed, "the notebook imports the library"
    assert needed <= set(import_closure(Path("stages/report.py"), ROOT))


def test_no_number_of_ours_is_typed_into_the_notebook(notebook: Any) -> None:
    text = " ".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    prose = text.replace("GPT-2", "").replace("$12 d^2 + 13 d$", "").replace("\\frac{1}{t}", "")
    assert not [word for word in prose.split() if any(c.isdigit() for c in word)]
