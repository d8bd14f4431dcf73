"""Documents that were fetched: what came from where, and whether the file still is that."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any


def note_beside(path: Path) -> Path:
    """The file beside a document that says where it came from."""
    return path.with_name(f"{path.name}.lock")


def noted(path: Path) -> dict[str, Any]:
    """What is noted about the document at ``path``; nothing when it was not fetched."""
    try:
        found = json.loads(note_beside(path).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def digest(content: bytes) -> str:
    """The digest that is noted."""
    return sha256(content).hexdigest()


def changed_since_fetched(path: Path, content: bytes) -> str:
    """What to say when ``content`` is not what was fetched; nothing when it is, or was never fetched."""
    note = noted(path)
    if not note or note.get("sha256") == digest(content):
        return ""
    name = note_beside(path).name
    return (
        f"{path.name} is not what was fetched from {note.get('url')} (see {name}): fetch it again with "
        f"react-run openapi fetch, or remove {name} where you changed the document yourself"
    )
