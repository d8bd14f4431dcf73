"""Reads rows from a file: JSON lines, CSV, or a prompt per line."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from react_run.batch.rows import Row
from react_run.errors import ConfigError

FORMATS = ("jsonl", "csv", "tsv", "text")
_ENDINGS = {".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".txt": "text"}
_FIELD = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")
_KEYS = ("prompt", "id", "messages", "vars")


class BadRow(Exception):  # an outcome of one row, not an error of the batch
    """A row that cannot be run, and why."""


def read_rows(
    path: Path, *, form: str | None = None, prompt: str | None = None, id_field: str = "id", limit: int | None = None
) -> Iterator[Row]:
    """The rows of a file, one by one; those that cannot be run say why in ``problem``.

    Args:
        path: The file.
        form: ``jsonl``, ``csv``, ``tsv`` or ``text``; by the file's ending when not given.
        prompt: A template such as ``Summarise {text}``; a row's own ``prompt`` when not given.
        id_field: The field that names a row.
        limit: How many rows to read at most.

    Raises:
        ConfigError: The file cannot be read, or has no usable header.
    """
    for index, (place, data) in enumerate(records(path, form)):
        if index == limit:
            return
        yield row_of(index, data, place=place, prompt=prompt, id_field=id_field)


def records(path: Path, form: str | None = None) -> Iterator[tuple[str, object]]:
    """The records of a file, each with its place, such as ``rows.jsonl:7``; a :class:`BadRow` for what cannot be read.

    Raises:
        ConfigError: The file cannot be read, or has no usable header.
    """
    form = form or _ENDINGS.get(path.suffix.lower(), "jsonl")
    try:
        with _opened(path, form) as file:
            yield from _of_table(file, path, form) if form in ("csv", "tsv") else _of_lines(file, path, form)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from error


def rows_of(items: Iterable[object], *, prompt: str | None = None, id_field: str = "id") -> Iterator[Row]:
    """Rows from values: texts, mappings as in a JSON lines file, or rows."""
    for index, item in enumerate(items):
        if isinstance(item, Row):
            yield item
        else:
            yield row_of(index, item, place=f"row {index}", prompt=prompt, id_field=id_field)


def row_of(index: int, data: object, *, place: str, prompt: str | None = None, id_field: str = "id") -> Row:
    """The row that one value of the input stands for."""
    try:
        if isinstance(data, BadRow):
            raise data
        return _row(index, data, place, prompt, id_field)
    except BadRow as error:
        return Row(index=index, place=place, problem=f"{place}: {error}")


def _row(index: int, data: object, place: str, template: str | None, id_field: str) -> Row:
    if isinstance(data, str):
        data = {"prompt": data}
    if not isinstance(data, Mapping):
        raise BadRow(f"must be a text or an object with 'prompt', not {_named(data)}")
    variables = data.get("vars", {})
    if not isinstance(variables, Mapping):
        raise BadRow("'vars' must be an object")
    messages = _messages(data.get("messages", []))
    name = data.get(id_field)
    if name is not None and not isinstance(name, (str, int)):
        raise BadRow(f"{id_field!r} must be a text or a number, not {_named(name)}")
    text = _prompt(data, variables, template, bool(messages))
    return Row(index=index, prompt=text, messages=messages, id=None if name in (None, "") else str(name), place=place)


def _prompt(data: Mapping[str, Any], variables: Mapping[str, Any], template: str | None, optional: bool) -> str:
    fields = {**data, **variables}
    if template is not None:
        return filled(template, fields)
    text = data.get("prompt", "" if optional else None)
    if text is None:
        raise BadRow(f"has no 'prompt' (it has {_listed(data)}); --prompt makes one of its fields")
    if not isinstance(text, str):
        raise BadRow(f"'prompt' must be a text, not {_named(text)}")
    if not text.strip() and not optional:
        raise BadRow("its prompt is empty")
    return filled(text, fields) if variables else text


def filled(template: str, fields: Mapping[str, Any]) -> str:
    """The template with each ``{field}`` filled in; ``{{`` and ``}}`` are braces."""

    def value(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0][0]
        if found[1] not in fields:
            raise BadRow(f"has no field {found[1]!r} (it has {_listed(fields)})")
        field = fields[found[1]]
        return field if isinstance(field, str) else json.dumps(field, ensure_ascii=False)

    return _FIELD.sub(value, template)


def _messages(messages: object) -> list[Mapping[str, Any]]:
    from react_run.models.stored import message_from_dict

    if not isinstance(messages, list):
        raise BadRow("'messages' must be a list")
    try:
        for message in messages:
            message_from_dict(message)
    except (ConfigError, TypeError, ValueError, KeyError) as error:
        raise BadRow(f"'messages': {error}") from None
    return messages


def _of_lines(file: IO[bytes], path: Path, form: str) -> Iterator[tuple[str, object]]:
    for number, line in enumerate(file, 1):
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if line.strip():
            yield f"{path.name}:{number}", _value(line.rstrip(b"\r\n"), form)


def _value(line: bytes, form: str) -> object:
    try:
        text = line.decode()
        return text if form == "text" else json.loads(text)
    except UnicodeDecodeError as error:
        return BadRow(f"is not UTF-8 (byte {error.start + 1})")
    except RecursionError:
        return BadRow("is nested too deeply")
    except ValueError as error:
        return BadRow(f"is not JSON: {error}")


def _opened(path: Path, form: str) -> IO[Any]:
    if form in ("csv", "tsv"):
        return path.open(encoding="utf-8-sig", errors="surrogateescape", newline="")
    return path.open("rb")


def _of_table(file: IO[str], path: Path, form: str) -> Iterator[tuple[str, object]]:
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(file, delimiter="\t" if form == "tsv" else ",", strict=True)
    header = _header(reader, path)
    while True:
        place = f"{path.name}:{reader.line_num + 1}"
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield place, BadRow(f"is not CSV: {error}")
            continue
        if cells:
            yield place, _record(header, cells)


def _header(reader: Iterator[list[str]], path: Path) -> list[str]:
    try:
        header = next(reader, [])
    except csv.Error as error:
        raise ConfigError(f"{path.name}:1: the header is not CSV: {error}") from None
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise ConfigError(f"{path.name}:1: the header has {', '.join(map(repr, twice))} twice")
    if not any(name.strip() for name in header):
        raise ConfigError(f"{path.name}:1: a CSV file begins with a line of column names")
    return header


def _record(header: list[str], cells: list[str]) -> object:
    if len(cells) != len(header):
        return BadRow(f"has {len(cells)} cells, and the header has {len(header)}")
    if any("\udc80" <= character <= "\udcff" for cell in cells for character in cell):
        return BadRow("is not UTF-8")
    return dict(zip(header, cells, strict=True))


def _named(value: object) -> str:
    names = {"NoneType": "null", "list": "a list", "dict": "an object", "int": "a number", "float": "a number"}
    return names.get(type(value).__name__, type(value).__name__)


def _listed(fields: Mapping[str, object]) -> str:
    return ", ".join(map(repr, fields)) or "nothing"
