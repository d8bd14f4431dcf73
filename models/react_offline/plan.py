"""The plan for a question: steps, each a tool call whose arguments are known or come from an earlier step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from react_offline.slots import Card
from react_run.support import dataclass


class Want(StrEnum):
    """The kinds of values taken from an earlier result, with their names in messages."""

    NUMBER = "a single number"
    UNIT = "a unit"
    DATE = "a date"
    DATETIME = "a date and time"
    TEXT = "a short name"


@dataclass(frozen=True, slots=True)
class Known:
    """A value from the question. ``others`` are alternative spellings, for a correction."""

    value: object
    others: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A value to take from the result of ``step`` and to put in place of ``{}`` in ``template``.

    With ``weekday``, a name and a direction, it is the number of days from that date to the weekday.
    """

    step: Step
    want: Want
    template: str = "{}"
    weekday: tuple[str, int] | None = None


Value = Known | Found


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A tool call. ``stems`` are words of the question, which select the wanted part of the result.

    ``seen`` is the result itself if the step belongs to an earlier turn of the conversation.
    """

    card: Card | None
    arguments: Mapping[str, Value]
    stems: frozenset[str]
    text: str
    seen: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """A comparison: which of several has more (1) or less (-1) of a property."""

    names: Sequence[str]
    steps: Sequence[Step]
    direction: int
    word: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A question for the user."""

    question: str


@dataclass(frozen=True, slots=True)
class Declined:
    """A part that no offered tool fits. ``because`` says why; ``could`` names a fitting tool that changes things."""

    text: str
    because: str = ""
    could: str = ""


@dataclass(frozen=True, slots=True)
class Unlocking:
    """A part that waits for a skill: activate ``member`` with ``card``."""

    card: Card
    slot: str
    member: str


Part = Step | Comparison | Asked | Declined | Unlocking
