"""The environment in which DVC and the stages run, so that nothing need be activated."""

import os
import sys
from pathlib import Path


def environment(root: Path) -> dict[str, str]:
    """This process's environment, with this Python first on PATH and `root`'s source in front."""
    folder = str(Path(sys.executable).parent)
    return os.environ | {
        "PATH": os.pathsep.join([folder, os.environ.get("PATH", "")]),
        "PYTHONPATH": str((root / "src").resolve()),
        "DVC_NO_ANALYTICS": "1",
    }


def dvc() -> list[str]:
    """DVC as installed beside this Python."""
    return [sys.executable, "-m", "dvc"]
