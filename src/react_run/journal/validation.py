"""What is wrong with a journal that cannot be used: the first line that is not as ``schema.json`` has it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path


def damage_in(path: Path) -> str:
    """The first damage in a journal, with its line; nothing when every line is as it should be."""
    return next(_damages(path), "")


def _damages(path: Path) -> Iterator[str]:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    schema = json.loads((files("react_run.journal") / "schema.json").read_text(encoding="utf-8"))
    validator = Draft202012Validator(schema)
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as problem:
            yield f"{path}:{number}: the journal is damaged here: this line is not JSON ({problem})"
            continue
        error = best_match(validator.iter_errors(record))
        if error is not None:
            where = "".join(f"{part}: " for part in error.absolute_path)
            yield f"{path}:{number}: the journal is damaged here: {where}{error.message[:200]}"
