"""Second chances for values that are not yet what they stand for: numbers from variables, text from files."""

from __future__ import annotations

import math
from collections.abc import Callable

from pydantic import ValidationError

from react_run.config.yaml import Node, TreeReader, locate

_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def coerce_values(tree: Node, error: ValidationError, reader: TreeReader | None) -> bool:
    """Read again what ``error`` complains about, where that is allowed; whether anything changed."""
    changed = False
    for found in error.errors(include_url=False):
        node, missing = locate(tree, found["loc"])
        if missing:
            continue
        if node.variables and (read := _READERS.get(found["type"])):
            changed |= _from_variable(node, read)
        elif found["type"] == "string_type" and reader is not None and set(node.mapping) == {"file"}:
            changed |= _from_file(node, reader)
    return changed


def _from_variable(node: Node, read: Callable[[str], object]) -> bool:
    if not isinstance(node.value, str):
        return False
    try:
        node.value = read(node.value.strip())
    except (ValueError, KeyError):
        return False
    return True


def _from_file(node: Node, reader: TreeReader) -> bool:
    if not isinstance(node.mapping["file"].value, str):
        return False
    text = reader.read_file_text(node)
    node.value = "missing" if text is None else text  # that it is missing is in the report by now: once is enough
    return True


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("not finite")
    return number


_READERS: dict[str, Callable[[str], object]] = {
    "int_type": int,
    "float_type": _finite,
    "bool_type": lambda text: _WORDS[text.lower()],
}
