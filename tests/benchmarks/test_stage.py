import json
import runpy
from pathlib import Path

import pytest

from remeasure.benchmarks import benchmark, kv_cache
from remeasure.errors import ParameterError

STAGE = Path(__file__).parents[2] / "stages" / "benchmark.py"
PARAMS = """
benchmarks:
  kv_cache: {tokens: 8, window: 4, d_model: 8, n_blocks: 1, n_heads: 2, vocab_size: 16,
             device: cpu, seed: 0}
  timing: {}
"""


@pytest.fixture
def main(tmp_path, monkeypatch):
    (tmp_path / "params.yaml").write_text(PARAMS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return runpy.run_path(str(STAGE))["main"]


def test_a_name_is_the_module_that_measures():
    assert benchmark("kv_cache") is kv_cache.measure


@pytest.mark.parametrize("name", ["nothing", "timing", "a.b", ""])
def test_a_name_without_a_measurement_is_refused(name):
    with pytest.raises(ParameterError, match=r"no module remeasure\.benchmarks"):
        benchmark(name)


def test_the_stage_writes_the_record_and_how_it_ran(main):
    main(["kv_cache"])
    record = json.loads(Path("metrics/benchmarks/kv_cache.json").read_text())
    assert record["tokens"] == record["same_token"] == 8
    assert record["protocol"]["corpus"] is None
    provenance = json.loads(Path("provenance/benchmarks/kv_cache.json").read_text())
    assert provenance["machine"]["cores"] >= 1
    assert "wall_seconds" not in json.dumps(record)


@pytest.mark.parametrize("name", ["attention_cost", "timing", "../escape"])
def test_the_stage_refuses_what_params_or_modules_do_not_have_and_writes_nothing(main, name):
    with pytest.raises(ParameterError):
        main([name])
    assert not Path("metrics").exists()
