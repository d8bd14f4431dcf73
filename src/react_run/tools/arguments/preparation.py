"""Turns what a model sent into a call: decoded, checked, repaired if nothing is lost, or refused with a way out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from difflib import SequenceMatcher
from typing import Any, Protocol

from react_run.support.dataclasses import dataclass
from react_run.support.display import shown_value
from react_run.support.maker import maker
from react_run.support.render import escape
from react_run.tools.arguments.decoding import decode_arguments
from react_run.tools.arguments.problems import InvalidArguments, parameters, report
from react_run.tools.arguments.repair import own_copy, repair_properties
from react_run.tools.schemas.cleaning import object_schema

MAX_ECHO = 800
"""How many characters of unreadable arguments to show the model (A5)."""

WRAPPERS = ("arguments", "args", "kwargs", "parameters", "input")
"""Names that models give to an unrequested object around the arguments."""
NEAR = 0.7
"""The similarity from which a parameter name may be meant for another."""
_SPLIT = re.compile(r"(?<=[a-z])(?=[A-Z])")

MAX_NOTES = 5
"""How many repairs of one call to list individually."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """Arguments ready to call a tool with, or the reason not to.

    ``arguments`` is what the model sent after repair, in a copy of its own that nobody changes; ``args`` and ``kwargs``
    are the typed values the function is called with; ``repairs`` says what was corrected; ``problem`` is the text the
    model gets instead of a result, empty when the tool may run, and ``code`` the code of that failure.
    """

    arguments: dict[str, object]
    args: tuple[object, ...] = ()
    kwargs: dict[str, object] = field(default_factory=dict)
    repairs: tuple[str, ...] = ()
    problem: str = ""
    code: str = "invalid_arguments"

    def own_arguments(self) -> dict[str, object]:
        """A copy of ``arguments`` that plugins may change."""
        return self.arguments.copy() if self.kwargs is self.arguments else own_copy(self.arguments)

    @property
    def unread(self) -> bool:
        """Whether nobody looked at the arguments: the call was cut off, or there is no such tool."""
        return bool(self.problem) and self.code in _UNREAD


_UNREAD = frozenset({"cut_off", "unknown_tool"})
_as_sent = maker(Prepared)


class Checker(Protocol):
    """Decides whether arguments are valid, and returns the typed values to call the function with."""

    @property
    def names(self) -> frozenset[str] | None:
        """The names of the parameters; ``None`` if any name is allowed."""

    @property
    def fills_defaults(self) -> bool:
        """Whether only the schema knows the defaults."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema that guides repairs."""

    def bind(self, arguments: dict[str, object]) -> tuple[tuple[object, ...], dict[str, object]]:
        """Return the call for ``arguments``. The keywords are ``arguments`` itself if all values are plain: text, whole
        numbers, truth values.

        Raises:
            InvalidArguments: They are not valid.
        """


def prepare(tool: str, checker: Checker, raw: object, *, read_only: bool | None = True) -> Prepared:
    """Read, check and, where needed, repair what a model sent for ``tool``; never raises for bad input.

    ``read_only`` is the tool's annotation: a tool that may change something never runs with its defaults because an
    argument was misnamed (behaviour A3).
    """
    try:
        return _prepared(tool, checker, raw, read_only)
    except RecursionError:
        return Prepared(arguments={}, problem=f"Error: {tool} did not run: its arguments are nested too deeply.")


def _prepared(tool: str, checker: Checker, raw: object, read_only: bool | None) -> Prepared:
    arguments = raw if type(raw) is dict else decode_arguments(raw)
    if isinstance(arguments, str):
        return Prepared(arguments={}, problem=_unreadable(tool, checker, arguments, raw))
    names = checker.names
    if names is None or arguments.keys() <= names:
        try:
            args, kwargs = checker.bind(arguments)
        except InvalidArguments:
            pass
        else:
            if kwargs is arguments:
                own = arguments.copy()
                return _as_sent(arguments=own, kwargs=own)
            return _as_sent(arguments=own_copy(arguments), args=args, kwargs=kwargs)
    return _repaired(tool, checker, own_copy(arguments), read_only)


