"""Measure what something costs on this machine: one entry of `benchmarks`.

Writes metrics/benchmarks/NAME.json. Serves the section that the module of the same name names.
"""

from remeasure import paths
from remeasure.benchmarks import benchmark
from remeasure.commands import one_name, recorded, run_stage
from remeasure.params.reading import read_params, section
from remeasure.records.files import write_json


def main(words: list[str]) -> None:
    """Take the name of the benchmark; write its record."""
    name = one_name(words, "python stages/benchmark.py NAME")
    address = f"benchmarks.{name}"
    settings = section(read_params(), address)
    measure = benchmark(name)
    with recorded(paths.provenance("benchmarks", name), [], [address]):
        record = measure(settings)
    write_json(paths.metrics("benchmarks", name), record)


if __name__ == "__main__":
    run_stage(main)
