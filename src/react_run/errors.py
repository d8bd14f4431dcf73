"""Errors for people.

    ReactError
    ├── ConfigError      an agent file or an option is wrong
    ├── PluginError      a plugin is broken, or broke the rules of a hook
    ├── ToolsetError     a toolset or tool is declared wrongly
    ├── ModelError       the provider failed (``provider``, ``status``, ``retryable``)
    ├── JournalError     a journal cannot be written or read
    │   └── JournalBusy  another run writes to it now
    └── ReplayMismatch   a replayed run differs from its recording

Errors for the model are :class:`react_run.outcome.ToolError` and its children.
The two families share no base, so that neither is caught by accident.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from react_run.results import RunResult

BLAME = "raised by plugin "
"""The start of the note that names the plugin and hook that raised an exception."""


def pass_on_interrupt(error: BaseException) -> None:
    """Raise a Ctrl-C that was turned into another error, as Python does while it creates a class.

    Raises:
        KeyboardInterrupt: ``error`` was caused by one.
    """
    seen: set[int] = set()
    above: BaseException | None = error
    while above is not None and id(above) not in seen:
        if isinstance(above, KeyboardInterrupt) or _is_from_interrupt(above):
            raise KeyboardInterrupt from error
        seen.add(id(above))
        above = above.__cause__ or above.__context__


def _is_from_interrupt(error: BaseException) -> bool:
    """Whether pydantic made the error from a Ctrl-C while it built a schema; it keeps only the text."""
    made_by_pydantic = type(error).__module__.startswith("pydantic_core")
    return made_by_pydantic and str(error).rstrip(": \n").endswith("KeyboardInterrupt")


def blamed(error: BaseException) -> str:
    """The plugin and hook that ``error`` came from, such as ``plugin 'audit' in react_run``; empty if unknown."""
    notes = getattr(error, "__notes__", ())
    return next((note.removeprefix("raised by ") for note in notes if str(note).startswith(BLAME)), "")


def result_left(error: BaseException) -> RunResult | None:
    """The result so far of the run that ``error`` ended; every exception from ``ReactAgent.run`` has it."""
    return getattr(error, "result", None)


class ReactError(Exception):
    """Base of every error that react-run raises for people to read.

    ``exit_status`` is the exit status of the command line for this error.
    """

    exit_status = 1


class ConfigError(ReactError):
    """An agent file, an option or a command line value is wrong."""

    exit_status = 2
    missing = ""
    """The missing agent file, if that is the error."""


class PluginError(ReactError):
    """A plugin cannot be loaded, or broke the rules of a hook."""

    exit_status = 2


@dataclass(frozen=True, slots=True)
class Fault:
    """One problem with toolsets; ``loc`` is the position in their list, ``other`` the position it conflicts with."""

    code: str
    text: str
    loc: tuple[str | int, ...] = ()
    other: tuple[str | int, ...] | None = None

    def within(self, *outer: str | int) -> Fault:
        """Return the same fault with a prefixed location."""
        other = None if self.other is None else (*outer, *self.other)
        return replace(self, loc=(*outer, *self.loc), other=other)


class ToolsetError(ReactError):
    """A toolset or a tool is declared wrongly.

    ``code`` is a short machine-readable name such as ``tool.name`` or ``tool.annotation``; ``faults`` lists all
    problems if several toolsets were checked.
    """

    exit_status = 2

    def __init__(self, message: str, *, code: str = "toolset", faults: Sequence[Fault] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.faults = faults


class ModelError(ReactError):
    """The provider failed, or its reply was unusable.

    Args:
        message: What happened and what to do about it.
        provider: The provider that failed, such as ``openai`` or ``litellm``.
        status: The HTTP status, if there was one.
        code: The provider's own error code, or one of ours (``context_overflow``, ``incomplete``, ``no_choice``, …).
        retryable: Whether the same request may succeed later (behaviour S6).
        retry_after: Seconds the provider asked us to wait.
        parameter: The request field that was refused, if the provider names it.
    """

    exit_status = 3

    def __init__(
        self,
        message: str,
        *,
        provider: str = "",
        status: int | None = None,
        code: str = "",
        retryable: bool = False,
        retry_after: float | None = None,
        parameter: str = "",
    ) -> None:
        super().__init__(message)
        self.provider = provider
        self.status = status
        self.code = code
        self.retryable = retryable
        self.retry_after = retry_after
        self.parameter = parameter
        self.result: RunResult | None = None
        """The result of the run up to the failure; set by ``ReActAgent.run``."""
        self.reached = True
        """Whether the provider was reached; if not, nothing was used (behaviour H3)."""
        self.sent = True
        """Whether a request was made at all: without a key there is none, and nothing to count (behaviour H3)."""
        self.recorded = False
        """Whether the error comes from a journal: then waiting is pointless."""


class JournalError(ReactError):
    """A journal cannot be written or read."""


class JournalBusy(JournalError):
    """Another run is writing to the journal; try again later."""


class ReplayMismatch(ReactError):
    """A replayed run differs from its recording."""

    exit_status = 6
