"""Measure one quantity that needs no training.

Reads data/tokens.npz where the probe looks at real text, writes metrics/probes/NAME.json. Serves
the section that the probe's module names.
"""

from importlib import import_module

from remeasure import paths
from remeasure.commands import one_name, recorded, run_stage
from remeasure.params.probes import probe_settings
from remeasure.params.reading import read_params
from remeasure.records.files import write_json


def main(words: list[str]) -> None:
    """Take the name of the probe; write its record."""
    name = one_name(words, "python stages/probe.py NAME")
    settings = probe_settings(read_params(), name)
    probe = import_module(f"remeasure.probes.{name}")
    addresses = ["base", f"probes.{name}"]
    with recorded(paths.provenance("probes", name), [paths.TOKENS], addresses):
        record = probe.measure(settings)
    write_json(paths.metrics("probes", name), record)


if __name__ == "__main__":
    run_stage(main)