def _repaired(tool: str, checker: Checker, arguments: dict[str, object], read_only: bool | None) -> Prepared:
    notes: list[str] = []
    wrapped = _wrapped(tool, checker, arguments)
    if wrapped is not None:
        name, arguments = wrapped
        notes.append(f"they were taken out of the object {shown_value(name)}")
    unknown = [] if checker.names is None else [name for name in arguments if name not in checker.names]
    for name in unknown:
        del arguments[name]
    if unknown and read_only is not True and (problem := misnamed(tool, checker, arguments, unknown, read_only)):
        return Prepared(arguments=arguments, problem=problem)
    notes += [f"{shown_value(name)} is not a parameter of {tool} and was left out" for name in unknown]
    try:
        args, kwargs = checker.bind(arguments)
    except InvalidArguments as invalid:
        wrong = {str(problem.path[0]) for problem in invalid.problems if problem.path}
        notes += repair_properties(arguments, checker.schema, only=wrong, fill=checker.fills_defaults)
        try:
            args, kwargs = checker.bind(arguments)
        except InvalidArguments as still:
            problem = report(tool, still.problems, checker.schema, unknown)
            return Prepared(arguments=arguments, repairs=_bounded(notes), problem=problem)
    return Prepared(arguments=arguments, args=args, kwargs=kwargs, repairs=_bounded(notes))


def _wrapped(tool: str, checker: Checker, arguments: dict[str, object]) -> tuple[str, dict[str, object]] | None:
    """Unwrap arguments inside a single object, and return its name too; a habit of small models."""
    if checker.names is None or len(arguments) != 1:
        return None
    ((name, inner),) = arguments.items()
    if name in checker.names or name not in (*WRAPPERS, tool):
        return None
    decoded = decode_arguments(inner) if isinstance(inner, str) else inner
    return (name, decoded) if isinstance(decoded, dict) else None


def misnamed(
    tool: str, checker: Checker, arguments: Mapping[str, object], unknown: Sequence[str], read_only: bool | None
) -> str:
    """Why a tool that may change something must not run without its ``unknown`` arguments; empty if it may."""
    properties = checker.schema.get("properties", {})
    required = checker.schema.get("required", ())
    unset = [name for name in properties if name not in required and name not in arguments]
    meant = next((known for name in unknown for known in unset if resembles(name, known)), "")
    nothing_given = bool(properties) and not arguments
    if not meant and not nothing_given and not (read_only is False and unset):
        return ""
    names = ", ".join(shown_value(name) for name in unknown)
    hint = f" Did you mean {meant!r}?" if meant else ""
    which = "is not a parameter" if len(unknown) == 1 else "are not parameters"
    return (
        f"Error: {tool} did not run: it may change things, and {names} {which} of it.{hint} "
        f"Parameters: {parameters(checker.schema)}. Correct the arguments and call it again."
    )


def resembles(name: str, known: str) -> bool:
    """Whether ``name`` may be meant for ``known``: they share a word, or nearly all letters."""
    one, other = (set(re.findall(r"[a-z]+|[0-9]+", _SPLIT.sub("_", text).lower())) for text in (name, known))
    return bool(one & other) or SequenceMatcher(None, name.lower(), known.lower()).ratio() >= NEAR


def _bounded(notes: list[str]) -> tuple[str, ...]:
    more = [f"and {len(notes) - MAX_NOTES} more like these"] if len(notes) > MAX_NOTES else []
    return (*notes[:MAX_NOTES], *more)


def _unreadable(tool: str, checker: Checker, problem: str, raw: object) -> str:
    required = ", ".join(object_schema(checker.schema).get("required", ())) or "none"
    text = f"Error: {tool} did not run: {problem}. Send one JSON object; required parameters: {required}."
    if not isinstance(raw, str):
        return text
    cut = f"… (cut; {len(raw)} characters in all)" if len(raw) > MAX_ECHO else ""
    return f"{text} You sent:\n{escape(raw[:MAX_ECHO])}{cut}"
