"""Whatever a text is made of: it is trained on, or one line says why not."""

import subprocess
import sys
from pathlib import Path

import pytest
import tiny
from tokenizers import Tokenizer

from remeasure.data import bpe
from remeasure.data.encoding import encode_and_split
from remeasure.data.text import read_text
from remeasure.errors import UserError
from remeasure.experiments.language import Trained, train_and_measure
from remeasure.params.ablations import TrainingPlan, ablation_plan
from remeasure.params.reading import read_params

pytestmark = pytest.mark.faults

HUNDRED_MEGABYTES = 100 * 1024 * 1024
PHRASES = tiny.TEXT.encode()


@pytest.fixture(scope="module")
def plan() -> TrainingPlan:
    """The chapter's block made small, three steps."""
    params = read_params(tiny.ROOT / "params.yaml")
    budget = tiny.BUDGET | {"steps": 3, "seeds": [0]}
    small = tiny.PARAMS["base"]
    changed = {
        **params,
        "base": {**params["base"], **small},
        "budgets": {"standard": budget},
        "ablations": {"plain": {"budget": "standard"}},
    }
    return ablation_plan(changed, "plain")


def through(folder: Path, content: bytes, plan: TrainingPlan) -> tuple[Tokenizer, Trained]:
    """The stages train_bpe, tokenize and ablation, without their files."""
    path = folder / "corpus.txt"
    path.write_bytes(content)
    tokenizer = bpe.train(read_text(path), 280)
    tokens, _ = encode_and_split(path, tokenizer, 0.1)
    return tokenizer, train_and_measure(plan, tokens, "plain", None)


@pytest.mark.parametrize(
    "content",
    [
        PHRASES.replace(b"\n", b"\r\n"),
        b"\xef\xbb\xbf" + PHRASES,
        "".join("🚀" * (n % 7) + "👩‍🚀" + "🌍" * (n % 5) + "\n" for n in range(300)).encode(),
        bytes(range(128)) * 30,
        b"a b " * 1000,
        "\u202e\u0000\ufffd é".encode() * 300,
    ],
    ids=["crlf", "bom", "emoji", "ascii", "two_letters", "odd_characters"],
)
def test_odd_texts_are_trained_on_and_come_back_whole(
    tmp_path: Path, plan: TrainingPlan, content: bytes
) -> None:
    tokenizer, trained = through(tmp_path, content, plan)
    text = content.decode()
    assert tokenizer.decode(tokenizer.encode(text).ids, skip_special_tokens=False) == text
    assert trained.record["held_out"]["perplexity"]["mean"] >= 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "0 tokens cannot be split"),
        (b"x", "1 tokens cannot be split"),
        (PHRASES[:60], "too few for windows of 16"),
        (b"a" * 3000, "1 tokens cannot be split"),
        (b" " * 3000, "1 tokens cannot be split"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 30, "is not UTF-8 text (byte 0)"),
        (PHRASES + b"\xc3(", f"is not UTF-8 text (byte {len(PHRASES)})"),
        (PHRASES.decode().encode("utf-16"), "is not UTF-8 text (byte 0)"),
    ],
    ids=["empty", "one_character", "short", "one_letter", "spaces", "binary", "invalid", "utf16"],
)
def test_what_cannot_be_trained_on_gets_one_line(
    tmp_path: Path, plan: TrainingPlan, content: bytes, reason: str
) -> None:
    with pytest.raises(UserError) as caught:
        through(tmp_path, content, plan)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_hundred_megabytes(tmp_path: Path) -> None:
    folder = tiny.make_tiny(tmp_path / "tiny")
    numbers = range(10**9)
    lines = (f"{n * 7919 % 65521:x} kings of {n % 9973} lands\n" for n in numbers)
    written = bytearray()
    while len(written) < HUNDRED_MEGABYTES:
        written += next(lines).encode()
    tiny.put_corpus(folder, bytes(written))
    for stage, allowed in (("download", 1), ("train_bpe", 1), ("tokenize_corpus", 3)):
        seconds, gigabytes, done = measured(folder, [f"stages/{stage}.py"])
        print(f"{stage}: {seconds:.0f} s, at most {gigabytes:.2f} GiB of memory")
        assert done.returncode == 0, done.stderr
        assert gigabytes < allowed


def measured(
    folder: Path, words: list[str]
) -> tuple[float, float, subprocess.CompletedProcess[str]]:
    """Seconds and the largest memory, in GiB, of a stage's process."""
    code = (
        "import resource, subprocess, sys, time; start = time.monotonic();"
        " done = subprocess.run([sys.executable, *sys.argv[1:]]);"
        " used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss;"
        " print(time.monotonic() - start, used); sys.exit(done.returncode)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=folder,
        env=tiny.environment(folder) | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    seconds, kilobytes = done.stdout.splitlines()[-1].split()
    return float(seconds), int(kilobytes) / 1024**2, done
