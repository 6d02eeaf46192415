"""Two commits beside each other, in a repository of its own with DVC's real experiments."""

import re
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from small_project import CORPUS, Project

from remeasure.compare.__main__ import main
from remeasure.compare.comparison import compare
from remeasure.compare.curves import held_out
from remeasure.compare.page import page
from remeasure.compare.revisions import experiments, resolve
from remeasure.compare.terminal import show
from remeasure.errors import UserError
from remeasure.params.ablations import variant_plan
from remeasure.params.reading import read_params

RECORD = "metrics/train/train.json"


def shown(a: str, b: str) -> str:
    """What the terminal shows at 100 columns."""
    output = Console(width=100)
    with output.capture() as captured:
        show(compare(resolve(a), resolve(b)), output)
    return captured.get()


def notes(a: str = "main", b: str = "HEAD") -> str:
    """What the reader is told before the numbers."""
    return "\n".join(compare(resolve(a), resolve(b)).notes())


def on_branch(project: Project, seeds: list[int]) -> None:
    """Measure RoPE with some seeds on the branch `rope`."""

    def rope(content: dict[str, Any]) -> None:
        content["model"]["pos"] = "rope"
        content["budgets"]["variant"]["seeds"] = seeds

    project.git("switch", "-q", "-c", "rope")
    project.change(rope)
    project.train()
    project.commit("rope")


