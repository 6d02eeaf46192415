import json

import pytest
import torch

from remeasure.benchmarks import kv_cache
from remeasure.benchmarks.kv_cache import measure
from remeasure.errors import ParameterError
from remeasure.models.cache import Cache
from remeasure.models.language_model import LanguageModel

SMALL = {
    "tokens": 48,
    "window": 12,
    "d_model": 16,
    "n_blocks": 2,
    "n_heads": 2,
    "vocab_size": 64,
    "device": "cpu",
    "seed": 0,
}


def test_both_ways_agree_at_every_token_and_the_cache_weighs_what_the_formula_says():
    record = measure(SMALL)
    json.dumps(record, allow_nan=False)
    assert 0 <= record["max_logit_diff"] < 1e-6
    assert record["mean_logit_magnitude"] > 0.1
    assert record["same_token"] == record["tokens"] == 48
    assert record["distinct_tokens"] > 10
    assert record["bytes"] == {"measured": 2 * 2 * 16 * 48 * 4, "formula": 2 * 2 * 16 * 48 * 4}
    assert [row["prefix"] for row in record["rows"]] == [6.5, 18.5, 30.5, 42.5]
    for row in record["rows"]:
        for spread in (row["ms_cached"], row["ms_uncached"]):
            assert spread["n"] == 12
            assert 0 < spread["low"] <= spread["median"] <= spread["high"]


def test_without_the_cache_a_step_reads_the_whole_prefix_and_with_it_one_token(monkeypatch):
    lengths = []
    features = LanguageModel.features

    def noted(self, ids_BT, cache=None):
        lengths.append((ids_BT.shape[1], cache is not None))
        return features(self, ids_BT, cache)

    monkeypatch.setattr(LanguageModel, "features", noted)
    measure(SMALL)
    steps = lengths[kv_cache.WARM_UP_STEPS :]
    assert steps[:48] == [(1, True)] * 48
    assert steps[48:] == [(prefix, False) for prefix in range(1, 49)]


def test_two_runs_differ_in_time_alone():
    def without_times(record):
        return {key: value for key, value in record.items() if key not in ("rows", "slopes")}

    assert without_times(measure(SMALL)) == without_times(measure(SMALL))


def forgets_where_it_is(monkeypatch):
    embed = LanguageModel.embed
    monkeypatch.setattr(LanguageModel, "embed", lambda self, ids_BT, first=0: embed(self, ids_BT))


def loses_the_first_key(monkeypatch):
    extend = Cache.extend

    def lossy(self, name, new):
        kept = extend(self, name, new).clone()
        kept[..., 0, :] = 0
        return kept

    monkeypatch.setattr(Cache, "extend", lossy)


@pytest.mark.parametrize("damage", [forgets_where_it_is, loses_the_first_key])
def test_a_damaged_cache_shows(monkeypatch, damage):
    damage(monkeypatch)
    record = measure(SMALL)
    assert record["max_logit_diff"] > 0.01
    assert record["same_token"] < 48


def test_a_slope_is_milliseconds_for_a_thousand_tokens():
    ms_cached, ms_uncached = [2.0] * 40, [1 + 0.003 * prefix for prefix in range(1, 41)]
    rows = kv_cache._rows(10, ms_cached, ms_uncached)
    assert kv_cache._slope(rows, "ms_cached") == pytest.approx(0)
    assert kv_cache._slope(rows, "ms_uncached") == pytest.approx(3)


def test_the_model_has_gpt2s_block():
    checked = kv_cache.KVCacheSettings.model_validate(SMALL)
    model = kv_cache._model(checked)
    width = 16
    block = sum(parameter.numel() for parameter in model.blocks[0].parameters())
    assert block == 12 * width**2 + 13 * width
    assert torch.equal(kv_cache._model(checked).output.weight, model.output.weight)


def test_settings_are_checked():
    with pytest.raises(ParameterError, match=r"^benchmarks\.kv_cache: tokens 48 must be"):
        measure(SMALL | {"window": 11})
