"""Groups the operations of a document into skills: by tag, and by path segments if a tag has too many."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from react_run import ReActSkillSpec
from react_toolsets.openapi.operations import Operation
from react_toolsets.openapi.schemas import Schema

LARGEST = 40_000
"""The most characters of the tools in one skill."""
LONGEST = 800
"""The most characters in the description of a skill."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A tool's operation, name and schema of arguments."""

    operation: Operation
    name: str
    schema: Schema

    @cached_property
    def size(self) -> int:
        """The approximate size in characters."""
        return len(json.dumps(self.schema, ensure_ascii=False)) + len(self.operation.description)

    @cached_property
    def words(self) -> list[str]:
        """The fixed segments of the path."""
        return [part for part in self.operation.path.split("/") if part and "{" not in part]


def skills(entries: Sequence[Entry], most: int) -> list[ReActSkillSpec]:
    """Group ``entries`` into skills, with at most about ``most`` tools in each."""
    by_tag: dict[str, list[Entry]] = {}
    for entry in entries:
        tag = entry.operation.tags[0] if entry.operation.tags else next(iter(entry.words), "api")
        by_tag.setdefault(_word(tag), []).append(entry)
    found: dict[str, list[Entry]] = {}
    for tag, members in by_tag.items():
        for name, group in _split(tag, members, most, 0):
            unique, number = name, 1
            while unique in found:
                number += 1
                unique = f"{name}_{number}"
            found[unique] = group
    return [
        ReActSkillSpec(name=name, description=_described(group), tool_names=tuple(entry.name for entry in group))
        for name, group in found.items()
    ]


def _split(name: str, members: list[Entry], most: int, depth: int) -> Iterator[tuple[str, list[Entry]]]:
    if len(members) <= most and sum(entry.size for entry in members) <= LARGEST:
        yield name, members
        return
    by_word: dict[str, list[Entry]] = {}
    for entry in members:
        by_word.setdefault(_word(entry.words[depth]) if depth < len(entry.words) else "", []).append(entry)
    if len(by_word) == 1 and "" in by_word:
        for start in range(0, len(members), most):
            yield (f"{name}_{start // most + 1}" if len(members) > most else name), members[start : start + most]
        return
    for word, group in by_word.items():
        inner = name if not word or name.endswith(word) else f"{name}_{word}"
        yield from _split(inner, group, most, depth + 1 if word else 1_000)


def _word(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]+", "_", text).strip("_").lower() or "api"


def _described(group: Sequence[Entry]) -> str:
    text = "; ".join(dict.fromkeys(_said(entry.operation) for entry in group))
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rpartition(' ')[0]}…"


def _said(operation: Operation) -> str:
    first = operation.summary or operation.description.partition("\n")[0] or operation.place
    return " ".join(first.split())[:120].rstrip(".")
