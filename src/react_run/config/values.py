"""Converts values that need a second step: numbers from variables, text from files."""

from __future__ import annotations

import math
from collections.abc import Callable

from pydantic import ValidationError

from react_run.config.yaml import Node, Report, TreeReader, locate
from react_run.config.yaml.scalars import is_text_elsewhere

_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def coerce_values(tree: Node, error: ValidationError, reader: TreeReader | None) -> bool:
    """Convert the values that ``error`` complains about, if allowed, and return whether anything changed."""
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
    node.value = "missing" if text is None else text  # the report already says that it is missing
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


_FREE = frozenset({"metadata", "model_settings", "settings", "output_schema", "schema", "arguments"})
"""Keys under which no field says whether a number or text is expected."""


def note_ambiguous(tree: Node, report: Report) -> None:
    """Report numbers that older YAML reads as text (``1e3``, or a short commit hash) if the type is not known."""
    pending = [(tree, False)]
    while pending:
        node, free = pending.pop()
        if isinstance(node.value, dict):
            pending += [(item, free or key in _FREE) for key, item in node.mapping.items()]
        elif isinstance(node.value, list):
            pending += [(item, free) for item in node.items]
        elif free and isinstance(node.value, float) and is_text_elsewhere(node.raw) and node.place is not None:
            text = f"{node.raw} is text for YAML 1.1 and a number for YAML 1.2; quote it, or write {_written(node)}"
            report.add("yaml.ambiguous", text, node.place, node.path)


def _written(node: Node) -> str:
    """A number in a form that every YAML version reads as a number."""
    mantissa, _, exponent = node.raw.lower().partition("e")
    point = mantissa if "." in mantissa else f"{mantissa}.0"
    return f"{point}e{exponent if exponent[0] in '+-' else f'+{exponent}'}"
