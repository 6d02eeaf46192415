"""Made-up records in the form that the stages write, so that the report can be tested without them.

The numbers are invented, near enough to the chapter's for the figures to look as they will.
"""

import json
import math
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from ruamel.yaml import YAML

from remeasure import paths
from remeasure.ledger.claims import Claims, read_claims
from remeasure.ledger.ledger import hold, summary
from remeasure.params.reading import read_params
from remeasure.records.files import write_csv, write_json
from remeasure.records.protocol import protocol
from remeasure.records.spread import spread

REPOSITORY = Path(__file__).parent.parent.parent
WIDTHS = (4, 16, 64, 256, 1024)
HELD_OUT = {
    "no_context": 60.9,
    "uniform": 248.0,
    "uniform_positions": 246.0,
    "uniform_residual": 60.4,
    "uniform_residual_positions": 59.0,
    "head_replacing": 55.3,
    "head": 46.2,
    "heads": 43.1,
    "feed_forward": 39.7,
    "one_block": 37.9,
    "two_blocks": 40.4,
    "scaling_32_undivided": 37.7,
    "scaling_128_divided": 38.9,
    "scaling_128_undivided": 43.4,
    "scaling_short_128_divided": 44.5,
    "scaling_short_128_undivided": 53.2,
    "scaling_short_256_divided": 44.7,
    "scaling_short_256_undivided": 62.7,
    "scaling_short_1024_divided": 45.1,
    "scaling_short_1024_undivided": 62.0,
    "norm_pre": 37.9,
    "norm_pre_warmup": 37.5,
    "norm_post": 311.0,
    "norm_post_warmup": 38.2,
    "positions_none": 47.6,
    "positions_learned": 44.3,
    "positions_sinusoidal": 45.4,
    "positions_rope": 44.8,
    "positions_alibi": 44.9,
    "dropout_one_block_10": 36.3,
    "dropout_one_block_20": 36.6,
    "dropout_two_blocks_10": 36.1,
    "dropout_two_blocks_20": 35.2,
    "leak": 1.4,
    "heads_1": 45.9,
    "heads_2": 45.1,
    "heads_4": 44.6,
    "heads_8": 44.4,
    "heads_16": 44.8,
    "tied": 43.2,
    "feed_forward_1": 45.4,
    "feed_forward_2": 44.9,
    "feed_forward_8": 46.3,
}
TRAINING = {"one_block": 19.2, "two_blocks": 14.3, "leak": 1.3}
LONGER = {
    "positions_none": (46.9, 46.7),
    "positions_learned": (88.0, 171.0),
    "positions_sinusoidal": (61.0, 92.0),
    "positions_rope": (46.1, 53.0),
    "positions_alibi": (43.2, 42.6),
}
ACCURACY = {
    "category_uniform": (1.0, 1.0, 1.0, 1.0),
    "category_one_block": (1.0, 0.98, 1.0, 1.0),
    "category_two_blocks": (1.0, 1.0, 1.0, 1.0),
    "pool_uniform": (0.28, 0.31, 0.25, 0.29),
    "pool_one_block": (1.0, 0.93, 1.0, 1.0),
    "pool_two_blocks": (1.0, 1.0, 1.0, 1.0),
    "category_one_block_low_rate": (1.0, 1.0, 0.99, 1.0),
    "pool_one_block_low_rate": (0.99, 1.0, 1.0, 0.96),
    "pool_two_blocks_low_rate": (1.0, 1.0, 1.0, 1.0),
}
RECURRENT = {
    "rnn": {"perplexity": 47.0, "at_start": 0.5, "at_end": 0.8},
    "lstm": {"perplexity": 44.0, "at_start": 0.6, "at_end": 0.9},
    "attention": {"perplexity": 37.9, "at_start": 0.999, "at_end": 0.99},
}
"""Perplexity, and what a further token leaves of the gradient."""
MASKED = {"share_15": 5.9, "any_share": 5.1, "share_15_learned": 5.75}
"""Nats a token from left to right."""
NORMS = {"layer": 44.1, "rms": 44.0, "batch": 45.9}
SCALED_EMBEDDING = {"tied": 43.6, "untied": 44.4}
REPEAT_LOSS = {"one_layer": 2.95, "two_layers": 0.11, "one_layer_fixed_period": 0.03}
SEQ2SEQ = {"lstm": 5.0, "bahdanau": 30.0, "cross_attention": 40.0, "decoder_only": 36.0}
"""Lengths at which half of the made-up strings are right."""
ADJECTIVES = ("tired", "scared", "slow", "weak", "wet", "wide", "busy", "steep")
SENTENCE = "the animal did not cross the street because it was too {} , so the"


