"""What became of a tool call, in terms that policies and people can act on."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from react_run.support.dataclasses import dataclass
from react_run.support.fast_init import fast_init

if TYPE_CHECKING:
    from react_run.parts import Part


class Disposition(StrEnum):
    """What a result means for the run (behaviour F).

    `SUCCESS`: it did what it was asked to do. `NO_RESULT`: it worked and found nothing. `RETRYABLE_ERROR`: other
    arguments may do. `TERMINAL_ERROR`: no use in trying, the run ends. `CLARIFICATION_REQUIRED`: only a person can say,
    the run ends with the question.
    """

    SUCCESS = "success"
    NO_RESULT = "no_result"
    RETRYABLE_ERROR = "retryable_error"
    TERMINAL_ERROR = "terminal_error"
    CLARIFICATION_REQUIRED = "clarification_required"

    @property
    def failed(self) -> bool:
        """Whether the call left something unresolved (everything but success)."""
        return self is not Disposition.SUCCESS


@fast_init
@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """How a toolset, or the runtime, reads a result.

    Args:
        disposition: What it means for the run.
        code: A short stable name of the failure, such as ``unknown_unit``; empty for success.
        message: What went wrong and how to correct it, for ``unresolved`` and the answer. The model reads the result
            itself: a toolset that interprets one has its tool say there what would be right.
        verified_summary: One line that states the result as a fact, used when an answer must be grounded (F5).
        of_call: Whether a failure is one of this very call rather than of the tool, as when a sensor objects to what
            was written: other arguments are then a new attempt (F1).
        denied: Whether permission to run it was refused; the runtime sets it.
        unknown: Whether the call may have taken effect all the same, as after a time-out: it is not repeated (F4).
    """

    disposition: Disposition
    code: str = ""
    message: str = ""
    verified_summary: str = ""
    of_call: bool = False
    denied: bool = False
    unknown: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "disposition", Disposition(self.disposition))  # its plain text will do

    @classmethod
    def success(cls, verified_summary: str = "") -> Outcome:
        """The call did what it was asked to do."""
        return cls(disposition=Disposition.SUCCESS, verified_summary=verified_summary)

    @classmethod
    def retryable(cls, code: str, message: str, *, of_call: bool = False, unknown: bool = False) -> Outcome:
        """The model can correct the call and try again."""
        return cls(
            disposition=Disposition.RETRYABLE_ERROR, code=code, message=message, of_call=of_call, unknown=unknown
        )


@fast_init
@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """What the model reads about one call.

    ``outcome`` is ``None`` for an opaque result: neither proof nor failure. ``spilled_to`` is the path of the whole
    result when ``content`` is only a preview (behaviour T4). ``repaired`` lists what was corrected in the arguments
    (behaviour A). ``raw`` is the tool's own return value where it has one, for interpreters and wrappers. ``whole``
    keeps the content as it is, however long: it is neither cut nor moved out of the conversation. ``parts`` are images
    and files (``ImagePart``, ``FilePart``) that the model gets to see besides.
    """

    content: str
    outcome: Outcome | None = None
    spilled_to: str | None = None
    repaired: tuple[str, ...] = ()
    raw: object = None
    whole: bool = False
    parts: tuple[Part, ...] = ()

    def __post_init__(self) -> None:
        _expect(self, "content", self.content, str)
        if self.parts:
            from react_run.parts import Part

            object.__setattr__(self, "parts", tuple(self.parts))
            for part in self.parts:
                _expect(self, "parts", part, Part)
        if self.outcome is not None:
            _expect(self, "outcome", self.outcome, Outcome)

    @property
    def failed(self) -> bool:
        """Whether the result is known to be a failure."""
        return self.outcome is not None and self.outcome.disposition.failed


class ToolError(Exception):
    """Raised by a tool to tell the model what went wrong; it may correct the call and try again.

    Args:
        message: Text for the model: what is wrong and what to do instead.
        code: A short stable name of the failure.

    A class of errors that prove nothing sets ``opaque``: a file that is not there is no reason to doubt an answer, and
    asking for another one is a new attempt (behaviours F1, F6).
    """

    disposition = Disposition.RETRYABLE_ERROR
    default_code = "tool_error"
    opaque = False
    code = ""

    def __init__(self, message: str, *, code: str = "") -> None:
        super().__init__(message)
        self.code = code or self.default_code

    def outcome(self) -> Outcome:
        """The outcome this error stands for."""
        return Outcome(disposition=self.disposition, code=self.code or self.default_code, message=str(self))


class ToolFailed(ToolError):
    """The tool cannot do this, now or later: the run ends with what is known (behaviour F2)."""

    disposition = Disposition.TERMINAL_ERROR
    default_code = "tool_failed"


class ClarificationNeeded(ToolError):
    """Only the user can settle it; the message is the question (behaviour F2)."""

    disposition = Disposition.CLARIFICATION_REQUIRED
    default_code = "clarification_required"


class NoResult(ToolError):
    """The tool worked and found nothing (behaviour F3)."""

    disposition = Disposition.NO_RESULT
    default_code = "no_result"


SEVERITIES = ("block", "warn", "hint")
"""How serious a signal may be."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Signal:
    """What a sensor says about an executed call (behaviour G2).

    ``block`` makes the call a retryable failure; ``warn`` and ``hint`` are appended to what the model reads.
    ``location`` is the place it means, such as ``calc.py:3:1``, and ``scope`` where a later change that the sensor lets
    pass settles a block: the location when not given, ``.`` for anywhere (behaviour F1b). ``patch`` is a unified diff
    of workspace files, applied before the model is told. ``looked`` is false when the sensor could not look at all, so
    that the call has not passed it.
    """

    severity: Literal["block", "warn", "hint"]
    message: str
    hint: str = ""
    location: str = ""
    scope: str = ""
    patch: str = ""
    looked: bool = True

    def __post_init__(self) -> None:
        if self.severity not in SEVERITIES:  # a misspelt block must not pass for a hint
            raise ValueError(f"the severity of a Signal is one of {', '.join(SEVERITIES)}, not {self.severity!r}")
        _expect(self, "message", self.message, str)


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """Whether an answer is accepted; ``feedback`` goes to the model verbatim when it is not (behaviour G3).

    ``final`` says that no other answer could be accepted either: the run ends at once, as unaccepted.
    """

    accepted: bool
    feedback: str = ""
    final: bool = False

    def __post_init__(self) -> None:
        _expect(self, "feedback", self.feedback, str)


def _expect(owner: object, field: str, value: object, kind: type) -> None:
    """What plugins and tools make is checked where they make it: the error then names their line, not ours."""
    if not isinstance(value, kind):
        raise TypeError(f"{field} of {type(owner).__name__} must be {kind.__name__}, not {type(value).__name__}")
