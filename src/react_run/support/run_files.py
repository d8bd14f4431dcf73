"""Where a run keeps its own files, below the directory it works in."""

from __future__ import annotations

import re
from pathlib import Path

OURS = ".react-run"
"""The directory in a workspace that belongs to react-run."""


def run_folders(run_id: str) -> tuple[str, ...]:
    """The names of the directories, from the workspace down, that lead to the files of a run."""
    return OURS, "runs", safe_name(run_id)


def run_directory(workspace: Path, run_id: str) -> Path:
    """Where the run keeps its own files; it does not exist until something is written."""
    return workspace.joinpath(*run_folders(run_id))


def safe_name(name: str) -> str:
    """``name`` as one harmless path component."""
    return re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:64] or "_"