def write_project(root: Path, *, fraction: float = 1.0, records: bool = True) -> None:
    """A working tree with everything that the report reads; `records` False leaves them out."""
    for name in (paths.PARAMS, paths.CLAIMS, paths.PIPELINE):
        shutil.copy2(REPOSITORY / name, root / name)
    shutil.copytree(REPOSITORY / "report" / "template", root / "report" / "template")
    shutil.copy2(REPOSITORY / paths.NOTEBOOK, root / paths.NOTEBOOK)
    claims, params = read_claims(root / paths.CLAIMS), read_params(root / paths.PARAMS)
    _add_entries(root / paths.PARAMS, claims, params, fraction)
    if records:
        _Writer(root, claims, params, fraction).write()
    write_ledger(root)


def _add_entries(path: Path, claims: Claims, params: dict[str, Any], fraction: float) -> None:
    """Every experiment of claims.yaml has an entry, since a record without one does not count."""
    for pin in claims.protocol.records.values():
        level = params
        for key in pin.entry.split("."):
            level = level.setdefault(key, {})
    params["training"]["fraction"] = fraction
    with path.open("w", encoding="utf-8") as file:
        YAML(typ="safe", pure=True).dump(params, file)


def write_ledger(root: Path) -> None:
    """The verdicts on the records that lie under `root`, as the stage writes them."""
    claims, params = read_claims(root / paths.CLAIMS), read_params(root / paths.PARAMS)
    ledger = hold(claims, params, root)
    write_json(root / paths.LEDGER, json.loads(json.dumps(ledger)))
    write_json(root / paths.SUMMARY, summary(claims, ledger))


