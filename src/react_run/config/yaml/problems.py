"""The problems of a file, each with its position, the line and a caret."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Self

from react_run.errors import ConfigError
from react_run.secrets import Masker, mask_line
from react_run.support.dataclasses import dataclass

EXCERPT = 100
"""Maximum characters of a source line to show."""

Path_ = tuple[str | int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Source:
    """The source of nodes: a file, or a command-line argument."""

    name: str
    """As shown in messages."""
    lines: tuple[str, ...] = ()
    path: Path | None = None

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a source; line and column count from 1, line 0 means the source as a whole."""

    source: Source
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}" if self.line else str(self.source)

    def excerpt(self) -> str:
        """The line with a caret below the column; empty if there is no line."""
        if not 0 < self.line <= len(self.source.lines):
            return ""
        line = self.source.lines[self.line - 1]
        start = max(0, self.column - 1 - EXCERPT // 2) if len(line) > EXCERPT else 0
        shown = line[start : start + EXCERPT]
        before = shown[: self.column - 1 - start]
        masked = mask_line(shown)
        return f"    {_printable(masked)}\n    {''.join(_blank(character) for character in before)}^"


def _blank(character: str) -> str:
    if character == "\t":
        return "\t"
    return "\u3000" if unicodedata.east_asian_width(character) in "WF" else " "


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() or character == "\t" else "?" for character in text)


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem.

    ``code`` is a short stable name such as ``cfg.unknown_key``; ``key`` the key path as written in the file.
    """

    code: str
    text: str
    place: Place | None = None
    key: str = ""

    def render(self) -> str:
        """``file:line:column: key.path: what is wrong``, and below it the line with a caret."""
        place = str(self.place or "")
        key = "" if place.endswith(f" {self.key}") else self.key  # without a file, the key names the place
        head = ": ".join(part for part in (place, key, self.text) if part)
        excerpt = self.place.excerpt() if self.place else ""
        return f"{head}\n{excerpt}" if excerpt else head

    def to_dict(self) -> dict[str, object]:
        """For ``check --json``."""
        place = self.place
        return {
            "file": str(place.source) if place else None,
            "line": (place.line or None) if place else None,
            "column": (place.column or None) if place else None,
            "code": self.code,
            "key": self.key,
            "message": self.text,
        }


class AgentFileError(ConfigError):
    """Everything that is wrong with an agent file, or with a configuration made in Python."""

    def __init__(self, problems: Iterable[Problem], masker: Masker | None = None) -> None:
        self._masker = masker or Masker()
        self._mask = self._masker.mask
        self.problems = [replace(problem, text=self._mask(problem.text)) for problem in in_order(problems)]
        super().__init__("\n".join(self.texts()))

    def __reduce__(self) -> tuple[type[Self], tuple[list[Problem], Masker]]:
        return type(self), (
            self.problems,
            self._masker,
        )  # otherwise unpickling would rebuild the exception from its text

    def named(self, names: Mapping[str, str]) -> Self:
        """The same problems, with sources renamed according to ``names``."""
        return type(self)((_named(problem, names) for problem in self.problems), self._masker)

    def texts(self) -> list[str]:
        """Each problem as text for people, with secrets masked."""
        return [self._mask(problem.render()) for problem in self.problems]


def _named(problem: Problem, names: Mapping[str, str]) -> Problem:
    if problem.place is None or (name := names.get(problem.place.source.name)) is None:
        return problem
    source = replace(problem.place.source, name=name)
    return replace(problem, place=replace(problem.place, source=source))


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """The problems sorted by position, one per place; problems of the file come before a component's own complaints."""
    seen: dict[object, Problem] = {}
    for problem in problems:
        place = problem.place
        key = place if place and place.line else (place, problem.key, "" if problem.key else problem.text)
        if key not in seen or seen[key].code == "cfg.value":
            seen[key] = problem
    return sorted(seen.values(), key=_position)


def _position(problem: Problem) -> tuple[str, int, int]:
    place = problem.place
    return (str(place.source), place.line, place.column) if place else ("", 0, 0)


@dataclass(slots=True)
class Report:
    """Collects the problems of one load."""

    problems: list[Problem] = field(default_factory=list)

    def add(self, code: str, text: str, place: Place | None = None, path: Path_ = ()) -> None:
        """Note one problem."""
        self.problems.append(Problem(code, text, place, key_path(path)))


def key_path(path: Iterable[str | int]) -> str:
    """``toolsets[0].precision`` for ``("toolsets", 0, "precision")``."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
