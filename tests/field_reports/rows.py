"""The failing inputs of public bug reports, as rows: what went in, and what must come of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

TABLE = Path(__file__).parent.parent / "cases" / "field_reports.jsonl"
ROWS: list[Mapping[str, Any]] = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]


def rows(*kinds: str) -> list[object]:
    """The rows of some kinds, as parameters of a test."""
    return [pytest.param(row, id=row["id"]) for row in ROWS if row["kind"] in kinds]
