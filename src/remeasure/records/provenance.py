"""Where it stands how a stage ran."""

from pathlib import Path

from remeasure import paths


def provenance_of(stage: str) -> Path:
    """The file of a stage by its whole name, such as `ablation@one_block` or `train`."""
    group, _, entry = stage.partition("@")
    return paths.provenance_of_stage(group, entry or group)
