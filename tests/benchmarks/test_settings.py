import pytest
from hypothesis import given
from hypothesis import strategies as st

from remeasure.errors import ParameterError
from remeasure.params.benchmarks import AttentionCostSettings, KVCacheSettings
from remeasure.params.reading import check

COST = {
    "tokens": [128, 256],
    "d_model": 64,
    "n_heads": 8,
    "repeats": 5,
    "seconds": 1,
    "memory_limit_gb": 8,
    "device": "auto",
    "seed": 0,
}
CACHE = {
    "tokens": 128,
    "window": 64,
    "d_model": 64,
    "n_blocks": 2,
    "n_heads": 4,
    "vocab_size": 1024,
    "device": "auto",
    "seed": 0,
}
KINDS = [(AttentionCostSettings, COST), (KVCacheSettings, CACHE)]


def test_whole_numbers_and_null_stand_for_what_they_mean():
    checked = check(AttentionCostSettings, COST, "here")
    assert checked.tokens == (128, 256)
    assert checked.memory_limit_gb == 8.0
    assert check(AttentionCostSettings, COST | {"memory_limit_gb": None}, "here")


@pytest.mark.parametrize(
    ("kind", "good", "change", "message"),
    [
        (AttentionCostSettings, COST, {"tokens": [128]}, "tokens: .* at least 2 items"),
        (AttentionCostSettings, COST, {"tokens": [128, 512]}, "512 is not twice 128"),
        (AttentionCostSettings, COST, {"tokens": [256, 128]}, "128 is not twice 256"),
        (AttentionCostSettings, COST, {"n_heads": 6}, "d_model 64 is not divisible by n_heads 6"),
        (AttentionCostSettings, COST, {"repeats": 2}, "repeats: 2 is not allowed"),
        (AttentionCostSettings, COST, {"memory_limit_gb": 0}, "memory_limit_gb: 0 is not allowed"),
        (AttentionCostSettings, COST, {"device": "tpu"}, "'tpu' is not one of auto, cpu, cuda"),
        (KVCacheSettings, CACHE, {"window": 60}, "tokens 128 must be two or more times the window"),
        (KVCacheSettings, CACHE, {"window": 128}, "two or more times the window of 128"),
        (KVCacheSettings, CACHE, {"n_heads": 5}, "d_model 64 is not divisible by n_heads 5"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_its_reason(kind, good, change, message):
    check(kind, good, "here")
    with pytest.raises(ParameterError, match=message):
        check(kind, good | change, "here")


anything = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)


@pytest.mark.parametrize(("kind", "good"), KINDS)
@given(data=st.data())
def test_any_value_at_all_is_accepted_or_refused_in_one_line(kind, good, data):
    key = data.draw(st.sampled_from([*good, "unheard_of"]))
    refused = None
    try:
        check(kind, good | {key: data.draw(anything)}, "here")
    except ParameterError as error:
        refused = str(error)
    assert refused is None or (refused.startswith("here") and "\n" not in refused)
    assert refused or key != "unheard_of"
