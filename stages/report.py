"""Run the notebook and write the report.

Reads report/report.ipynb, its template, claims.yaml, params.yaml, metrics/, plots/ and, where there
is one, provenance/; writes report/report.html, report/figures and plots/summary. Serves every
section.
"""

import shutil

from remeasure import paths
from remeasure.commands import run_stage
from remeasure.records.files import write_csv, write_text
from remeasure.reporting import sections
from remeasure.reporting.rendering import execute, page, pictures
from remeasure.reporting.tables import TABLES


def main(words: list[str]) -> None:
    """Take no words; write the page, its figures one by one, and the tables of DVC's plots."""
    # What the notebook's cells call, too. A damaged record ends the stage here, before a kernel.
    results = sections.load().results
    html = page(execute())
    shutil.rmtree(paths.FIGURES, ignore_errors=True)
    for name, picture in pictures(html):
        write_text(paths.FIGURES / f"{name}.svg", picture)
    for name, table in TABLES.items():
        write_csv(paths.curve("summary", name), table.columns, table.rows(results))
    write_text(paths.REPORT, html)


if __name__ == "__main__":
    run_stage(main)
