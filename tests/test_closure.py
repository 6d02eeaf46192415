"""The import closure follows what Python would run."""

from pathlib import Path

from remeasure.closure import import_closure


def test_it_follows_imports_of_every_form(tmp_path: Path) -> None:
    package = tmp_path / "src" / "remeasure"
    (package / "inner").mkdir(parents=True)
    sources = {
        "__init__.py": "",
        "a.py": "import os\nfrom remeasure import b\n",
        "b.py": "def f():\n    import remeasure.inner.c\n",
        "unused.py": "",
        "inner/__init__.py": "",
        "inner/c.py": "from remeasure.a import g\n",
    }
    for name, text in sources.items():
        (package / name).write_text(text)
    (tmp_path / "stage.py").write_text("from remeasure.a import f\n")
    found = import_closure(Path("stage.py"), tmp_path)
    names = {str(path).removeprefix("src/remeasure/") for path in found}
    assert names == {"stage.py", *sources} - {"unused.py"}
