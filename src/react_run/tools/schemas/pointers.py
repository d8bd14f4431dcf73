"""Resolves ``$ref`` within a schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from react_run.errors import ToolsetError


def pointed(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema at ``reference``; ``{}`` for true and false.

    Raises:
        ToolsetError: It leads out of the schema, or nowhere.
    """
    node: Any = root
    if not reference.startswith("#"):
        raise ToolsetError(f"$ref {reference!r} leads out of the schema; nothing is fetched", code="tool.schema")
    for part in filter(None, reference[1:].split("/")):
        key = unquote(part).replace("~1", "/").replace("~0", "~")
        try:
            node = node[int(key)] if isinstance(node, list) else node[key]
        except (LookupError, ValueError, TypeError):
            raise ToolsetError(f"$ref {reference!r} points to nothing in the schema", code="tool.schema") from None
    return node if isinstance(node, Mapping) else {}
