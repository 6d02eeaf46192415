"""Every path, once. All are relative to the root of the working tree, where commands run."""

from pathlib import Path

PARAMS = Path("params.yaml")
CLAIMS = Path("claims.yaml")
PIPELINE = Path("dvc.yaml")

CORPUS = Path("data/corpus.txt")
TOKENIZER = Path("data/tokenizer.json")
TOKENS = Path("data/tokens.npz")
MODEL = Path("models/model.safetensors")
SAMPLE = Path("models/sample.txt")
CHECKPOINTS = Path("checkpoints")

CORPUS_METRICS = Path("metrics/corpus.json")
LEDGER = Path("metrics/ledger.json")
SUMMARY = Path("metrics/summary.json")

NOTEBOOK = Path("report/report.ipynb")
REPORT = Path("report/report.html")
FIGURES = Path("report/figures")


def metrics(family: str, name: str) -> Path:
    """Results of one stage of a family, such as metrics/ablations/one_block.json."""
    return Path("metrics") / family / f"{name}.json"


def curve(family: str, name: str) -> Path:
    """Table over training steps or sizes of one stage, such as plots/ablations/one_block.csv."""
    return Path("plots") / family / f"{name}.csv"


def provenance(family: str, name: str) -> Path:
    """How, where and when one stage ran. In git, for people and the report; no DVC output."""
    return Path("provenance") / family / f"{name}.json"


def provenance_of_stage(stage: str, entry: str) -> Path:
    """The same by the name of the stage: families are named after what they hold."""
    families = {"ablation": "ablations", "probe": "probes", "benchmark": "benchmarks"}
    return provenance(families.get(stage, stage), entry)
