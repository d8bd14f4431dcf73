"""The result of a run: its steps, why it stopped, and its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING

from react_run.messages import Message, Usage
from react_run.outcome import Disposition, Outcome
from react_run.support.dataclasses import dataclass
from react_run.support.jsonable import to_jsonable

if TYPE_CHECKING:
    from react_run.chat import ChatCompletionResponse


class StopReason(StrEnum):
    """Why a run ended; plugins may stop a run with their own strings."""

    COMPLETED = "completed"
    MAX_ITERATIONS = "max_iterations"
    OUTPUT_LIMIT = "output_limit"
    MODEL_ERROR = "model_error"
    STUCK = "stuck"
    TIMEOUT = "timeout"
    COST_LIMIT = "cost_limit"
    TOKEN_LIMIT = "token_limit"
    CLARIFICATION_REQUIRED = "clarification_required"
    TOOL_FAILURE = "tool_failure"
    TOOL_RETRY_EXHAUSTED = "tool_retry_exhausted"
    UNRESOLVED_TOOL_FAILURE = "unresolved_tool_failure"
    UNACCEPTED = "unaccepted"
    REFUSED = "refused"
    EMPTY_REPLY = "empty_reply"
    CANCELLED = "cancelled"
    ERROR = "error"


LIMIT_REASONS = frozenset(
    {
        StopReason.MAX_ITERATIONS,
        StopReason.OUTPUT_LIMIT,
        StopReason.STUCK,
        StopReason.TIMEOUT,
        StopReason.COST_LIMIT,
        StopReason.TOKEN_LIMIT,
    }
)
"""Reasons that make ``finish_reason`` ``length`` (behaviours L9, S2)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReActStep:
    """One tool request and its result (behaviour L9).

    ``thought`` is the text of the reply that requested it, ``iteration`` the number of that reply's iteration,
    ``attempt`` counts calls of this tool since its last success, ``started`` is the start time (seconds since 1970),
    ``seconds`` the duration. ``id`` is the id of the request in the conversation. ``opaque`` means that this tool's
    results are not interpreted, so a failure proves nothing (behaviour F).
    """

    thought: str
    action: str
    action_input: Mapping[str, object] | str
    observation: str
    outcome: Outcome | None
    attempt: int
    executed: bool
    iteration: int
    seconds: float
    opaque: bool = True
    repaired: tuple[str, ...] = ()
    id: str = ""
    started: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether the call is known to have failed."""
        return self.outcome is not None and self.outcome.disposition.failed

    @property
    def error_code(self) -> str | None:
        """The code of the failure, or ``None``."""
        return self.outcome.code if self.outcome is not None and self.outcome.disposition.failed else None

    def to_dict(self) -> dict[str, object]:
        """The fields as JSON-ready values."""
        outcome = self.outcome
        return {
            "thought": self.thought,
            "action": self.action,
            "action_input": to_jsonable(self.action_input),
            "observation": self.observation,
            "outcome": None
            if outcome is None
            else {
                "disposition": outcome.disposition.value,
                "code": outcome.code,
                "message": outcome.message,
                "verified_summary": outcome.verified_summary,
            },
            "error_code": self.error_code,
            "attempt": self.attempt,
            "executed": self.executed,
            "iteration": self.iteration,
            "id": self.id,
            "started": round(self.started, 6),
            "seconds": round(self.seconds, 6),
            "repaired": list(self.repaired),
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Unresolved:
    """A failed call that still counts: no later success cleared it."""

    tool: str
    code: str
    message: str
    disposition: Disposition
    opaque: bool

    def to_dict(self) -> dict[str, object]:
        """The fields as in the result object (docs/agent-files.md)."""
        return {
            "tool": self.tool,
            "code": self.code,
            "message": self.message,
            "disposition": self.disposition.value,
            "opaque": self.opaque,
        }


@dataclass(eq=False, slots=True)
class RunOutcome:
    """How a run ends, as far as known; it becomes the :class:`RunResult`. Plugins may change it.

    ``stop_reason`` is ``None`` while the run continues. ``answer`` is the answer for the user; ``unverified_answer``
    what the model claimed while facts were missing; ``value`` the parsed answer if there is an ``output_schema``;
    ``disclosure`` the tokens saved by offering fewer tools; ``emitted`` the messages that plugins add for the caller;
    ``plan`` the model's todo list, each step with its ``status`` (``open``, ``doing``, ``done``).
    """

    stop_reason: str | None = None
    answer: str = ""
    steps: list[ReActStep] = field(default_factory=list)
    unverified_answer: str | None = None
    value: object = None
    disclosure: dict[str, object] | None = None
    emitted: list[object] = field(default_factory=list)
    plan: list[dict[str, str]] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True, slots=True)
class RunResult:
    """How a run ended.

    ``answer`` is the answer for the user; ``unverified_answer`` what the model claimed while facts were missing
    (behaviour F5). ``success`` is true only for a completed run with a complete, non-empty answer that its tool calls
    give no reason to doubt (F6). ``value`` is the parsed answer if there is an ``output_schema``, ``None`` if the
    answer was set aside. ``emitted`` holds the messages that plugins added, unchanged; :meth:`to_dict` has them as JSON
    values. ``plan`` is the model's todo list as it left it.
    """

    answer: str
    stop_reason: str
    finish_reason: str
    success: bool
    iterations: int
    steps: Sequence[ReActStep] = field(repr=False)
    messages: Sequence[Message] = field(repr=False)
    usage: Usage
    unresolved: Sequence[Unresolved] = ()
    unverified_answer: str | None = None
    disclosure: Mapping[str, object] | None = None
    value: object = None
    run_id: str = ""
    model: str = ""
    emitted: Sequence[object] = field(default=(), repr=False)
    plan: Sequence[Mapping[str, str]] = field(default=(), repr=False)

    @property
    def emitted_values(self) -> list[object]:
        """The messages that plugins added, as JSON values."""
        from react_run.models.stored import message_to_dict

        return [to_jsonable(message_to_dict(item) if isinstance(item, Message) else item) for item in self.emitted]

    @property
    def response(self) -> ChatCompletionResponse:
        """The result in the ChatCompletion format, with the trace in ``provider_specific_fields`` (behaviour L9)."""
        from react_run.chat import ChatChoice, ChatCompletionResponse, ChatMessage, chat_usage

        fields: dict[str, object] = {
            "react_trace": [step.to_dict() for step in self.steps],
            "iterations": self.iterations,
            "success": self.success,
            "termination_reason": str(self.stop_reason),
            "unresolved_tool_failures": [failure.to_dict() for failure in self.unresolved],
            "emitted": self.emitted_values,
        }
        choice = ChatChoice(
            message=ChatMessage(role="assistant", content=self.answer),
            finish_reason=self.finish_reason,
            provider_specific_fields=fields,
        )
        return ChatCompletionResponse(
            id=f"chatcmpl-{self.run_id}", model=self.model, choices=[choice], usage=chat_usage(self.usage)
        )

    def _repr_markdown_(self) -> str:
        """The answer as notebooks show it, followed by the stop reason if the run was not a success."""
        ended = "" if self.success else f"\n\n*not a success: {self.stop_reason}*"
        return f"{self.answer}{ended}"

    def to_dict(self) -> dict[str, object]:
        """The result object of ``--json`` (docs/agent-files.md); values of plugins that JSON cannot represent become
        text.
        """
        from react_run.models.stored import message_to_dict

        return {
            "answer": self.answer,
            "success": self.success,
            "stop_reason": str(self.stop_reason),
            "finish_reason": self.finish_reason,
            "iterations": self.iterations,
            "steps": [step.to_dict() for step in self.steps],
            "usage": to_jsonable(self.usage.to_dict()),
            "unresolved": [failure.to_dict() for failure in self.unresolved],
            "unverified_answer": self.unverified_answer,
            "disclosure": to_jsonable(self.disclosure),
            "value": to_jsonable(self.value),
            "emitted": self.emitted_values,
            **({"plan": [dict(step) for step in self.plan]} if self.plan else {}),
            "run_id": self.run_id,
            "model": self.model,
            "messages": [to_jsonable(message_to_dict(message)) for message in self.messages],
        }
