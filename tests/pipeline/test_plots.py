"""DVC's plots on our page: what they draw, and that they ask for nothing."""

import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import vl_convert

from remeasure import paths
from remeasure.pipeline.environment import dvc, environment
from remeasure.pipeline.plots import FOLDER, VEGA_LITE
from remeasure.records.files import write_csv, write_text
from remeasure.reporting.tables import TABLES

ROOT = Path(__file__).parent.parent.parent
LADDER = "plots_summary_ladder_csv"
CURVES = "plots_summary_learning_curves_csv"
RUNS = ("no context", "one block")
STEPS = (0, 100, 1000, 2000)
SPECIFICATION = re.compile(
    r'<div id = "(\w+)">\s*<script[^>]*>\s*var spec = (.*?);\s*vegaEmbed', re.S
)
FIGURE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9"/></svg>'


def write_tables(root: Path, best: float) -> None:
    """Two rungs, of which the second ends at `best`; of the twelve blocks nothing is measured."""
    rungs = [(0, RUNS[0], 60.0, 59.0, 61.0, 59.71), (5, RUNS[1], best, best - 1, best + 1, None)]
    curves = [
        (run, step, value, value - 1, value + 1)
        for run, end in zip(RUNS, (60.0, best), strict=True)
        for step, value in zip(STEPS, (1200.0, 300.0, 90.0, end), strict=True)
    ]
    for name, rows in (("ladder", rungs), ("learning_curves", curves), ("norm_curves", [])):
        write_csv(root / paths.curve("summary", name), TABLES[name].columns, rows)


def plots(root: Path, *words: str) -> Path:
    """The page that the command writes."""
    subprocess.run(
        [sys.executable, "-m", "remeasure.pipeline.plots", *words],
        cwd=root,
        env=environment(ROOT),
        check=True,
        capture_output=True,
    )
    page = root / "pages" / (words[0] if words else "workspace")
    shutil.copytree(root / FOLDER, page)
    return page / "index.html"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Of one state, and of a later one beside it, in a repository with our pipeline."""
    root = tmp_path_factory.mktemp("plots")

    def run(*words: str) -> None:
        subprocess.run(words, cwd=root, env=environment(ROOT), check=True, capture_output=True)

    for name in (paths.PARAMS, paths.PIPELINE):
        shutil.copy2(ROOT / name, root / name)
    run("git", "init", "--quiet")
    run(*dvc(), "init", "--quiet")
    shutil.copytree(ROOT / ".dvc/plots", root / ".dvc/plots")
    write_text(root / paths.FIGURES / "ladder.svg", FIGURE)
    write_tables(root, best=40.0)
    run("git", "add", "--all")
    run("git", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "--quiet", "-mA")
    before = plots(root)
    write_tables(root, best=38.0)
    return before, plots(root, "HEAD")


def drawn(page: Path, name: str) -> str:
    """One of the page's plots as SVG, drawn without any access to files or network."""
    found = dict(SPECIFICATION.findall(page.read_text(encoding="utf-8")))
    specification = json.loads(found[name])
    return vl_convert.vegalite_to_svg(  # type: ignore[no-any-return]
        specification, vl_version=VEGA_LITE, allowed_base_urls=[]
    )


def marks(picture: str, kind: str) -> int:
    """How many marks of a kind are drawn."""
    return picture.count(f'aria-roledescription="{kind}"')


def test_the_ladder_has_a_dot_a_rung_and_the_chapters_figure(pages: tuple[Path, Path]) -> None:
    picture = drawn(pages[0], LADDER)
    assert all(f">{run}<" in picture for run in RUNS)
    assert ">held-out perplexity<" in picture
    assert marks(picture, "point") == len(RUNS) + 1


def test_the_curves_have_a_line_a_run_without_the_steep_beginning(pages: tuple[Path, Path]) -> None:
    picture = drawn(pages[0], CURVES)
    assert marks(picture, "line mark") == len(RUNS)
    assert all(f">{run}<" in picture for run in RUNS)
    assert ">300<" in picture
    assert ">1000<" not in picture, "the perplexity before the first step"


def test_two_states_stand_side_by_side(pages: tuple[Path, Path]) -> None:
    ladder, curves = (drawn(pages[1], name) for name in (LADDER, CURVES))
    for picture in (ladder, curves):
        assert ">workspace<" in picture
        assert ">HEAD<" in picture
    assert marks(ladder, "point") == 2 * (len(RUNS) + 1)
    assert marks(curves, "line mark") == 2 * len(RUNS)


class Sources(HTMLParser):
    """What a page names in `src` and `href`."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value or "" for name, value in attrs if name in ("src", "href")]


def test_the_page_names_nothing_but_the_figures_beside_it(pages: tuple[Path, Path]) -> None:
    for page, states in zip(pages, (1, 2), strict=True):
        sources = Sources()
        sources.feed(page.read_text(encoding="utf-8"))
        assert len(sources.found) == states
        assert all((page.parent / source).is_file() for source in sources.found)


@pytest.mark.browser
def test_in_a_browser_all_is_drawn_and_nothing_asked_for(
    browser: Any, pages: tuple[Path, Path]
) -> None:
    for page in pages:
        trouble: list[str] = []
        tab = browser.new_page(viewport={"width": 390, "height": 900})
        tab.on("console", lambda message, seen=trouble: seen.append(message.text))
        tab.on("pageerror", lambda error, seen=trouble: seen.append(str(error)))
        requests: list[str] = []
        tab.on("request", lambda request, seen=requests: seen.append(request.url))
        tab.goto(page.as_uri())
        for name in (LADDER, CURVES):
            tab.locator(f"#{name} .marks").wait_for()
        assert "not measured" in tab.locator("#plots_summary_norm_curves_csv").inner_text()
        assert tab.evaluate("document.documentElement.scrollWidth") <= 390
        tab.close()
        assert trouble == []
        assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
