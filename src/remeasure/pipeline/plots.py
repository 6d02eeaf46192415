"""DVC's own plots: the summary tables and the report's figures, on a page that needs no network.

Usage: python -m remeasure.pipeline.plots [REV]
       python -m remeasure.pipeline.plots --install

Without a word, what is measured now; with a revision, both side by side. `--install` makes plain
`dvc plots show` and `dvc plots diff` write such pages too, in this clone only.
"""

import argparse
import subprocess
from pathlib import Path

import vl_convert

from remeasure.commands import run_command
from remeasure.errors import UserError
from remeasure.pipeline.environment import dvc, environment
from remeasure.records.files import write_text

SHOWN = ("plots/summary", "report/figures")
PAGE = Path(".dvc/tmp/plots_page.html")
"""Read by DVC, relative to .dvc in its configuration. Nearly a megabyte, so it is not in git."""
FOLDER = Path("build/plots")
VEGA_LITE = "6.4"
"""The version that the templates in .dvc/plots are written for."""

TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy"
 content="script-src 'unsafe-inline' 'unsafe-eval'; connect-src 'none'; font-src 'none'">
{refresh_tag}
<title>Plots</title>
<style>
body { font-family: sans-serif; margin: 1rem; background: white; color: black; }
body > div { overflow-x: auto; margin-bottom: 1.5rem; border: none !important; }
body > div.vega-embed { display: block; box-sizing: border-box; }
body > div > div { border: none !important; }
</style>
<script>{bundle}</script>
<script>
const draw = window.vegaEmbed;
window.vegaEmbed = (place, spec) => {
  if ("data" in spec) return draw(place, spec, { actions: { editor: false } });
  document.querySelector(place).textContent = place.slice(1) + ": not measured";
};
</script>
</head>
<body>
{plot_divs}
</body>
</html>
"""
"""DVC fills in `refresh_tag` and `plot_divs`; its `scripts`, loaded from elsewhere, stay out.

Its specification of a table without lines is empty, which Vega reports as an error: said in words
here.
"""


def main(words: list[str]) -> None:
    """Read the command line and run DVC."""
    parser = argparse.ArgumentParser(prog="python -m remeasure.pipeline.plots")
    parser.add_argument("revision", nargs="?", help="compare with this commit or experiment")
    parser.add_argument("--install", action="store_true", help="for plain dvc plots in this clone")
    options = parser.parse_args(words)
    write_page()
    if options.install:
        place = PAGE.relative_to(".dvc").as_posix()
        _dvc("config", "--quiet", "--local", "plots.html_template", place)
        return
    shown = ["diff", options.revision, "--targets"] if options.revision else ["show"]
    FOLDER.mkdir(parents=True, exist_ok=True)
    _dvc("plots", *shown, *SHOWN, "--html-template", str(PAGE.resolve()), "--out", str(FOLDER))


def write_page(path: Path = PAGE) -> None:
    """The page that DVC fills, with all that it needs to draw inside."""
    bundle = vl_convert.javascript_bundle(vl_version=VEGA_LITE)  # type: ignore[call-arg]
    write_text(path, TEMPLATE.replace("{bundle}", bundle))


def _dvc(*words: str) -> None:
    done = subprocess.run([*dvc(), *words], env=environment(Path()), check=False)
    if done.returncode:
        raise UserError(f"'dvc {words[0]}' failed; the reason is printed above")


if __name__ == "__main__":
    run_command(main)
