"""Imports the object that a dotted path names: from an installed package, or trusted code next to the agent file."""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit

from react_run.components.counterparts import counterpart
from react_run.components.errors import KindImportError, KindNotTrusted, UnknownKind, how_to_trust, install_hint, near
from react_run.errors import pass_on_interrupt


def import_path(path: str, directory: Path | None, *, trusted: bool) -> object:
    """Import the object that ``path`` (``package.module.Class`` or ``package.module:Class``) names.

    Args:
        path: The path in the agent file.
        directory: The directory of the agent file; ``None`` if there is no file.
        trusted: Whether code in ``directory`` may be loaded.

    Raises:
        ConfigError: The path is malformed, or points to nothing, into the standard library, or to untrusted code.
        PluginError: Importing it failed.
    """
    module_name, separator, attribute = path.partition(":")
    if not separator:
        module_name, _, attribute = path.rpartition(".")
    if not _is_dotted(f"{module_name}.{attribute}"):
        raise UnknownKind(f"{path!r} is not a path such as package.module.Class")
    target: object = import_module(module_name, directory, trusted=trusted, path=path)
    for name in attribute.split("."):
        if not hasattr(target, name):
            raise UnknownKind(f"module {module_name!r} has no {attribute!r}.{near(name, dir(target))}")
        target = getattr(target, name)
    return target


def import_module(name: str, directory: Path | None, *, trusted: bool, path: str = "") -> ModuleType:
    """Import the module ``name``, installed or in ``directory``; messages call it ``path``.

    Raises:
        ConfigError: The name is malformed, in the standard library, or that of code that is not trusted.
        PluginError: Importing it failed.
    """
    path = path or name
    if not _is_dotted(name):
        raise UnknownKind(f"{path!r} is not the name of a module such as package.module")
    package = name.partition(".")[0]
    if package in sys.stdlib_module_names:
        raise UnknownKind(f"{path!r} is in the standard library; name an object of an installed package")
    with _importable(package, path, directory, trusted):
        return _import(name, path)


def _is_dotted(path: str) -> bool:
    return all(part.isidentifier() and not part.startswith("__") for part in path.split("."))


@contextmanager
def _importable(package: str, path: str, directory: Path | None, trusted: bool) -> Iterator[None]:
    """Make ``package`` importable from next to the agent file if it is there and trusted; refuse it if not trusted."""
    if directory is None or not _beside(package, directory):
        yield
        return
    if not trusted:
        raise KindNotTrusted(
            f"{path!r} is code next to the agent file, which runs only from a trusted directory: "
            f"{how_to_trust(directory)}"
        )
    _forget_other(package, directory)
    where = str(directory.resolve())
    sys.path.insert(0, where)
    try:
        yield
    finally:
        sys.path.remove(where)


def _beside(package: str, directory: Path) -> bool:
    """Whether ``package`` comes from ``directory`` or the working directory rather than from an installation."""
    origin = _origin(package)
    if origin is not None and _in_installation(origin):
        return False
    if any((directory / name).exists() for name in (package, f"{package}.py")):
        return True
    return origin is not None and any(origin.is_relative_to(tree) for tree in (directory.resolve(), Path.cwd()))


def _origin(package: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    locations = list(spec.submodule_search_locations or ())
    origin = spec.origin if spec.has_location and spec.origin else locations[0] if locations else None
    return Path(origin).resolve() if origin else None


def _in_installation(origin: Path) -> bool:
    paths = sysconfig.get_paths()
    if any(origin.is_relative_to(Path(paths[name]).resolve()) for name in ("purelib", "platlib", "stdlib")):
        return True
    return any(origin.is_relative_to(project) for project in _editable_projects())


@cache
def _editable_projects() -> tuple[Path, ...]:
    """The source trees that were installed with ``pip install -e``."""
    from urllib.request import url2pathname  # it imports an HTTP client

    projects = []
    for distribution in metadata.distributions():
        record = json.loads(distribution.read_text("direct_url.json") or "{}")
        if record.get("dir_info", {}).get("editable"):
            projects.append(Path(url2pathname(urlsplit(record["url"]).path)).resolve())
    return tuple(projects)


def _forget_other(package: str, directory: Path) -> None:
    """Forget a module of the same name that was imported for another agent file."""
    origin = _origin(package) if package in sys.modules else None
    if origin is not None and not origin.is_relative_to(directory.resolve()):
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            del sys.modules[name]


def _import(module_name: str, path: str) -> ModuleType:
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        hint = counterpart(path) or install_hint(error) or "Is its package installed?"
        raise KindImportError(f"cannot import {module_name!r} for {path!r}: {error}. {hint}") from error
    except (Exception, SystemExit) as error:
        pass_on_interrupt(error)
        raise KindImportError(
            f"importing {module_name!r} for {path!r} failed: {type(error).__name__}: {error}"
        ) from error
