"""Outcomes of tool calls, in terms that policies and people can act on."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Literal

from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.parts import Part


class Disposition(StrEnum):
    """What a result means for the run (behaviour F).

    `SUCCESS`: it did what it was asked to do. `NO_RESULT`: it worked and found nothing. `RETRYABLE_ERROR`: other
    arguments may work. `TERMINAL_ERROR`: retrying is pointless, the run ends. `CLARIFICATION_REQUIRED`: only the user
    can answer, the run ends with the question.
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """How a toolset, or the runtime, reads a result.

    Args:
        disposition: What it means for the run.
        code: A short stable name of the failure, such as ``unknown_unit``; empty for success.
        message: What went wrong and how to correct it, for ``unresolved`` and the answer. The model reads only the
            result itself, so the tool has to say there what would be right.
        verified_summary: One line that states the result as a fact, used if an answer must be grounded (F5).
        of_call: Whether the failure is one of this particular call rather than of the tool, such as a sensor's
            objection to what was written: other arguments then count as a new attempt (F1).
        denied: Whether permission was denied; set by the runtime.
        unknown: Whether the call may still have taken effect, for example after a timeout: it is not repeated (F4).
    """

    disposition: Disposition
    code: str = ""
    message: str = ""
    verified_summary: str = ""
    of_call: bool = False
    denied: bool = False
    unknown: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "disposition", Disposition(self.disposition))  # use its plain text

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Observation:
    """What the model reads about one call.

    ``outcome`` is ``None`` for an opaque result: neither proof nor failure. ``spilled_to`` is the path of the full
    result if ``content`` is only a preview (behaviour T4). ``repaired`` lists what was corrected in the arguments
    (behaviour A). ``raw`` is the tool's return value, if there is one, for interpreters and wrappers. ``whole`` keeps
    the content in full: it is neither cut nor moved out of the conversation. ``parts`` are images and files
    (``ImagePart``, ``FilePart``) that the model sees as well.
    """

    content: str
    outcome: Outcome | None = None
    spilled_to: str | None = None
    repaired: tuple[str, ...] = ()
    raw: object = None
    whole: bool = False
    parts: tuple[Part, ...] = ()

    def __post_init__(self) -> None:
        if type(self.content) is not str:
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

    An error class sets ``opaque`` if its errors prove nothing: a missing file is not a reason to doubt an answer, and
    asking for another file is a new attempt (behaviours F1, F6).
    """

    disposition = Disposition.RETRYABLE_ERROR
    default_code = "tool_error"
    opaque = False
    code = ""

    def __init__(self, message: str, *, code: str = "") -> None:
        super().__init__(message)
        self.code = code or self.default_code

    def outcome(self) -> Outcome:
        """The outcome that this error represents."""
        return Outcome(disposition=self.disposition, code=self.code or self.default_code, message=str(self))


class ToolFailed(ToolError):
    """The tool cannot do this, now or later: the run ends with what is known (behaviour F2)."""

    disposition = Disposition.TERMINAL_ERROR
    default_code = "tool_failed"


class ClarificationNeeded(ToolError):
    """Only the user can answer; the message is the question (behaviour F2)."""

    disposition = Disposition.CLARIFICATION_REQUIRED
    default_code = "clarification_required"


class NoResult(ToolError):
    """The tool worked and found nothing (behaviour F3)."""

    disposition = Disposition.NO_RESULT
    default_code = "no_result"


SEVERITIES = ("block", "warn", "hint")
"""The severities of a signal."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Signal:
    """What a sensor says about an executed call (behaviour G2).

    ``block`` makes the call a retryable failure; ``warn`` and ``hint`` are appended to what the model reads.
    ``location`` is the place in question, such as ``calc.py:3:1``. ``scope`` is the place where a later change that
    passes the sensor clears a block: the location by default, ``.`` for anywhere (behaviour F1b). ``patch`` is a
    unified diff of workspace files, applied before the model is told. ``looked`` is false if the sensor could not look
    at all, so the call has not passed it.
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

    ``final`` means that no other answer would be accepted either: the run ends at once, as unaccepted.
    """

    accepted: bool
    feedback: str = ""
    final: bool = False

    def __post_init__(self) -> None:
        _expect(self, "feedback", self.feedback, str)


def _expect(owner: object, field: str, value: object, kind: type) -> None:
    """Check values where plugins and tools create them, so that the traceback points to their line, not ours."""
    if not isinstance(value, kind):
        raise TypeError(f"{field} of {type(owner).__name__} must be {kind.__name__}, not {type(value).__name__}")
