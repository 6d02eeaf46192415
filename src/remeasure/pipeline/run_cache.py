"""DVC's run cache, entry by entry: what a command made of which inputs, and whether that is here.

An entry is a file KEY/VALUE: the key is the hash of command, parameters and inputs, the value that
of these and the outputs. It names outputs by their MD5, also those that are kept in git.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dvc.stage.cache import _get_cache_hash, _get_stage_hash
from dvc.stage.serialize import to_single_stage_lockfile


class Entry:
    """What one run of a stage's command made, as the run cache or dvc.lock has it.

    `content` is that of the file; `folder` the stage's working folder.
    """

    def __init__(self, repo: Any, name: str, content: Mapping[str, Any], folder: str) -> None:
        self._cache = repo.cache.local
        self._run = repo.stage_cache._create_stage(content, wdir=folder)
        self.name = name
        """KEY/VALUE."""

    @property
    def named(self) -> set[str]:
        """The objects that the entry itself names: a folder's list, not the files in it."""
        return {out.hash_info.value for out in self._run.outs}

    @property
    def objects(self) -> set[str]:
        """All objects, files in folders included; the lists of folders must be in DVC's cache."""
        used = self._run.get_used_objs(force=True)
        return {each.value for group in used.values() for each in group}

    @property
    def is_here(self) -> bool:
        """Whether DVC's cache has every object, so that DVC would restore the outputs."""
        return all(map(self._cache.exists, self.named)) and all(
            map(self._cache.exists, self.objects)
        )


def file_of(repo: Any, name: str) -> Path:
    """Where the entry of this name (KEY/VALUE) is kept here."""
    return Path(repo.stage_cache.cache_dir, name[:2], name)


def names(repo: Any) -> list[str]:
    """The entries that are here, KEY/VALUE."""
    files = Path(repo.stage_cache.cache_dir).glob("[0-9a-f][0-9a-f]/*/*")
    return sorted(f"{file.parent.name}/{file.name}" for file in files if "." not in file.name)


def read(repo: Any, name: str) -> Entry | None:
    """The entry of this name; None if its file is damaged (DVC then removes it)."""
    content = repo.stage_cache._load_cache(*name.split("/"))
    return Entry(repo, name, content, repo.root_dir) if content else None


def keep(stage: Any) -> Entry:
    """Put what an up-to-date stage made into DVC's cache, what git keeps included; its entry.

    DVC does this itself after it ran a stage, but not for a stage whose results came with git, nor
    for outputs that are neither metrics nor plots and are kept in git.
    """
    stage.repo.stage_cache.save(stage)
    return _recorded(stage)


def to_restore(stage: Any) -> Entry | None:
    """What DVC would restore instead of running a stale stage, by DVC's own rule.

    What dvc.lock has if only outputs differ from it; else the newest entry for these inputs; None
    if there is none. The stage's inputs must be there.
    """
    if (
        not stage.changed_stage()
        and stage.deps_cached()
        and all(out.hash_info for out in stage.outs)
    ):
        return _recorded(stage)
    stage.save_deps()
    content = stage.repo.stage_cache._load(stage)
    if content is None:
        return None
    name = f"{_get_stage_hash(stage)}/{_get_cache_hash(content)}"
    return Entry(stage.repo, name, content, stage.wdir)


def _recorded(stage: Any) -> Entry:
    content = to_single_stage_lockfile(stage)
    name = f"{_get_stage_hash(stage)}/{_get_cache_hash(content)}"
    return Entry(stage.repo, name, content, stage.wdir)
