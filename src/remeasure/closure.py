"""Which source files a script depends on: those of this project that it imports, or they import.

DVC does not follow imports, so dvc.yaml lists them; a test compares the two.
"""

import ast
from pathlib import Path

SOURCE = Path("src")
PACKAGE = "remeasure"


def import_closure(script: Path, root: Path = Path()) -> list[Path]:
    """The script and every file of the package that it reaches, relative to `root`, sorted.

    Imports are read from the source text, those inside functions included. The `__init__` files on
    the way count, since Python runs them.
    """
    found: set[Path] = set()
    waiting = [script]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imported(path, root)
    return sorted(found)


def _imported(path: Path, root: Path) -> list[Path]:
    names: set[str] = set()
    for node in ast.walk(ast.parse((root / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return [file for name in names for file in _files(name, root)]


def _files(name: str, root: Path) -> list[Path]:
    parts = name.split(".")
    if parts[0] != PACKAGE:
        return []
    packages = [SOURCE.joinpath(*parts[:end], "__init__.py") for end in range(1, len(parts) + 1)]
    module = SOURCE.joinpath(*parts).with_suffix(".py")
    return [path for path in [*packages, module] if (root / path).is_file()]
