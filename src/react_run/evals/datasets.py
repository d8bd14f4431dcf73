"""Cases read from the rows of a file: JSON lines, or a table with a header, with a mapping of columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from react_run.batch.inputs import BadRow, filled, records
from react_run.components import Options, Origin
from react_run.components.option_errors import problem
from react_run.config.texts import note_errors
from react_run.config.yaml import AgentFileError, Place, Report, Source, wrap
from react_run.evals.cases import Case, CasePath

DATASETS = frozenset((".jsonl", ".csv", ".tsv", ".tab"))
"""Extensions of files whose rows are cases."""
_FIELD = re.compile(r"\{([^{}]*)\}")
_TABLES = (".csv", ".tsv", ".tab")
_WRONG = 100
"""The number of problems after which further rows are not checked: they probably all have the same one."""


class Dataset(Options):
    """Cases that are rows of a file: JSON lines, or a table with a header."""

    file: CasePath
    """The file: `.jsonl`, `.csv` or `.tsv`."""
    prompt: str | None = None
    """The prompt: a template with the fields of a row, such as `"{question}"`. Without it, the fields of a row are the
    keys of a case."""
    expected: Any = None
    """The expected value: a template, such as `"{answer}"`; a single field keeps its type."""
    name: str | None = None
    """A template for the names of cases; by default the row's `name`, `id` or place."""
    tags: list[str] = Field(default_factory=list)
    """Templates for tags."""
    messages: str | None = None
    """The field with the conversation so far, such as `"{history}"`."""
    format: str | None = Field(default=None, pattern="^(jsonl|csv|tsv)$")
    """`jsonl`, `csv` or `tsv`; by default that of the file's extension."""
    limit: int | None = Field(default=None, ge=1)
    """Only the first rows."""

    @model_validator(mode="after")
    def _maps_something(self) -> Dataset:
        others = [name for name in ("expected", "name", "tags", "messages") if getattr(self, name) not in (None, [])]
        if self.prompt is None and others:
            raise problem(
                "cfg.missing_key", f"'prompt' is missing: {others[0]!r} is a template, so it must be one, too"
            )
        return self


def cases_of_dataset(path: Path, mapping: Dataset | None, origin: Origin, known: Sequence[Case] = ()) -> list[Case]:
    """Read the cases of a file.

    Args:
        path: The file.
        mapping: Maps the file's fields to a case's keys; without one, they have the same names.
        origin: The directory that relative paths start from.
        known: Cases whose names are already taken.

    Raises:
        AgentFileError: Some rows are not cases; each is named with its position, up to a hundred problems.
    """
    report, form, limit = Report(), None, None
    if mapping is not None:
        form, limit = mapping.format, mapping.limit
        mapping = mapping if mapping.prompt is not None else None
    source = Source(str(path), path=path)
    seen = {case.name: "" for case in known}
    cases = []
    for number, (place, data) in enumerate(islice(records(path, form), limit), 1):
        where = Place(source, int(place.rpartition(":")[2]), 1)
        if len(report.problems) >= _WRONG:
            report.add("cfg.value", "the rest was not checked: fix the problems above first", where)
            break
        try:
            values = _values(data, mapping, f"{path.stem}:{number}", table=path.suffix.lower() in _TABLES)
            case = Case.model_validate(values, context=origin)
        except BadRow as error:
            report.add("cfg.value", str(error), where)
            continue
        except ValidationError as error:
            note_errors(error, wrap(values, where), report)
            continue
        if case.name in seen:
            first = f", as in {seen[case.name]}" if seen[case.name] else ""
            report.add("cfg.value", f"the case is called {case.name!r}{first}: names must differ", where)
        seen[case.name] = place
        cases.append(case)
    if not cases and not report.problems:
        report.add("cfg.missing_key", "there are no cases in this file", Place(source))
    if report.problems:
        raise AgentFileError(report.problems)
    return cases


def _values(data: object, mapping: Dataset | None, name: str, *, table: bool) -> dict[str, Any]:
    if isinstance(data, BadRow):
        raise data
    if isinstance(data, str):
        data = {"prompt": data}
    if not isinstance(data, Mapping):
        raise BadRow(f"must be an object with 'prompt', not {type(data).__name__}")
    values = dict(data)
    if mapping is None:
        if "id" in values:
            values.setdefault("name", str(values.pop("id")))
        if table:
            values = {key: _of_cell(key, cell) for key, cell in values.items() if cell != ""}
        return {"name": name, **values}
    made: dict[str, Any] = {"name": _name(mapping, values, name), "prompt": filled(str(mapping.prompt), values)}
    if mapping.expected is not None:
        made["expected"] = _fill(mapping.expected, values)
    if mapping.messages is not None:
        made["messages"] = _fill(mapping.messages, values)
    made["tags"] = [filled(tag, values) for tag in mapping.tags]
    return made


def _name(mapping: Dataset, values: Mapping[str, object], name: str) -> str:
    if mapping.name is not None:
        return filled(mapping.name, values)
    return str(values.get("name") or values.get("id") or name)


def _fill(template: object, values: Mapping[str, Any]) -> object:
    """Fill in a template; a single field, such as ``{answer}``, keeps its type."""
    if isinstance(template, str):
        alone = _FIELD.fullmatch(template)
        return values[alone[1]] if alone and alone[1] in values else filled(template, values)
    if isinstance(template, list):
        return [_fill(item, values) for item in template]
    if isinstance(template, Mapping):
        return {key: _fill(item, values) for key, item in template.items()}
    return template


_NUMBERS = ("repeat", "max_iterations", "weight")


def _of_cell(key: str, cell: object) -> object:
    """Convert a cell of a table, which is always text, to the type of its key."""
    text = str(cell)
    if key in _NUMBERS:
        try:
            return float(text) if key == "weight" else int(text)
        except ValueError:
            return text
    if key in ("tags", "tools"):
        return list(_parts(text))
    if key == "success" and text.lower() in ("true", "false"):
        return text.lower() == "true"
    return text


def _parts(text: str) -> Iterator[str]:
    return filter(None, (part.strip() for part in text.split(",")))
