"""The record of a fetched document: its URL and digest, and whether the file has changed since."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any


def note_beside(path: Path) -> Path:
    """The path of the record next to a document."""
    return path.with_name(f"{path.name}.lock")


def noted(path: Path) -> dict[str, Any]:
    """The record of the document at ``path``; empty if it was not fetched."""
    try:
        found = json.loads(note_beside(path).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def digest(content: bytes) -> str:
    """The digest for the record."""
    return sha256(content).hexdigest()


def changed_since_fetched(path: Path, content: bytes) -> str:
    """A message if ``content`` differs from what was fetched, else an empty text."""
    note = noted(path)
    if not note or note.get("sha256") == digest(content):
        return ""
    name = note_beside(path).name
    return (
        f"{path.name} has changed since it was fetched from {note.get('url')} (see {name}): fetch it again with "
        f"react-run openapi fetch, or remove {name} if you changed the document yourself"
    )
