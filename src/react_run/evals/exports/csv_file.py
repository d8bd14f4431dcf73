"""Samples as a table with a row per run and a column per scorer."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from react_run.evals.samples import read_samples

COLUMNS = (
    "case",
    "variant",
    "repeat",
    "outcome",
    "answer",
    "why",
    "stop_reason",
    "tokens",
    "cost",
    "seconds",
    "run_id",
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write(result: Mapping[str, Any], directory: Path, path: Path) -> list[Path]:
    """Write the table; see :func:`react_run.evals.exports.export`."""
    scorers = list(dict.fromkeys(label for measured in result["variants"] for label in measured["scorers"]))
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow([*COLUMNS, *(f"score: {label}" for label in scorers)])
        for sample in read_samples(directory):
            values = {**{name: getattr(sample, name) for name in COLUMNS}, "repeat": sample.repeat + 1}
            marks = {mark["scorer"]: mark["value"] for mark in sample.marks}
            table.writerow([*map(_cell, values.values()), *(marks.get(label, "") for label in scorers)])
    return [path]


def _cell(value: object) -> object:
    """A cell that no spreadsheet takes for a formula, since models write the answers."""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return "" if value is None else value
