"""Outside packages, as an installer leaves them: a module and its dist-info, generated for one test."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from react_run.components.kinds import forget_installed


def install(
    site: Path, name: str, module: str, entry_points: Mapping[str, str], *, version: str = "1.0", group: str = "plugins"
) -> None:
    """Install the distribution ``name`` into ``site``.

    Args:
        site: A directory that will be on the path.
        name: The name of the distribution; its module is called the same, with underscores.
        module: The source of the module.
        entry_points: Kind → ``module:Class``.
        version: Its version.
        group: The group of its entry points.
    """
    site.mkdir(parents=True, exist_ok=True)
    plain = name.replace("-", "_")
    (site / f"{plain}.py").write_text(module, encoding="utf-8")
    info = site / f"{plain}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [f"[react_run.{group}]", *(f"{kind} = {target}" for kind, target in entry_points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    (info / "RECORD").write_text("")
    (info / "INSTALLER").write_text("pip\n")


@contextmanager
def on_path(site: Path) -> Iterator[Path]:
    """Have what is in ``site`` found like any installed package."""
    before = set(sys.modules)
    sys.path.insert(0, str(site))
    importlib.invalidate_caches()
    forget_installed()
    try:
        yield site
    finally:
        sys.path.remove(str(site))
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(str(site)):
                del sys.modules[name]
        importlib.invalidate_caches()
        forget_installed()
