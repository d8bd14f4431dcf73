"""Repairs of JSON values that lose nothing, guided by a JSON Schema (behaviours A1 and A2)."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from typing import Any

from react_run.support.display import Path, dotted, shown_value
from react_run.tools.arguments.decoding import NotJson, decode_json
from react_run.tools.arguments.json_types import allowed, alternatives, fits, is_echo, kinds, part_schema
from react_run.tools.schemas.cleaning import object_schema
from react_run.tools.schemas.words import Schema

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,4})?", re.ASCII)
_MAX_DIGITS = 4_000
"""Python reads integers of up to 4300 digits; no tool was asked for a longer one."""

_WORDS = (("true", "boolean", True), ("false", "boolean", False), ("null", "null", None))
_ATOMS = frozenset({str, int, float, bool, type(None)})


def own_copy(values: dict[str, object]) -> dict[str, object]:
    """A deep copy of a JSON object."""
    for value in values.values():
        if type(value) not in _ATOMS:
            return {key: _copied(value) for key, value in values.items()}
    return dict(values)  # the usual case


def _copied(value: object) -> object:
    if isinstance(value, dict):
        return own_copy(value)
    return [_copied(item) for item in value] if isinstance(value, list) else value


def repair_properties(
    arguments: dict[str, object], schema: Mapping[str, Any], *, only: Collection[str], fill: bool
) -> list[str]:
    """Repair the values of ``arguments`` named in ``only``, in place, and return a note for each repair.

    ``fill`` writes the schema's default where a value was removed; otherwise the tool's own default applies.
    """
    repair = _Repair(schema, fill)
    repair.properties(arguments, object_schema(schema), (), only)
    return repair.notes


class _Repair:
    def __init__(self, root: Mapping[str, Any], fill: bool) -> None:
        self._root = root
        self._fill = fill
        self.notes: list[str] = []

    def properties(
        self, values: dict[str, object], schema: Mapping[str, Any], path: Path, only: Collection[str]
    ) -> None:
        for name in [name for name in values if name in only]:
            value, part, here = values[name], part_schema(schema, name, self._root), (*path, name)
            echo = is_echo(value, part) and (not path or not fits(value, part, self._root))
            optional = name in schema.get("properties", ()) and name not in schema.get("required", ())
            if optional and (echo or (value is None and not fits(None, part, self._root))):
                self._take_out(values, part, here)
            elif not echo:
                values[name] = self._value(value, part, here)

    def _take_out(self, values: dict[str, object], part: Schema, path: Path) -> None:
        name = str(path[-1])
        self.notes.append(f"{dotted(path)}: {shown_value(values[name])} is not a value; the default was used")
        if self._fill and "default" in part and fits(part["default"], part, self._root):
            values[name] = _copied(part["default"])
        else:
            del values[name]

    def _value(self, value: object, schema: Schema, path: Path, wrap: bool = True) -> object:
        options = list(alternatives(schema, self._root)) or [schema]
        fitting = [option for option in options if fits(value, option, self._root)]
        if fitting:
            return self._parts(value, _chosen(value, fitting), path)
        for option in options:
            for candidate in self._candidates(value, option, path, wrap):
                if fits(candidate, option, self._root):
                    self.notes.append(f"{dotted(path)}: {shown_value(value)} was read as {shown_value(candidate)}")
                    return self._parts(candidate, option, path)
        return value

    def _parts(self, value: object, schema: Schema | None, path: Path) -> object:
        if schema is None:
            return value
        if isinstance(value, dict):
            self.properties(value, schema, path, value.keys())
        elif isinstance(value, list):
            for index, item in enumerate(value):
                if type(item) not in _ATOMS or schema.get("items") or schema.get("prefixItems"):
                    value[index] = self._value(item, part_schema(schema, index, self._root), (*path, index))
        return value

    def _candidates(self, value: object, schema: Schema, path: Path, wrap: bool) -> Iterator[object]:
        wanted = kinds(schema, self._root)
        if isinstance(value, str):
            yield from _read(value, wanted)
        elif isinstance(value, float) and value.is_integer():
            yield int(value)
        elif type(value) is int and "string" in wanted:
            yield str(value)
        lone = value is not None and not isinstance(value, list) and not _is_broken_json(value)
        if wrap and "array" in wanted and lone:
            item_schema = part_schema(schema, 0, self._root)
            quiet = _Repair(self._root, self._fill)
            item = quiet._value(value, item_schema, path, wrap=False)
            if fits(item, item_schema, self._root):
                yield [item]


def _is_broken_json(value: object) -> bool:
    """Whether a text was meant to be a list or an object but is neither: then it is not a single value (A2, A5)."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("[", "{"):
        return False
    try:
        decode_json(value)
    except (NotJson, RecursionError):
        return True
    return False


def _read(text: str, wanted: list[str]) -> Iterator[object]:
    """The possible values of ``text``: a number, true, false, null, or JSON of a list or an object."""
    bare = text.strip()
    if "integer" in wanted or "number" in wanted:
        yield from _number(bare, wanted)
    for word, kind, value in _WORDS:
        if kind in wanted and bare.lower() == word:
            yield value
    if bare[:1] in ("[", "{") and ("array" in wanted or "object" in wanted):
        try:
            yield decode_json(bare)
        except (NotJson, RecursionError):
            return


def _number(text: str, wanted: list[str]) -> Iterator[object]:
    if len(text) > _MAX_DIGITS or not _NUMBER.fullmatch(text):
        return
    exact = Decimal(text)
    if (
        exact.adjusted() < _MAX_DIGITS
        and exact == exact.to_integral_value()
        and ("integer" in wanted or text.lstrip("-").isdigit())
    ):
        yield int(exact)
    elif math.isfinite(number := float(text)):
        yield number


def _chosen(value: object, fitting: list[Schema]) -> Schema | None:
    """The one alternative that ``value`` is meant for, by its constants; empty if unclear."""
    if len(fitting) > 1 and isinstance(value, dict):
        fitting = [option for option in fitting if _agrees(value, option)]
    return fitting[0] if len(fitting) == 1 else None


def _agrees(value: dict[str, object], schema: Schema) -> bool:
    properties = schema.get("properties", {})
    fixed = [key for key, part in properties.items() if key in value and len(allowed(part) or ()) == 1]
    return all(fits(value[key], properties[key], {}) for key in fixed)
