"""Executes steps: from the results so far to values, the calls to make next, or an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from react_offline.conversation import Calls, call_key
from react_offline.literals import as_number
from react_offline.moments import days_to
from react_offline.observations import Result, read_result, take
from react_offline.plan import Found, Known, Step, Value, Want
from react_run.support import dataclass

_SUGGESTED = re.compile(r"['\"`]([^'\"`]+)['\"`]")


@dataclass(frozen=True, slots=True)
class Call:
    """A call to make now."""

    name: str
    arguments: dict[str, object]

    @property
    def key(self) -> str:
        """The key under which its result is found."""
        return call_key(self.name, self.arguments)


@dataclass(frozen=True, slots=True)
class Waiting:
    """The step is waiting for these calls."""

    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Broken:
    """An earlier step gave no usable value."""

    reason: str


Settled = Result | Waiting | Broken


def settle(step: Step, calls: Calls) -> Settled:
    """The result of a step if there is one, else the calls that it waits for.

    A failure is retried once, if it is transient or another spelling of an argument is known.
    """
    if step.seen is not None:
        return read_result(step.seen)
    arguments = _resolved(step.arguments, calls)
    if not isinstance(arguments, dict):
        return arguments
    assert step.card is not None
    call = Call(step.card.name, arguments)
    seen = calls.get(call.key, [])
    if not seen:
        return Waiting((call,))
    result = replace(read_result(seen[-1]), given=arguments, found=_found_elsewhere(step))
    if not result.failed or result.is_question:
        return result
    if result.transient:
        return result if len(seen) > 1 else Waiting((call,))
    corrected = _corrected(step, arguments, result)
    if corrected is None:
        return result
    again = Call(step.card.name, corrected)
    if again.key not in calls:
        return Waiting((again,))
    return replace(read_result(calls[again.key][-1]), given=corrected, found=_found_elsewhere(step))


def _resolved(arguments: Mapping[str, Value], calls: Calls) -> dict[str, object] | Waiting | Broken:
    values: dict[str, object] = {}
    waiting: list[Call] = []
    for name, value in arguments.items():
        if isinstance(value, Known):
            values[name] = value.value
            continue
        found = _found(value, calls)
        if isinstance(found, Broken):
            return found
        if isinstance(found, Waiting):
            waiting += found.calls
        else:
            values[name] = found
    return Waiting(tuple(waiting)) if waiting else values


def _found(value: Found, calls: Calls) -> object:
    settled = settle(value.step, calls)
    if isinstance(settled, Waiting | Broken):
        return settled
    if settled.failed:
        return Broken(settled.message)
    text = take(settled, value.step, value.want)
    if not text:
        return Broken(f"what '{value.step.text}' found does not hold {value.want} to go on with")
    if value.weekday:
        return days_to(*value.weekday, text)
    if value.template == "{}":
        return as_number(text) if value.want is Want.NUMBER else text
    return value.template.replace("{}", f"({text})" if text.startswith("-") else text)


def _found_elsewhere(step: Step) -> frozenset[str]:
    return frozenset(name for name, value in step.arguments.items() if isinstance(value, Found))


def _corrected(step: Step, arguments: dict[str, object], result: Result) -> dict[str, object] | None:
    """The arguments with one spelling changed, to the one that the tool suggests, else to another known one."""
    for name, value in arguments.items():
        for suggestion in _SUGGESTED.findall(result.message):
            if isinstance(value, str) and suggestion != value and _folded(suggestion) == _folded(value):
                return {**arguments, name: suggestion}
    for name, given in step.arguments.items():
        others = [other for other in given.others if other != given.value] if isinstance(given, Known) else []
        if others:
            return {**arguments, name: others[0]}
    return None


def _folded(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.casefold())
