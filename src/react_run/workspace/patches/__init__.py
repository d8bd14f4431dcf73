"""Unified diffs of workspace files: parsed, checked against the files, and applied completely or not at all (behaviour
G2).
"""

from __future__ import annotations

from react_run.workspace.patches.applying import Changed, apply_patch
from react_run.workspace.patches.diff import PatchError

__all__ = ["Changed", "PatchError", "apply_patch"]
