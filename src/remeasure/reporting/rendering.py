"""The notebook run by papermill, and what it shows turned into one HTML page by nbconvert.

The page asks for nothing from anywhere, and the same records always give the same bytes: cell ids,
times and the notebook's metadata are not shown, and no current date is.
"""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import papermill
from latex2mathml.converter import convert
from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbformat import NotebookNode
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from remeasure import paths
from remeasure.errors import UserError
from remeasure.figures import svg
from remeasure.reporting.stylesheet import colours

TEMPLATE = "template"
"""The folder of our template, beside the notebook."""
KERNEL = "python3"
"""ipykernel's own: jupyter_client runs it with the interpreter that runs this."""

LOCAL = Config({"KernelManager": {"transport": "ipc"}})
"""The kernel is spoken to through files that only this user can open, not through a port."""

FORMULA = re.compile(r"\$\$(.+?)\$\$|\$([^$\n]+)\$", re.DOTALL)
PICTURE = re.compile(r'<figure id="figure-([a-z0-9_]+)".*?(<svg.*?</svg>)', re.DOTALL)


def execute(root: Path = Path()) -> NotebookNode:
    """The notebook with its outputs, run at the root of the working tree.

    Raises UserError if a cell did, with its words.
    """
    with _clean_ipython():
        try:
            return papermill.execute_notebook(
                str(root / paths.NOTEBOOK),
                None,
                kernel_name=KERNEL,
                cwd=str(root),
                progress_bar=False,
                config=LOCAL,
            )
        except PapermillExecutionError as error:
            if error.ename in ("UserError", "ParameterError"):
                raise UserError(error.evalue) from None
            raise


def page(notebook: NotebookNode, root: Path = Path()) -> str:
    """The whole page. Markdown cells whose metadata names a `section` begin one with that id."""
    contents = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = FORMULA.sub(_mathml, cell.source)
            if "section" in cell.metadata:
                heading = cell.source.partition("\n")[0].lstrip("# ")
                label = cell.metadata.get("label", heading)
                contents.append({"id": cell.metadata.section, "label": label})
    exporter = HTMLExporter(  # type: ignore[no-untyped-call]
        template_name=TEMPLATE,
        extra_template_basedirs=[str((root / paths.NOTEBOOK).parent.resolve())],
        exclude_anchor_links=True,
    )
    resources = {"contents": contents, "colours": colours()}
    # HTMLExporter's own method would parse and write the page once more, as HTML, in which the
    # names of SVG lose their capitals.
    text, _ = TemplateExporter.from_notebook_node(exporter, notebook, resources=resources)
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip()) + "\n"


def pictures(html: str) -> Iterator[tuple[str, str]]:
    """Every figure of a page as (name, content of an SVG file of its own)."""
    for found in PICTURE.finditer(html):
        yield found[1], svg.standalone(found[2])


def _mathml(formula: re.Match[str]) -> str:
    block, inline = formula.groups()
    return convert(block or inline, display="block" if block else "inline")


@contextmanager
def _clean_ipython() -> Iterator[None]:
    """Keep what the user's own IPython is told to do at its start out of the report."""
    before = os.environ.get("IPYTHONDIR")
    with tempfile.TemporaryDirectory(prefix="remeasure-") as folder:
        os.environ["IPYTHONDIR"] = folder
        try:
            yield
        finally:
            if before is None:
                del os.environ["IPYTHONDIR"]
            else:
                os.environ["IPYTHONDIR"] = before
