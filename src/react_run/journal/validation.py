"""Finds the damage in an unusable journal: the first line that violates ``schema.json``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

_LARGEST = 2**53
_FIRST, _LAST = -62135596800, 253402300800
"""The beginnings of the years 1 and 10000."""


def damage_in(path: Path) -> str:
    """The first damage in a journal, with its line; nothing when every line is as it should be."""
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
    """Say so when a record keeps more messages than its run had by then.

    Args:
        record: The next record.
        lengths: How many messages each run had by then; updated.
    """
    if record["type"] == "header":
        lengths[record["run"]] = len(record["opening"])
    if "keep" not in record:
        return ""
    kept, had = record["keep"], lengths.get(record["run"], 0)
    lengths[record["run"]] = min(kept, had) + len(record["messages"])
    return f"keep: {kept} messages cannot be kept of {had}" if kept > had else ""


def _odd_number(record: object) -> str:
    """Which field of a record holds a number, or a moment, that no run can have had."""
    if not isinstance(record, dict):
        return ""
    used = record["usage"] if isinstance(record.get("usage"), dict) else {}
    for name, value in (*record.items(), *((f"usage: {name}", value) for name, value in used.items())):
        if isinstance(value, (int, float)) and not abs(value) < _LARGEST:  # also what is not a number
            return f"{name}: {str(value)[:40] if isinstance(value, float) else 'so large a number'} cannot be"
        if name == "time" and isinstance(value, (int, float)) and not _FIRST <= value < _LAST:
            return f"{name}: {value} is no moment between the years 1 and 9999"
    options = record.get("options")
    file = options.get("file", "") if isinstance(options, dict) else ""
    return "" if isinstance(file, str | None) else f"options: file: {file!r} is no path"
