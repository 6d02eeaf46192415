"""The text that a commit's model wrote. It is not in git but in DVC's cache, or a remote."""

from dataclasses import dataclass

from remeasure import paths
from remeasure.compare.revisions import Revision


@dataclass(frozen=True)
class Sample:
    """The text; or, if it is not to be had here, None and why."""

    text: str | None
    reason: str = ""


def read_sample(revision: Revision) -> Sample:
    """What the stage `train` of that commit wrote to models/sample.txt."""
    # Loading DVC takes a second, which whoever only reads git should not wait for.
    from dvc import api
    from dvc.exceptions import DvcException

    try:
        return Sample(api.read(paths.SAMPLE.as_posix(), rev=revision.commit, encoding="utf-8"))
    except (DvcException, OSError):
        return Sample(
            None,
            f"{paths.SAMPLE} of {revision.title} is not in DVC's cache here:"
            " 'dvc repro train' there writes it",
        )
