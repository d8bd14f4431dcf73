"""The tree of tests/cases/paths.jsonl, built for real, and the attempts on it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

CASES = Path(__file__).parents[2] / "cases" / "paths.jsonl"
TREE, *ATTEMPTS = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
Attempt = dict[str, Any]  # a case: path, op, expect, reason


def build(parent: Path) -> Path:
    """The folder of the cases, below ``parent``, with what lies outside beside it."""
    tree = TREE["tree"]
    root = parent / "root"
    root.mkdir()
    for name in tree["dirs"]:
        (root / name).mkdir()
    for name, text in {**tree["files"], **tree["outside"]}.items():
        path = Path(os.path.normpath(root / name))
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name, target in tree["links"].items():
        (root / name).symlink_to(target)
    for name in tree["fifo"]:
        os.mkfifo(root / name)
    return root


def everything_outside(root: Path) -> dict[str, str]:
    """The content of all that must not be touched."""
    return {name: Path(os.path.normpath(root / name)).read_text() for name in TREE["tree"]["outside"]}
