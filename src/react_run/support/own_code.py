"""Knows where the code of this process comes from, so that nothing an agent writes becomes part of it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import cache_from_source
from pathlib import Path
from types import ModuleType

PACKAGES = ("react_run", "react_toolsets", "react_plugins", "react_offline")
"""Our own packages."""
_STARTED = time.time() - 0.02
"""When this process started, or slightly earlier, because the clock of a file system may lag."""


def own_code() -> list[Path]:
    """The directories with the code of this process: its virtual environment, its Python, and our packages."""
    packages = (path for name in PACKAGES for path in getattr(sys.modules.get(name), "__path__", ()))
    return sorted({Path(path).resolve() for path in (sys.prefix, sys.base_prefix, *packages)})


def is_own_code(root: Path, parts: Sequence[str]) -> bool:
    """Whether a file below ``root`` is part of our code, or in any virtual environment there.

    Args:
        root: A directory.
        parts: The names that lead from there to the file; none of them is a link, or it is not written anyway.
    """
    root = root.resolve()
    real = root.joinpath(*parts)
    base = Path(sys.base_prefix).resolve()
    if any(real.is_relative_to(code) for code in own_code() if code != base):
        return True
    return any((above / "pyvenv.cfg").is_file() for above in real.parents if above.is_relative_to(root))


class _Guard(MetaPathFinder):
    """Finds modules as usual, except those written after the start of this process where an agent may write."""

    def __init__(self) -> None:
        self.places: set[Path] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not self.places or not any(map(self._is_writable, sys.path if path is None else path)):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or not self._is_new(spec):
            return None
        raise ImportError(f"{fullname} was written while this process ran ({spec.origin}), so it is not imported")

    def _is_writable(self, entry: str) -> bool:
        directory = Path(entry or ".").resolve()
        return any(directory.is_relative_to(place) or place.is_relative_to(directory) for place in self.places)

    def _is_new(self, spec: ModuleSpec) -> bool:
        return any(map(self._was_written, _files_of(spec)))

    def _was_written(self, file: Path) -> bool:
        """Whether ``file``, or a directory containing it, is new; moved files count as new."""
        real = file.resolve()
        above = [place for place in self.places if real.is_relative_to(place)]
        return bool(above) and any(_changed(path) >= _STARTED for path in (real, real.parent) if path not in above)


def _files_of(spec: ModuleSpec) -> Iterable[Path]:
    if spec.origin is None or not spec.has_location:
        return [Path(place) for place in spec.submodule_search_locations or ()]
    files = [Path(spec.origin)]
    if spec.origin.endswith(".py"):
        files.append(Path(cache_from_source(spec.origin)))
    return [file for file in files if file.exists()]


def _changed(path: Path) -> float:
    try:
        return os.stat(path).st_ctime
    except OSError:
        return time.time()


_GUARD = _Guard()


def guard_imports(directory: Path) -> None:
    """From now on, do not import anything written below ``directory`` after the start of this process.

    An agent may write there: its module, with the name of one that we import lazily, would run in this process.
    """
    _GUARD.places.add(directory.resolve())
    if _GUARD not in sys.meta_path:
        sys.meta_path.insert(0, _GUARD)
