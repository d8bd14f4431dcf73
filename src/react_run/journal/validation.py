"""Finds the damage in an unreadable journal: the first line that violates ``schema.json``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

_LARGEST = 2**53
_FIRST, _LAST = -62135596800, 253402300800
"""The start of year 1 and of year 10000, in seconds since 1970."""


def damage_in(path: Path) -> str:
    """Describe the first damage in a journal, with its line; empty if there is none."""
    return next(_damages(path), "")


def _damages(path: Path) -> Iterator[str]:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    schema = json.loads((files("react_run.journal") / "schema.json").read_text(encoding="utf-8"))
    validator = Draft202012Validator(schema)
    lengths: dict[object, int] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as problem:
            yield f"{path}:{number}: the journal is damaged here: this line is not JSON ({problem})"
            continue
        if odd := _odd_number(record):
            yield f"{path}:{number}: the journal is damaged here: {odd}"
            continue
        error = best_match(validator.iter_errors(record))
        if error is not None:
            where = "".join(f"{part}: " for part in error.absolute_path)
            yield f"{path}:{number}: the journal is damaged here: {where}{error.message[:200]}"
        elif missing := _messages_missing(record, lengths):
            yield f"{path}:{number}: the journal is damaged here: {missing}"


def _messages_missing(record: dict[str, Any], lengths: dict[object, int]) -> str:
    """Report a record that keeps more messages than its run had at that point.

    Args:
        record: The next record.
        lengths: How many messages each run has so far; updated.
    """
    if record["type"] == "header":
        lengths[record["run"]] = len(record["opening"])
    if "keep" not in record:
        return ""
    kept, had = record["keep"], lengths.get(record["run"], 0)
    lengths[record["run"]] = min(kept, had) + len(record["messages"])
    return f"keep: {kept} messages cannot be kept of {had}" if kept > had else ""


def _odd_number(record: object) -> str:
    """Name the field of a record whose number or time is impossible."""
    if not isinstance(record, dict):
        return ""
    used = record["usage"] if isinstance(record.get("usage"), dict) else {}
    for name, value in (*record.items(), *((f"usage: {name}", value) for name, value in used.items())):
        if isinstance(value, (int, float)) and not abs(value) < _LARGEST:  # true for NaN, too
            return f"{name}: {str(value)[:40] if isinstance(value, float) else 'this number'} is out of range"
        if name == "time" and isinstance(value, (int, float)) and not _FIRST <= value < _LAST:
            return f"{name}: {value} is not a time between the years 1 and 9999"
    options = record.get("options")
    file = options.get("file", "") if isinstance(options, dict) else ""
    return "" if isinstance(file, str | None) else f"options: file: {file!r} is not a path"
