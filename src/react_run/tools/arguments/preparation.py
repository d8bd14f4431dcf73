"""From what a model sent to a call: read, checked, repaired where nothing is lost, or refused with a way out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from react_run.support.display import shown
from react_run.support.fast_init import fast_init
from react_run.support.render import escape
from react_run.tools.arguments.decoding import decode_arguments
from react_run.tools.arguments.problems import InvalidArguments, report
from react_run.tools.arguments.repair import own_copy, repair_properties

MAX_ECHO = 800
"""How many characters of unreadable arguments a model is shown (A5)."""

MAX_NOTES = 5
"""How many repairs of one call are told one by one."""


@fast_init
@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """Arguments ready to call a tool with, or the reason not to.

    ``arguments`` is what the model sent after repair, as JSON values of its own; ``args`` and ``kwargs`` are the typed
    values the function is called with; ``repairs`` says what was corrected; ``problem`` is the text the model gets
    instead of a result, empty when the tool may run.
    """

    arguments: dict[str, object]
    args: tuple[object, ...] = ()
    kwargs: dict[str, object] = field(default_factory=dict)
    repairs: tuple[str, ...] = ()
    problem: str = ""


class Checker(Protocol):
    """Decides whether arguments are right, and gives the typed values to call the function with."""

    @property
    def names(self) -> frozenset[str] | None:
        """The parameters there are; ``None`` when any name is allowed."""

    @property
    def fills_defaults(self) -> bool:
        """Whether nobody but the schema knows the defaults."""

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema that repairs go by."""

    def bind(self, arguments: dict[str, object]) -> tuple[tuple[object, ...], dict[str, object]]:
        """The call that ``arguments`` stand for.

        Raises:
            InvalidArguments: They do not fit.
        """


def prepare(tool: str, checker: Checker, raw: object) -> Prepared:
    """Read, check and, where needed, repair what a model sent for ``tool``; never raises for bad input."""
    try:
        return _prepared(tool, checker, raw)
    except RecursionError:
        return Prepared(arguments={}, problem=f"Error: {tool} did not run: its arguments are nested too deeply.")


def _prepared(tool: str, checker: Checker, raw: object) -> Prepared:
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
            return Prepared(arguments=own_copy(arguments), args=args, kwargs=kwargs)
    return _repaired(tool, checker, own_copy(arguments))


def _repaired(tool: str, checker: Checker, arguments: dict[str, object]) -> Prepared:
    unknown = [] if checker.names is None else [name for name in arguments if name not in checker.names]
    for name in unknown:
        del arguments[name]
    notes = [f"{shown(name)} is not a parameter of {tool} and was left out" for name in unknown]
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


def _bounded(notes: list[str]) -> tuple[str, ...]:
    more = [f"and {len(notes) - MAX_NOTES} more like these"] if len(notes) > MAX_NOTES else []
    return (*notes[:MAX_NOTES], *more)


def _unreadable(tool: str, checker: Checker, problem: str, raw: object) -> str:
    required = ", ".join(checker.schema.get("required", ())) or "none"
    text = f"Error: {tool} did not run: {problem}. Send one JSON object; required parameters: {required}."
    if not isinstance(raw, str):
        return text
    cut = f"… (cut; {len(raw)} characters in all)" if len(raw) > MAX_ECHO else ""
    return f"{text} You sent:\n{escape(raw[:MAX_ECHO])}{cut}"
