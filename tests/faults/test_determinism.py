"""Same machine, same threads, same versions: the same bytes. Anything else: other rounding.

Prints the matrix that docs/reliability.md shows.
"""

import itertools
from pathlib import Path

import pytest
import tiny

from remeasure.params.reading import read_params
from remeasure.pipeline.curves import Difference, Rows, differences, read_curve
from remeasure.pipeline.rerun import rerun

pytestmark = [pytest.mark.faults, pytest.mark.slow]

STEPS = 300
COMMAND = "python stages/ablation.py plain"
PLAIN = "ATEN_CPU_CAPABILITY"
"""Without torch's vector instructions: nearest that one machine comes to being another."""
MACHINES: dict[str, tuple[int, dict[str, str]]] = {
    "1 thread": (1, {}),
    "2 threads": (2, {}),
    "1 thread, plain": (1, {PLAIN: "default"}),
}


def trained(threads: int, variant: dict[str, object]) -> tuple[bytes, Rows]:
    """The record and the curve of one training in the working folder."""
    params = read_params()
    params["ablations"] = {"plain": {"budget": "standard", **variant}}
    with rerun("ablation@plain", COMMAND, ("data/tokens.npz",), params, threads) as now:
        return now.metrics.read_bytes(), read_curve(now.curve)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("variant", [{}, {"scale": False, "n_heads": 1}, {"norm": "post"}], ids=str)
def test_the_matrix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variant: dict[str, object]
) -> None:
    folder = tiny.make_tiny(tmp_path / "tiny")
    tiny.change_params(
        folder,
        base={"d_model": 64, "context": 64, "n_heads": 4},
        budgets={"standard": {"steps": STEPS, "batch_size": 16, "seeds": [0]}},
    )
    assert tiny.run(folder, "dvc", "repro", "tokenize").returncode == 0
    monkeypatch.chdir(folder)
    runs = {}
    for machine, (threads, variables) in MACHINES.items():
        with monkeypatch.context() as changed:
            for name, value in variables.items():
                changed.setenv(name, value)
            for run in ("a", "b"):
                runs[machine, run] = trained(threads, variant)
    for one, other in itertools.combinations(runs, 2):
        found = differences(runs[one][1], runs[other][1])
        print(f"{variant} {' '.join(one)} | {' '.join(other)}: ", end="")
        print(described(found))
        if one[0] == other[0]:
            assert not found
            assert runs[one][0] == runs[other][0]
        else:
            assert found, "these round alike here: the test shows nothing"
            assert all(difference.is_rounding for difference in found)


def described(found: list[Difference]) -> str:
    if not found:
        return "equal to the bit"
    sizes = {
        limit: max((each.size for each in found if each.step <= limit), default=0.0)
        for limit in (10, 50, 100, STEPS)
    }
    return f"part at step {found[0].step}; largest difference up to a step: " + ", ".join(
        f"{limit}: {size:.1e}" for limit, size in sizes.items()
    )
