"""The per-user directories of react-run; ``REACT_RUN_HOME`` puts everything into one directory."""

from __future__ import annotations

import os
from pathlib import Path

HOME = "REACT_RUN_HOME"


def data_directory() -> Path:
    """The directory for journals and conversations."""
    from platformdirs import user_data_path

    return _below_home("data") or user_data_path("react-run")


def config_directory() -> Path:
    """The directory for the user's decisions, such as trusted directories."""
    from platformdirs import user_config_path

    return _below_home("config") or user_config_path("react-run")


def state_directory() -> Path:
    """The directory for input history and other things that may be lost."""
    from platformdirs import user_state_path

    return _below_home("state") or user_state_path("react-run")


def from_home(path: str | Path) -> Path:
    """Expand ``~`` and ``~name`` in ``path``; unchanged if there is no such user."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        return Path(path)


def _below_home(name: str) -> Path | None:
    home = os.environ.get(HOME)
    return from_home(home) / name if home else None
