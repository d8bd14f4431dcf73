"""Describes pydantic's errors, with position, key path and fix."""

from __future__ import annotations

import re
from typing import Any

from pydantic import ValidationError

from react_run.components.errors import near
from react_run.components.kinds import OURS, kind_named
from react_run.config.wrapper_levels import LEVELS
from react_run.config.yaml import Node, Report, locate

_TYPES = {
    "int_type": "a whole number (integer)",
    "int_parsing": "a whole number (integer)",
    "int_from_float": "a whole number (integer)",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false (a boolean)",
    "bool_parsing": "true or false (a boolean)",
    "string_type": "text (a string)",
    "path_type": "a path: text (a string)",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "dict_type": "a mapping (key: value)",
    "mapping_type": "a mapping (key: value)",
    "model_type": "a mapping (key: value)",
    "model_attributes_type": "a mapping (key: value)",
}
_RANGES = {
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le}",
    "finite_number": "a finite number",
    "too_long": "a list of at most {max_length} entries",
    "too_short": "a list of at least {min_length} entries",
    "string_too_long": "of at most {max_length} characters",
}

_SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}

GROUP_OF = {
    "model": "models",
    "fallback_models": "models",
    "toolsets": "toolsets",
    "checks": "checks",
    **dict.fromkeys(("plugins", "failure_handling", "tool_disclosure", *LEVELS), "plugins"),
}
"""The component group of each key."""


def note_errors(error: ValidationError, tree: Node, report: Report) -> None:
    """Add every error that pydantic found in ``tree`` to the report."""
    for found in error.errors(include_url=False):
        node, missing = locate(tree, found["loc"])
        code, text = _explained(found, node, missing)
        place = node.key_place if code == "cfg.unknown_key" and node.key_place else node.place
        path = (*node.path, *missing[:1]) if found["type"] == "missing" else node.path
        report.add(code, f"{text}{_outside(tree, found['loc'])}", place, path)


def _outside(tree: Node, loc: tuple[str | int, ...]) -> str:
    """The outside package whose option is wrong, if any."""
    group = GROUP_OF.get(str(loc[0]) if loc else "")
    if group is None or loc[-1] == "kind":
        return ""
    for end in range(len(loc) - 1, 0, -1):
        node, missing = locate(tree, loc[:end])
        named = node.mapping.get("kind")
        kind = kind_named(group, str(named.value)) if named is not None and not missing else None
        if kind is not None:
            return "" if kind.distribution == OURS else f" (an option of {kind.origin})"
    return ""


def _explained(found: Any, node: Node, missing: tuple[str | int, ...]) -> tuple[str, str]:
    kind, context = found["type"], found.get("ctx", {})
    if kind.startswith("cfg."):
        return kind, f"{found['msg']}{_instead(node) if node.variables and kind == 'cfg.type' else ''}"
    if kind == "missing":
        return "cfg.missing_key", f"{missing[0] if missing else found['loc'][-1]!r} is missing"
    if kind == "extra_forbidden":
        return "cfg.unknown_key", f"unknown key {found['loc'][-1]!r}"
    if node.path == ("version",):
        if str(node.value) == "1":
            return "cfg.version", "must be the number 1: write version: 1, without quotes"
        return "cfg.version", f"version {_shown(node)} is unknown; this react-run reads version 1"
    if kind in _TYPES:
        return "cfg.type", f"must be {_TYPES[kind]}{_instead(node)}{_mend(kind, node)}"
    if kind in _RANGES:
        instead = f", not of {len(node.value)}" if isinstance(node.value, list) else _instead(node)
        return "cfg.range", f"must be {_RANGES[kind].format(**context)}{instead}"
    if kind == "string_too_short":
        return "cfg.type", f"must not be empty{_instead(node)}"
    if kind in ("literal_error", "enum"):
        names = [name.strip("' ") for name in str(context["expected"]).replace(" or ", ", ").split(",")]
        return "cfg.enum", f"must be {context['expected']}{_instead(node)}.{near(str(node.value), names)}".removesuffix(
            "."
        )
    return "cfg.value", str(found["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")


def _instead(node: Node) -> str:
    if node.variables:
        names = ", ".join(node.variables)
        return f", but ${{{names}}} is {'empty' if node.value == '' else 'something else'}"
    match node.value:
        case bool() if node.raw and node.raw.lower() not in ("true", "false"):
            return f", not {node.raw}, which YAML reads as {str(node.value).lower()}"
        case bool() | int() | float():
            return f", not {_shown(node)}"
        case str():
            return f", not the text {node.value[:60]!r}"
        case None:
            return ", not nothing (null)"
        case list():
            return ", not a list"
        case dict():
            return ", not a mapping"
        case value:
            return f", not {type(value).__name__}"


def _shown(node: Node) -> str:
    return node.raw or str(node.value)


def _mend(kind: str, node: Node) -> str:
    if kind in ("list_type", "tuple_type", "set_type") and node.place is not None and node.place.line:
        return ": one '- entry' per line"
    if not node.raw or node.variables:
        return ""
    if kind == "string_type":
        return f'; quote it when text is meant: "{node.raw}"'
    time = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?) ?([smhd])", node.raw) if kind.startswith(("int", "float")) else None
    if time and re.search("timeout|seconds", str(node.path[-1])):
        return f"; write seconds: {float(time[1]) * _SECONDS[time[2]]:.9g}"
    numeric = kind.startswith(("int", "float")) and re.fullmatch(r"[-+]?[\d.]+", node.raw)
    flag = kind.startswith("bool") and node.raw in ("true", "false")
    return "; write it without quotes" if isinstance(node.value, str) and (numeric or flag) else ""
