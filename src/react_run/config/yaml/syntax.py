"""Explains YAML syntax errors, and says what to type instead."""

from __future__ import annotations

import re

import yaml

from react_run.config.yaml.problems import Place, Report, Source

MAX_SECOND_LOOK = 64 * 1024
"""Up to this many characters, the slow parser, whose messages are better, reads a broken file again."""

_HINTS = (
    ("that violates indentation", "a tab: indent with spaces, not with tabs"),
    ("'\\t'", "a tab: indent with spaces, not with tabs"),
    ("unexpected end of stream", "a quote that was opened{context} is never closed"),
    ("escape", "unknown escape in double quotes; write \\\\ for a backslash, or use single quotes"),
    ("mapping values are not allowed", "quote text that contains a colon followed by a space"),
    ("cannot start any token", "a value cannot start with this sign; quote it"),
    ("exceeded maximum nesting", "nested too deeply"),
)
_CONFLICT = re.compile(r"^(<{7}|={7}|>{7}|\|{7})(\s|$)")


def note_syntax_error(error: yaml.YAMLError, text: str, source: Source, report: Report) -> None:
    """Add the meaning of ``error`` to the report."""
    too_deep = "maximum nesting" in str(error)
    if not too_deep and len(text) <= MAX_SECOND_LOOK:
        error = _second_look(text) or error
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        report.add("yaml.syntax", f"this is not YAML: {error}", Place(source))
        return
    mark = error.problem_mark
    place = Place(source, mark.line + 1, mark.column + 1)
    report.add("yaml.too_deep" if too_deep else "yaml.syntax", _explained(error, source, place), place)


def _second_look(text: str) -> yaml.YAMLError | None:
    try:
        for _ in yaml.parse(text, yaml.SafeLoader):
            pass
    except yaml.YAMLError as error:
        return error
    return None


def _explained(error: yaml.MarkedYAMLError, source: Source, place: Place) -> str:
    opened = error.context_mark.line + 1 if error.context_mark else 0
    nearby = [
        source.lines[number - 1] for number in (opened, place.line, place.line - 1) if 0 < number <= len(source.lines)
    ]
    for line in nearby:
        if conflict := _CONFLICT.match(line):
            return f"marks of a merge conflict ({conflict[1]}): resolve it and remove them"
    if "flow" in (error.context or "") and any("${" in line for line in nearby):
        return "quote ${…} inside { } or [ ]: its braces belong to YAML there"
    problem = error.problem or "unreadable"
    for sign, hint in _HINTS:
        if sign in problem:
            return hint.format(context=f" on line {opened}" if opened else "")
    context = f" {error.context}" if error.context else ""
    since = f" (opened on line {opened})" if opened and opened != place.line else ""
    return f"{problem}{context}{since}"