def test_an_experiment_and_a_branch_are_compared_and_nothing_is_touched(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    seeds = "budgets.variant.seeds=[0,1,2]"
    project.dvc("exp", "run", "-q", "-n", "turned", "-S", "model.pos=rope", "-S", seeds)
    project.git("checkout", "-q", ".")
    (project.root / "train.py").write_text("in the middle of an edit")
    before = project.git("status", "--porcelain"), project.git("for-each-ref")
    main(["main", "turned"])
    assert (project.git("status", "--porcelain"), project.git("for-each-ref")) == before
    text = capsys.readouterr().out
    assert re.search(r"^model\.pos +learned +rope +$", text, re.M)
    assert re.search(r"^held_out\.bits_per_byte +2\.000 +1\.810 ± 0\.010", text, re.M)
    assert "<b>learned</b> & more" in text
    assert "<b>rope</b> & more" in text
    assert max(map(len, text.splitlines())) <= 100
    html = Path("build/compare/main..turned.html").read_text(encoding="utf-8")
    assert "As a page: build/compare/main..turned.html" in text
    assert "&lt;b&gt;rope&lt;/b&gt; &amp; more" in html
    assert html.count("<svg") == 1
    assert "prefers-color-scheme:dark" in html
    assert 'name="viewport"' in html
    assert not re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', html)
    assert "@import" not in html


def test_common_seeds_are_tested_pairwise(project: Project) -> None:
    project.change(lambda content: content["budgets"]["variant"].update(seeds=[0, 1, 2]))
    project.train()
    project.commit("three seeds")
    on_branch(project, [2, 1, 0, 7])
    text = shown("main", "rope")
    assert "mean over 3 common seeds" in " ".join(text.split())
    perplexity = re.search(r"^held_out\.perplexity .*$", text, re.M)
    assert perplexity is not None
    # By hand: differences of −4, −4.4 and −4.
    assert "−4.13 ± 0.57" in perplexity[0]
    assert perplexity[0].split()[-1] == "0.001"


def test_with_one_common_seed_nothing_is_tested_and_that_is_said(project: Project) -> None:
    on_branch(project, [0, 5])
    assert "one seed in common (0): nothing can be tested" in notes("main", "rope")
    assert "budgets.variant.seeds=[0,1,2]" in notes("main", "rope")


def test_other_tokenizers_leave_bits_per_byte(project: Project) -> None:
    on_branch(project, [0])
    project.write("metrics/corpus.json", CORPUS | {"vocab_size": 512, "tokens": 150})
    project.commit("another tokenizer")
    text = shown("main", "rope")
    assert "tokenizers differ (1024 and 512 entries)" in " ".join(text.split())
    assert re.search(r"^held_out\.perplexity .* – +– *$", text, re.M)
    assert re.search(r"^held_out\.bits_per_byte .* −0\.200 +– *$", text, re.M)
    curves = held_out(compare(resolve("main"), resolve("rope")))
    assert curves is not None
    assert curves.label == "held-out bits per byte"
    assert curves.a["mean"][0] == pytest.approx(7 * 9 / 30 / 0.693147, rel=1e-5)


def test_other_texts_leave_nothing_to_compare(project: Project) -> None:
    record = project.read(RECORD)
    record["protocol"]["corpus"] = "d" * 64
    project.write(RECORD, record)
    project.git("switch", "-q", "-c", "other")
    project.commit("another text")
    assert "held-out texts differ" in notes()
    assert re.search(r"^held_out\.bits_per_byte .* – +– *$", shown("main", "HEAD"), re.M)


def test_a_record_of_other_parameters_is_called_out(project: Project) -> None:
    plan = variant_plan(read_params())
    record = project.read(RECORD)
    record["protocol"]["settings"] = plan.settings
    project.write(RECORD, record)
    project.commit("measured with these parameters")
    assert "other parameters" not in notes()
    project.change(lambda content: content["model"].update(d_model=64))
    project.git("switch", "-q", "-c", "changed")
    project.commit("parameters changed, not measured")
    assert "changed" in notes("main", "changed")
    assert "was measured with other parameters" in notes("main", "changed")


def test_other_records_are_named_where_they_differ(project: Project) -> None:
    project.git("switch", "-q", "-c", "more")
    project.write("metrics/ablations/kept.json", {"held_out": {"perplexity": 2.0}})
    project.write("metrics/probes/new.json", {"x": 1})
    project.write("metrics/benchmarks/time.json", {"x": 1})
    project.commit("more")
    text = shown("main", "more")
    assert re.search(
        r"^ablations/kept +$\n  held_out\.perplexity +1\.000 +2\.000 +\+1\.00", text, re.M
    )
    assert "Only in B: probes/new." in text
    assert "time" not in text


def test_what_is_missing_is_said(project: Project) -> None:
    project.git("rm", "-q", RECORD)
    project.git("switch", "-q", "-c", "bare")
    project.commit("no record")
    (project.root / ".dvc/cache").rename(project.root / ".dvc/gone")
    text = " ".join(shown("main", "bare").split())
    assert "bare" in text
    assert "the stage train never ran there" in text
    assert "is not in DVC's cache here" in text
    assert "Not measured on both sides." in page(compare(resolve("main"), resolve("bare")))


def test_a_damaged_record_is_one_line(project: Project) -> None:
    (project.root / RECORD).write_text("{")
    project.commit("damaged")
    with pytest.raises(UserError, match=r"train\.json in HEAD \(.*\) is damaged"):
        compare(resolve("HEAD~1"), resolve("HEAD"))


@pytest.mark.parametrize("name", ["no-such-branch", "HEAD~99", "--output=x", ""])
def test_what_is_no_commit_is_refused(project: Project, name: str) -> None:
    with pytest.raises(UserError, match="commit, tag, branch or experiment"):
        resolve(name)
    assert not Path("x").exists()


def test_one_name_of_two_experiments_is_refused_with_their_commits(project: Project) -> None:
    for commit in ("HEAD", "HEAD~1"):
        found = project.git("rev-parse", commit).strip()
        project.git("update-ref", f"refs/exps/{found[:2]}/{found[2:]}/twice", found)
    project.git("update-ref", "refs/exps/exec/EXEC_HEAD", "HEAD")
    assert [each.revision.name for each in experiments()] == ["twice", "twice"]
    with pytest.raises(UserError, match="the name of 2 experiments; give a commit: "):
        resolve("twice")


def test_a_project_below_the_root_of_its_repository(project: Project) -> None:
    project.git("rm", "-q", "-r", "--cached", ".dvc")
    (project.root / "inner").mkdir()
    project.git("mv", "params.yaml", "metrics", "plots", "inner")
    project.commit("inside")
    project.write("inner/metrics/ablations/kept.json", {"held_out": {"perplexity": 2.0}})
    project.commit("changed")
    inner = [
        sys.executable,
        "-c",
        "from remeasure.compare import revisions as r; import pathlib;"
        "a, b = r.resolve('HEAD~1'), r.resolve('HEAD'); print(r.differing_files(a, b,"
        "[pathlib.Path('metrics')]), b.json(pathlib.Path('metrics/ablations/kept.json')))",
    ]
    done = subprocess.run(
        inner, cwd=project.root / "inner", capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == (
        "[PosixPath('metrics/ablations/kept.json')] {'held_out': {'perplexity': 2.0}}"
    )


def test_comparing_imports_no_torch() -> None:
    code = "import sys, remeasure.compare.__main__ as m; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.browser
def test_the_page_fits_its_screen_and_axe_finds_nothing_serious(
    browser: Any, project: Project, tmp_path: Path
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    on_branch(project, [0, 1])
    target = tmp_path / "page.html"
    target.write_text(page(compare(resolve("main"), resolve("rope"))), encoding="utf-8")
    trouble: list[str] = []
    for width, scheme in product((390, 1280), ("light", "dark")):
        tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        tab.on("console", lambda message: trouble.append(message.text))
        tab.goto(target.as_uri())
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        found = Axe().run(tab).response["violations"]
        serious = [rule["help"] for rule in found if rule["impact"] in ("serious", "critical")]
        assert [*trouble, *serious] == []
        tab.close()
