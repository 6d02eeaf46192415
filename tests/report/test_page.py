"""The page as stages/report.py makes it: the same bytes twice, and how it behaves in a browser."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from remeasure import paths
from remeasure.figures.catalogue import FIGURES

ROOT = Path(__file__).parent.parent.parent
WIDTHS = (390, 1280, 1920)
SCHEMES = ("light", "dark")
MEGABYTE = 1_000_000


def run_stage(root: Path, **environment: str) -> bytes:
    """Run the stage as DVC does, with nothing of this environment's folders on PATH."""
    subprocess.run(
        [sys.executable, str(ROOT / "stages/report.py")],
        cwd=root,
        env={"PATH": os.defpath, "HOME": str(root), "OMP_NUM_THREADS": "1", **environment},
        check=True,
        capture_output=True,
    )
    return (root / paths.REPORT).read_bytes()


def files(folder: Path) -> dict[str, bytes]:
    """What lies in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def page(project: Path) -> Path:
    """The rendered page."""
    run_stage(project, PYTHONHASHSEED="1")
    return project / paths.REPORT


def test_rendered_twice_gives_the_same_bytes(page: Path, project: Path) -> None:
    first = page.read_bytes()
    figures, tables = files(project / paths.FIGURES), files(project / "plots/summary")
    again = run_stage(project, PYTHONHASHSEED="2", TZ="Asia/Tokyo", LC_ALL="C.UTF-8")
    assert again == first
    assert files(project / paths.FIGURES) == figures
    assert files(project / "plots/summary") == tables


def test_the_page_is_one_small_file_that_asks_for_nothing(page: Path) -> None:
    html = page.read_text(encoding="utf-8")
    assert len(html.encode()) < MEGABYTE
    assert "default-src 'none'" in html
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', html)
    assert "@import" not in html
    assert "Traceback" not in html


def test_formulas_are_rendered(page: Path) -> None:
    html = page.read_text(encoding="utf-8")
    assert html.count("<math") >= 8
    assert "$" not in re.sub(r"<(script|style).*?</\1>", "", html, flags=re.S)


def test_every_figure_is_a_file_too(page: Path, project: Path) -> None:
    written = {path.stem: path for path in (project / paths.FIGURES).iterdir()}
    assert set(written) == set(FIGURES)
    for path in written.values():
        root = ElementTree.parse(path).getroot()
        assert root.get("viewBox")
        assert "currentcolor" not in path.read_text(encoding="utf-8")


def test_headings_are_in_order_and_ids_are_unique(page: Path) -> None:
    html = page.read_text(encoding="utf-8")
    levels = [int(level) for level in re.findall(r"<h(\d)", html)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    targets = set(re.findall(r'href="#([^"]+)"', html))
    assert targets <= set(ids), sorted(targets - set(ids))[:5]


def test_an_error_of_the_user_is_one_line(project: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(project, broken)
    (broken / "metrics/corpus.json").write_text("{", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(ROOT / "stages/report.py")],
        cwd=broken,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "corpus.json: damaged" in done.stderr.strip().splitlines()[-1]


# From here on in Chromium


@pytest.fixture
def open_page(browser: Any, page: Path) -> Iterator[Any]:
    """A function that opens the page; what goes wrong on it fails the test."""
    contexts, trouble = [], []

    def opened(width: int = 1280, scheme: str = "light", **options: Any) -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, **options
        )
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: trouble.append(f"console: {message.text}"))
        tab.on("pageerror", lambda error: trouble.append(f"error: {error}"))
        tab.on(
            "request",
            lambda request: (
                request.url.startswith(("file:", "data:"))
                or trouble.append(f"request: {request.url}")
            ),
        )
        tab.goto(page.as_uri())
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert trouble == []


@pytest.mark.browser
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_serious_for_axe_and_nothing_wider_than_the_screen(
    open_page: Any, width: int, scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    tab = open_page(width, scheme)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    found = Axe().run(tab).response["violations"]
    serious = [
        f"{rule['id']}: {rule['help']}: {rule['nodes'][0]['html'][:200]}"
        for rule in found
        if rule["impact"] in ("serious", "critical")
    ]
    assert serious == []


@pytest.mark.browser
def test_it_opens_in_under_a_second(browser: Any, page: Path) -> None:
    # In time of its own thread, since other tests run beside this one.
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    devtools = context.new_cdp_session(tab)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    tab.goto(page.as_uri())
    metrics = devtools.send("Performance.getMetrics")["metrics"]
    spent = {metric["name"]: metric["value"] for metric in metrics}
    context.close()
    assert 0 < spent["TaskDuration"] < 1


@pytest.mark.browser
def test_figures_follow_the_colour_scheme(open_page: Any) -> None:
    fill = "getComputedStyle(document.querySelector('#figure-ladder svg text')).fill"
    surface = "getComputedStyle(document.body).backgroundColor"
    light, dark = (open_page(scheme=scheme) for scheme in SCHEMES)
    assert light.evaluate(fill) != dark.evaluate(fill)
    assert light.evaluate(surface) == "rgb(255, 255, 255)"
    assert dark.evaluate(surface) != light.evaluate(surface)


@pytest.mark.browser
def test_the_map_answers_to_the_mouse(open_page: Any) -> None:
    tab = open_page()
    words = tab.locator("#attention-explorer .token")
    details = tab.locator("#attention-explorer caption")
    assert words.count() == 15
    words.nth(6).hover()
    assert "“street”, word 7 of 15" in details.inner_text()
    words.nth(11).hover()
    assert "“tired”" in details.inner_text()


@pytest.mark.browser
def test_the_map_answers_to_the_keyboard(open_page: Any) -> None:
    tab = open_page()
    explorer = tab.locator("#attention-explorer")
    details = explorer.locator("caption")
    explorer.locator("select").first.focus()
    for _ in range(4):  # past the other choices, to the words
        tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.className") == "token"
    first = details.inner_text()
    tab.keyboard.press("ArrowRight")
    assert details.inner_text() != first
    tab.keyboard.press("End")
    assert "word 15 of 15" in details.inner_text()
    tab.keyboard.press("Home")
    assert "word 1 of 15" in details.inner_text()
    tab.keyboard.press("ArrowLeft")
    assert "word 1 of 15" in details.inner_text(), "there is nothing before the first"
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.className") != "token", "one stop for all words"


@pytest.mark.browser
def test_the_map_shows_what_is_chosen(open_page: Any, report: Any) -> None:
    record = report.results.records["metrics/referent/pool_two_blocks.json"]["attention"]["map"]
    tab = open_page()
    choose = tab.locator("#attention-explorer select")
    choose.nth(1).select_option(index=5)
    choose.nth(2).select_option(index=1)
    choose.nth(3).select_option(index=3)
    weights = record["sentences"][5]["blocks"][1]["heads"][2]
    shown = tab.locator("#attention-explorer .token small").all_inner_texts()
    assert [float(text) for text in shown] == pytest.approx(weights, abs=0.0051)
    assert "wide" in tab.locator("#attention-explorer .token").nth(11).inner_text()
    choose.nth(0).select_option(index=1)  # one block: the choice of a second one is gone
    assert choose.nth(2).locator("option").count() == 1
    assert tab.locator("#attention-explorer tbody tr").count() == 1


@pytest.mark.browser
def test_the_ledger_is_filtered_and_sorted(open_page: Any) -> None:
    tab = open_page()
    rows = tab.locator("table.ledger tbody tr:visible")
    total = rows.count()
    search, verdict = tab.locator("#ledger-controls input"), tab.locator("#ledger-controls select")
    search.fill("two_blocks")
    assert 0 < rows.count() < total
    assert f"{rows.count()} of {total}" in tab.locator("#ledger-controls output").inner_text()
    search.fill("")
    verdict.nth(0).select_option("contradicted")
    assert 0 < rows.count() < total
    assert all("contradicted" in text for text in rows.locator("td:nth-child(2)").all_inner_texts())
    verdict.nth(0).select_option("")
    heading = tab.locator("table.ledger thead th", has_text="Chapter")
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    column = tab.locator("table.ledger tbody td:nth-child(3)")
    keys = column.evaluate_all("cells => cells.map((cell) => cell.dataset.sort)")
    numbers = [float(key) for key in keys if re.fullmatch(r"-?[\d.]+(e-?\d+)?", key)]
    assert len(numbers) > 50
    assert numbers == sorted(numbers)
    heading.locator("button").press("Enter")
    assert heading.get_attribute("aria-sort") == "descending"


@pytest.mark.browser
def test_a_link_finds_its_row_though_it_is_filtered_out(open_page: Any) -> None:
    tab = open_page()
    tab.locator("#ledger-controls input").fill("nothing is called this")
    link = tab.locator('section#ladder a[href="#claim-ladder.one_block.val_ppl"]').first
    link.click()
    row = tab.locator('[id="claim-ladder.one_block.val_ppl"]')
    assert row.is_visible()


@pytest.mark.browser
def test_without_scripts_pictures_and_tables_remain(open_page: Any) -> None:
    tab = open_page(java_script_enabled=False)
    assert tab.locator("#figure-attention_map svg").is_visible()
    assert tab.locator("table.ledger").is_visible()
    assert not tab.locator("#attention-explorer").is_visible()
    assert not tab.locator("#ledger-controls").is_visible()


@pytest.mark.browser
def test_in_print_the_picture_stands_for_the_map(open_page: Any) -> None:
    tab = open_page()
    tab.emulate_media(media="print")
    assert tab.locator("#figure-attention_map svg").is_visible()
    assert not tab.locator("#attention-explorer").is_visible()
    assert not tab.locator("nav").is_visible()


@pytest.mark.browser
def test_tables_scroll_inside_themselves_and_by_keyboard_on_a_phone(open_page: Any) -> None:
    tab = open_page(390)
    table = tab.locator("section#cost .scroll:has(table)").first
    inside, outside = table.evaluate("element => [element.scrollWidth, element.clientWidth]")
    assert inside > outside
    assert table.get_attribute("tabindex") == "0"
    fits = tab.locator("#figure-score_deviation .scroll")
    assert fits.get_attribute("tabindex") is None
