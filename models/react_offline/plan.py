"""What to do about a question: steps, each a tool call whose arguments are known or come from an earlier step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from react_offline.slots import Card
from react_run.support import dataclass


class Want(StrEnum):
    """What is taken from an earlier result, as messages call it."""

    NUMBER = "a single number"
    UNIT = "a unit"
    DATE = "a date"
    DATETIME = "a date and time"
    TEXT = "a short name"


@dataclass(frozen=True, slots=True)
class Known:
    """A value bound from the question. ``others`` are spellings of the same thing, for a correction."""

    value: object
    others: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """A value to be taken from the result of ``step`` and put where ``{}`` stands in ``template``.

    With ``weekday``, a name and a direction, it is the number of days from the date found to that weekday.
    """

    step: Step
    want: Want
    template: str = "{}"
    weekday: tuple[str, int] | None = None


Value = Known | Found


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One tool call. ``stems`` are the question's words, by which the wanted part of the result is found.

    ``seen`` is the result itself when the step belongs to an earlier turn of the conversation.
    """

    card: Card | None
    arguments: Mapping[str, Value]
    stems: frozenset[str]
    text: str
    seen: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Which of several has more (1) or less (-1) of what the question names."""

    names: Sequence[str]
    steps: Sequence[Step]
    direction: int
    word: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What only the user can tell."""

    question: str


@dataclass(frozen=True, slots=True)
class Declined:
    """What no offered tool fits. ``because`` says why in a few words; ``could`` names a tool that changes things."""

    text: str
    because: str = ""
    could: str = ""


@dataclass(frozen=True, slots=True)
class Unlocking:
    """A part that waits for a skill: activate ``member`` through ``card``."""

    card: Card
    slot: str
    member: str


Part = Step | Comparison | Asked | Declined | Unlocking