class _Writer:
    def __init__(
        self, root: Path, claims: Claims, params: Mapping[str, Any], fraction: float
    ) -> None:
        self.root, self.claims, self.params, self.fraction = root, claims, params, fraction
        self.random = np.random.default_rng(0)

    def write(self) -> None:
        self.corpus()
        for name, mean in HELD_OUT.items():
            self.ablation(name, mean)
        for name, values in ACCURACY.items():
            self.referent(name, values)
        for name, numbers in RECURRENT.items():
            self.recurrent(name, **numbers)
        self.sequence_cost()
        for name, nats in MASKED.items():
            self.masked(name, nats)
        for name, mean in NORMS.items():
            self.normalisation(name, mean)
        for name, mean in SCALED_EMBEDDING.items():
            self.scaled_embedding(name, mean)
        for name, mean in REPEAT_LOSS.items():
            self.induction(name, mean)
        for task in ("copy", "reverse", "sort"):
            for name, half in SEQ2SEQ.items():
                self.seq2seq(task, name, half)
        self.probes()
        self.benchmarks()

    def save(self, family: str, name: str, content: Mapping[str, Any]) -> None:
        path = paths.metrics(family, name)
        pin = self.claims.protocol.records[str(path)]
        text = self.claims.protocol.text.sha256 if pin.text else None
        write_json(
            self.root / path,
            {"protocol": protocol(pin.settings or "", text, self.fraction), **content},
        )
        write_json(
            self.root / paths.provenance_of_stage(*_stage(pin.stage)),
            {
                "started": "2030-01-02T03:04:05+00:00",
                "wall_seconds": 60.0 + 7 * len(name),
                "commit": {
                    "revision": "0123456789abcdef" * 2 + "01234567",
                    "uncommitted_changes": False,
                },
                "machine": {
                    "system": "Linux",
                    "architecture": "x86_64",
                    "processor": "an invented processor",
                    "cores": 2,
                    "gpu": None,
                },
                "threads": 1,
                "versions": {"python": "3.11.0", "torch": "2.0.0", "numpy": "2.0.0"},
            },
        )

    def seeds(self, mean: float, share: float = 0.008, n: int = 3) -> dict[str, Any]:
        values = mean * (1 + share * self.random.standard_normal(n))
        return spread({seed: float(value) for seed, value in enumerate(values)})

    def corpus(self) -> None:
        text = self.claims.protocol.text
        write_json(
            self.root / paths.CORPUS_METRICS,
            {
                "sha256": text.sha256,
                "characters": 1115394,
                "bytes": 1115394,
                "vocab_size": text.vocab_size,
                "tokens": text.tokens,
                "characters_per_token": 1115394 / text.tokens,
                "training_tokens": text.training_tokens,
                "held_out_tokens": text.tokens - text.training_tokens,
                "held_out_bytes": 106969,
            },
        )

    def ablation(self, name: str, mean: float) -> None:
        budget = self.params["budgets"][self.params["ablations"][name]["budget"]]
        n = 1 if name.startswith("norm_") else 3
        share = 0.2 if name == "norm_post" else 0.008
        held_out = self.seeds(mean, share, n)
        start, end = (21.0, 5000.0) if name.endswith("1024_undivided") else (1.0, 3.4)
        if name.endswith("256_undivided"):
            start, end = 10.0, 900.0
        record: dict[str, Any] = {
            "parameters": 400_000 + 13 * len(name),
            "held_out": {"perplexity": held_out, "bits_per_byte": self.seeds(2.2, 0.008, n)},
            "training": {"perplexity": self.seeds(TRAINING.get(name, 0.7 * mean), 0.008, n)},
        }
        frozen = 0.998 if start > 5 else 0.01
        if self.params["ablations"][name].get("mixer") not in ("none", "uniform"):
            record["attention"] = {
                when: {
                    "score_std": self.seeds(deviation, 0.03, n),
                    "entropy": self.seeds(3.5, 0.01, n),
                    "effective_tokens": self.seeds(50, 0.01, n),
                    "frozen_rows": self.seeds(share_frozen, 0.0005, n),
                }
                for when, deviation, share_frozen in (
                    ("at_start", start, 0.6 if start > 5 else 0.01),
                    ("at_end", end, frozen),
                )
            }
        if name in LONGER:
            windows = zip((64, 128, 256), (mean, *LONGER[name]), strict=True)
            record["by_window"] = {
                str(window): self.seeds(value, 0.008, n) for window, value in windows
            }
        if name == "leak":
            record["evaluated_otherwise"] = {"perplexity": self.seeds(900.0, 0.1, n)}
        self.save("ablations", name, record)
        rows = []
        for seed, last in enumerate(held_out["per_seed"].values()):
            for step in range(0, budget["steps"] + 1, budget["evaluate_every"]):
                done = step / budget["steps"]
                loss = math.log(last) + (math.log(1100) - math.log(last)) * math.exp(-9 * done)
                deviation = start * (end / start) ** done
                share_frozen = frozen * min(1, 0.6 + done)
                rows.append([seed, step, None, loss, deviation, 3.5, 50.0, share_frozen])
        header = "seed step batch_loss held_out_loss score_std entropy effective_tokens frozen_rows"
        write_csv(self.root / paths.curve("ablations", name), header.split(), rows)

    def referent(self, name: str, values: tuple[float, ...]) -> None:
        accuracy = spread(dict(enumerate(values)))
        blocks = next(n for n, kind in enumerate(("uniform", "one_", "two_")) if kind in name)
        attention: dict[str, Any] = {"uniform_weight": 1 / 15}
        for block in range(1, blocks + 1):
            attention |= {
                f"block{block}_weight_on_first_noun": self.seeds(0.6, 0.2, 4),
                f"block{block}_crosser_weight_on_adjective": self.seeds(0.9, 0.05, 4),
                f"block{block}_crossed_weight_on_second_noun": self.seeds(0.4, 0.2, 4),
                f"block{block}_same": {
                    "max_score_diff": self.seeds(1e-7, 0.1, 4),
                    "max_weight_diff": self.seeds(0.01, 0.1, 4),
                },
            }
        attention["map"] = {
            "seed": 0,
            "pair_held_out": True,
            "sentences": [
                self.sentence(index, word, blocks) for index, word in enumerate(ADJECTIVES)
            ],
        }
        self.save(
            "referent",
            name,
            {
                "parameters": 200_000,
                "sentences": {"training": 1536, "held_out": 384},
                "accuracy": accuracy,
                "accuracy_among_present": accuracy,
                "wrong_noun_share": spread({seed: 1 - v for seed, v in enumerate(values)}),
                "settled_seeds": sum(value > 0.99 for value in values),
                "settled_at": self.seeds(700, 0.3, 4) if min(values) > 0.99 else None,
                "attention": attention,
            },
        )
        rows = []
        for seed, last in enumerate(values):
            for step in range(0, 2001, 50):
                now = last / (1 + math.exp(-(step - 500 - 150 * seed) / 60))
                rows.append([seed, step, None, now, now, 1 - now])
        header = "seed step batch_loss accuracy accuracy_among_present wrong_noun"
        write_csv(self.root / paths.curve("referent", name), header.split(), rows)

    def masked(self, name: str, nats: float) -> None:
        known = {"accuracy": 0.09, "perplexity": 317.0, "perplexity_bound": 301.0}
        change = {"largest_change": 0.7, "relative_change": 0.06}
        record = {
            "parameters": 478_081,
            "tokens": {"whole_split": 45952, "ordered_windows": 8192},
            "baseline": {"whole_split": known, "ordered_windows": known},
            "hidden": {
                str(share): {
                    "accuracy": self.seeds(0.35 - share / 400, 0.02),
                    "perplexity": self.seeds(40 + 2.6 * share, 0.02),
                }
                for share in (5, 15, 30, 50, 70, 85, 95, 100)
            },
            "orders": {
                "left_to_right": {
                    "nats": self.seeds(nats),
                    "after_the_first": {"perplexity": self.seeds(math.exp(nats - 0.02))},
                },
                "right_to_left": {"nats": self.seeds(nats + 0.1), "difference": self.seeds(0.11)},
                "random": {"nats": self.seeds(nats - 0.1), "difference": self.seeds(0.09)},
            },
            "revealed": {
                **{key: self.seeds(value) for key, value in change.items()},
                "causal_largest_change": spread({0: 0.0, 1: 0.0, 2: 0.0}),
            },
        }
        self.save("masked", name, record)
        rows = [[0, step, None, 7 - step / 900, step / 4000] for step in range(0, 1501, 125)]
        header = ["seed", "step", "batch_loss", "held_out_loss", "accuracy"]
        write_csv(self.root / paths.curve("masked", name), header, rows)

    def normalisation(self, name: str, mean: float) -> None:
        batch = name == "batch"
        held_out = self.seeds(mean)
        off = {"batch": 1.02, "single": 1.3} if batch else {"batch": 1.0, "single": 1.0}
        leak = 0.4 if batch else 0.0
        modes: dict[str, Any] = {
            way: {
                "evaluation": {"batch": held_out, "single": held_out},
                "training": {
                    key: spread({int(s): f * v for s, v in held_out["per_seed"].items()})
                    for key, f in off.items()
                },
            }
            for way in ("whole", "token")
        }
        if batch:
            modes["token"]["training"]["single"] = None
        leaks = ("later_token", "other_window")
        record = {
            "parameters": 477_696,
            "windows": {"asked": 128, "batch": 64},
            "held_out": {"perplexity": held_out},
            "modes": modes,
            "leak": {
                "training": {key: self.seeds(leak) for key in leaks},
                "evaluation": {key: self.seeds(0.0) for key in leaks},
            },
        }
        self.save("normalisation", name, record)
        rows = [[0, step, None, 7 - step / 500] for step in range(0, 1501, 125)]
        header = ["seed", "step", "batch_loss", "held_out_loss"]
        write_csv(self.root / paths.curve("normalisation", name), header, rows)

    def scaled_embedding(self, name: str, mean: float) -> None:
        parameters = 346_624 if name == "tied" else 477_696
        splits = {"held_out": mean, "training": 0.7 * mean}
        record = {split: {"perplexity": self.seeds(value)} for split, value in splits.items()}
        self.save("scaled_embedding", name, {"parameters": parameters, **record})
        rows = [[0, step, None, 7.5 - step / 500] for step in range(0, 1501, 125)]
        header = ["seed", "step", "batch_loss", "held_out_loss"]
        write_csv(self.root / paths.curve("scaled_embedding", name), header, rows)

    def induction(self, name: str, mean: float) -> None:
        layers = 2 if name == "two_layers" else 1
        learned = mean < 1.25
        loss = self.seeds(mean, 0.03)
        scores = {
            f"layer{layer}": {
                "prefix_matching": 0.9 if learned and layer == layers else 0.11,
                "previous_token": 0.8 if layer < layers else 0.05,
            }
            for layer in range(1, layers + 1)
        }
        self.save(
            "induction",
            name,
            {
                "parameters": 30_000,
                "new_loss": self.seeds(4.4),
                "repeat_loss": loss,
                "repeat_accuracy": self.seeds(0.985 if learned else 0.16, 0.003),
                "learned_below": 1.25,
                "learned_seeds": 3 if learned else 0,
                "learned_at": self.seeds(700, 0.1) if learned else None,
                "heads": {
                    layer: {score: self.seeds(value, 0.05) for score, value in both.items()}
                    for layer, both in scores.items()
                },
                "baselines": {
                    "uniform_loss": math.log(64),
                    "tokens_seen_loss": 2.5,
                    "one_token_match_loss": 0.19,
                    "uniform_prefix_matching": 0.087,
                    "uniform_previous_token": 0.059,
                },
            },
        )
        heads = [
            (f"{score}_{layer}_head{head}", value)
            for layer, both in scores.items()
            for score, value in both.items()
            for head in range(1, 5)
        ]
        rows = []
        for seed, last in enumerate(loss["per_seed"].values()):
            for step in range(0, 2001, 50):
                done = 1 / (1 + math.exp(-(step - 600 - 60 * seed) / 50))
                now = 4.16 + (last - 4.16) * done
                shares = [0.06 + (value - 0.06) * done for _, value in heads]
                rows.append([seed, step, None, 4.4, now, 0.1, *shares])
        header = ["seed", "step", "batch_loss", "new_loss", "repeat_loss", "repeat_accuracy"]
        write_csv(
            self.root / paths.curve("induction", name), [*header, *(n for n, _ in heads)], rows
        )

    def sentence(self, index: int, adjective: str, blocks: int) -> dict[str, Any]:
        crossed = index >= 4
        rows = []
        for block in range(blocks):
            heads = self.random.dirichlet(np.full(15, 0.08), 4)
            peak = 1 if block == 0 else (6 if crossed else 11)
            heads = 0.3 * heads + 0.7 * np.eye(15)[peak]
            rows.append(
                {
                    "mean": [round(float(w), 6) for w in heads.mean(0)],
                    "heads": [[round(float(w), 6) for w in head] for head in heads],
                }
            )
        return {
            "words": SENTENCE.format(adjective).split(),
            "adjective": adjective,
            "referent": "street" if crossed else "animal",
            "answer": "street" if crossed else "animal",
            "blocks": rows,
        }

    def recurrent(self, name: str, perplexity: float, **decays: float) -> None:
        held_out = self.seeds(perplexity)
        self.save(
            "recurrent",
            name,
            {
                "parameters": 477_000 + 13 * len(name),
                "held_out": {"perplexity": held_out, "bits_per_byte": self.seeds(2.3)},
                "training": {"perplexity": self.seeds(0.7 * perplexity)},
                "gradient": {
                    "far": 64,
                    **{
                        when: {
                            "far_over_near": self.seeds(decay**63),
                            "decay": self.seeds(decay, 0.001),
                            "reach": self.seeds(min(127.0, 1 + math.log(0.01) / math.log(decay))),
                        }
                        for when, decay in decays.items()
                    },
                },
            },
        )
        rows, norms = [], []
        for seed, last in enumerate(held_out["per_seed"].values()):
            for step in range(0, 3001, 250):
                loss = math.log(last) + 3 * math.exp(-step / 300)
                rows.append([seed, step, None, loss])
            for when, decay in decays.items():
                for distance in range(128):
                    norm = (0.1 + 0.01 * seed) * decay**distance
                    norms.append([seed, when, distance, 0.8 * norm, norm, 1.2 * norm])
        columns = ("seed", "when", "distance", "low", "median", "high")
        curve, gradient = (paths.curve("recurrent", f"{name}{end}") for end in ("", "_gradient"))
        write_csv(self.root / curve, ["seed", "step", "batch_loss", "held_out_loss"], rows)
        write_csv(self.root / gradient, columns, norms)

    def sequence_cost(self) -> None:
        powers = {"rnn": 0.7, "lstm": 0.6, "attention": 0.2}
        rows = [
            {
                "length": length,
                "batch_size": 8192 // length,
                "runs": {
                    name: {
                        "sequential_steps": 1 if name == "attention" else length,
                        "ms": _timing(100 * (length / 32) ** power),
                    }
                    for name, power in powers.items()
                },
            }
            for length in (32, 64, 128, 256, 512, 1024)
        ]
        self.save(
            "sequence_cost",
            "sequence_cost",
            {
                "device": "cpu",
                "tokens_per_batch": 8192,
                "parameters": dict.fromkeys(powers, 477_000),
                "exponents": powers,
                "longest_over_shortest": {name: 32**power for name, power in powers.items()},
                "rows": rows,
            },
        )

    def seq2seq(self, task: str, name: str, half: float) -> None:
        lengths = (4, 8, 16, 24, 32, 40, 48, 64)
        right = {length: 1 / (1 + math.exp((length - half) / 4)) for length in lengths}
        example = "remeasurable"
        target = {"copy": example, "reverse": example[::-1], "sort": "".join(sorted(example))}[task]
        weights = [
            [0.9 / example.count(letter) if letter == at else 0.01 for at in example]
            for letter in target
        ]
        attention = {
            "length": 12,
            "equal_weights_on_answer": 0.12,
            "sharpest_head_on_answer": self.seeds(0.9),
            "example": {
                "seed": 0,
                "source": example,
                "target": target,
                "written": target,
                "layers": [weights],
                "sharpest": {"layer": 1, "head": 2, "weights": weights},
            },
        }
        self.save(
            "seq2seq",
            f"{task}_{name}",
            {
                "parameters": 267_000,
                "trained_lengths": [4, 32],
                "by_length": {
                    str(length): {
                        "token": self.seeds(0.1 + 0.9 * share),
                        "sequence": self.seeds(share),
                    }
                    for length, share in right.items()
                },
                "half_right_length": self.seeds(half, 0.0),
                "guessing": {
                    "loss": math.log(26),
                    "token": {str(length): 1 / 26 for length in lengths},
                },
                "attention": None if name == "lstm" else attention,
            },
        )
        rows = [
            [seed, step, None, 0.9 * step / 2000, 0.5 * step / 2000]
            for seed in range(3)
            for step in range(0, 2001, 250)
        ]
        header = "seed step batch_loss token_accuracy sequence_accuracy"
        write_csv(self.root / paths.curve("seq2seq", f"{task}_{name}"), header.split(), rows)

    def probes(self) -> None:
        matrix = [
            [1 / (row + 1) if column <= row else 0.0 for column in range(6)] for row in range(6)
        ]
        tiny = {"max_diff": 6e-8}
        self.save(
            "probes",
            "averaging",
            {"loop_vs_matmul": tiny, "loop_vs_softmax": tiny, "shuffle": tiny, "matrix": matrix},
        )
        self.save(
            "probes",
            "symmetry",
            {
                "permutation_equivariance": tiny,
                "set_operation": tiny,
                "rope_relative": tiny,
                "order_matters": {"min_diff": 0.3},
            },
        )
        self.save(
            "probes", "position_definitions", {"sinusoidal": tiny, "alibi": tiny, "rope": tiny}
        )
        self.save(
            "probes",
            "score_variance",
            {
                "widths": {
                    str(d): {
                        "variance": 1.01 * d,
                        "std": math.sqrt(1.01 * d),
                        "sqrt_d": math.sqrt(d),
                    }
                    for d in WIDTHS
                }
            },
        )
        frozen = dict(zip(WIDTHS, (0.0, 0.01, 0.17, 0.45, 0.697), strict=True))
        sharp = dict(zip(WIDTHS, (17.0, 4.0, 1.8, 1.1, 1.01), strict=True))
        self.save(
            "probes",
            "softmax_row",
            {
                "widths": {
                    str(d): {
                        "divided": {"largest_weight": 0.11, "effective_tokens": 39.0},
                        "undivided": {"largest_weight": 1 - 0.8 / d, "effective_tokens": sharp[d]},
                    }
                    for d in WIDTHS
                }
            },
        )
        self.save(
            "probes",
            "softmax_jacobian",
            {
                "widths": {
                    str(d): {
                        "divided": {
                            "trace": 0.958,
                            "frozen_rows": 0.0,
                            "effective_tokens": {"median": 39.0},
                        },
                        "undivided": {
                            "trace": 0.9 / math.sqrt(d),
                            "frozen_rows": frozen[d],
                            "effective_tokens": {"median": sharp[d]},
                        },
                    }
                    for d in WIDTHS
                }
            },
        )
        self.save(
            "probes",
            "equivalence",
            {
                "multihead_attention": tiny,
                "scaled_dot_product_attention": tiny,
                "mean_magnitude": 0.157,
            },
        )
        self.save(
            "probes",
            "parameters",
            {
                "gpt2": {
                    "token_embeddings": 38597376,
                    "position_embeddings": 786432,
                    "block": 7087872,
                    "blocks": 85054464,
                    "final_layernorm": 1536,
                    "total_tied": 124439808,
                    "total_built": 124439808,
                },
                "block_formula": {
                    kind: {str(d): 12 * d * d + 13 * d for d in (64, 128, 768)}
                    for kind in ("formula", "built")
                },
                "ffn_share": {"64": 0.664, "128": 0.665, "768": 0.6665},
                "one_block": {
                    "token_embedding": 131072,
                    "position_embedding": 16384,
                    "attention": 65664,
                    "feed_forward": 131712,
                    "layernorms": 768,
                    "output": 132096,
                },
                "ladder": {"four_heads_extra": 16512, "layernorm_extra": 768},
            },
        )
        self.save(
            "probes",
            "gradient_norms",
            {
                arrangement: {part: self.gradients(first * size) for part, size in parts.items()}
                for arrangement, first in (("pre", 0.05), ("post", 0.1))
                for parts in ({"block": 4.0, "output_projection": 1.0, "value": 1.4},)
            },
        )
        names = (
            "token_embedding",
            "position_embedding",
            *(f"block_{i}.{p}" for i in (1, 2) for p in ("attention", "feed_forward")),
        )
        self.save(
            "probes",
            "residual_stream",
            {
                "max_diff": 4e-7,
                "logits": {"max_diff": 5e-7},
                "pieces": [
                    {"name": name, "norm": 3.0 + index, "logit_norm": 9.0 - index}
                    for index, name in enumerate(names)
                ],
            },
        )

    def gradients(self, first: float) -> dict[str, Any]:
        norms = [self.seeds(first * (1 + 0.03 * block), 0.1) for block in range(12)]
        ratio = {seed: norms[-1]["per_seed"][seed] / norms[0]["per_seed"][seed] for seed in "012"}
        return {
            "norms": norms,
            "first": norms[0],
            "last": norms[-1],
            "ratio": spread({int(seed): value for seed, value in ratio.items()}),
        }

    def benchmarks(self) -> None:
        rows = []
        for tokens in (128, 256, 512, 1024, 2048, 4096, 8192, 16384):
            ms, out = 1.0 + tokens**1.95 / 9e3, tokens == 16384
            linear, fused = 0.4 + tokens / 150, 0.5 + tokens**1.8 / 1e4
            rows.append(
                {
                    "tokens": tokens,
                    "ms_total": None if out else _timing(ms),
                    "ms_projections": _timing(linear),
                    "score_matrix_mb": 8 * tokens**2 * 4 / 2**20,
                    "peak_mb": None if out else 12 + 16 * tokens**2 * 4 / 2**20,
                    "out_of_memory": out,
                    "fused": {
                        "ms": _timing(fused),
                        "peak_mb": 12 + tokens / 100,
                        "max_diff": None if out else 2e-7,
                    },
                    "ratio": {"time": None, "memory": None},
                }
            )
        self.save(
            "benchmarks",
            "attention_cost",
            {
                "device": "cpu",
                "memory_limit_gb": 8.0,
                "out_of_memory_at": 16384,
                "exponents": {"time": 1.93, "memory": 1.9, "fused_time": 1.7, "fused_memory": 0.8},
                "last_doubling": {"time": 3.86, "memory": 3.9},
                "projections": {"tokens_ratio": 8.0, "time_ratio": 8.3},
                "rows": rows,
            },
        )
        self.save(
            "benchmarks",
            "kv_cache",
            {
                "device": "cpu",
                "tokens": 512,
                "distinct_tokens": 300,
                "max_logit_diff": 3e-6,
                "mean_logit_magnitude": 0.5,
                "same_token": 512,
                "slopes": {"cached": 0.2, "uncached": 30.0},
                "bytes": {"measured": 4194304, "formula": 4194304},
                "rows": [
                    {
                        "prefix": prefix + 8.5,
                        "ms_cached": _timing(1.2 + prefix / 4000),
                        "ms_uncached": _timing(1.5 + prefix / 30),
                    }
                    for prefix in range(0, 512, 16)
                ],
            },
        )


def _timing(median: float) -> dict[str, Any]:
    return {"median": median, "low": 0.97 * median, "high": 1.08 * median, "n": 9}


def _stage(name: str) -> tuple[str, str]:
    group, _, entry = name.partition("@")
    return group, entry or group
