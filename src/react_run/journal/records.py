"""Writes one run into its journal, record by record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from traceback import format_exception
from typing import TYPE_CHECKING, Any

from react_run.engine.current import current_call
from react_run.engine.state import EngineState
from react_run.errors import ModelError
from react_run.journal.conversation import Conversation
from react_run.journal.lines import encoded
from react_run.journal.values import Record, in_micros, message_to_data, outcome_to_data
from react_run.journal.writer import JournalWriter
from react_run.messages import NO_USAGE, content_with
from react_run.support.display import error_text

if TYPE_CHECKING:
    from react_run.messages import Message, ModelResponse
    from react_run.outcome import Observation
    from react_run.questions import Answer, Question
    from react_run.run import Iteration, Run, RunResult, ToolCall

_LONGEST_TRACEBACK = 8_192
"""How many characters at the end of a traceback are recorded."""


class Recordings(list["Recording"]):
    """The recordings of one run, for a plugin that answers a call instead of the loop."""


class Recording:
    """Records one run.

    Args:
        run: The run.
        writer: The writer of its journal.
    """

    def __init__(self, run: Run, writer: JournalWriter) -> None:
        self.run, self.writer = run, writer
        self._state = run.state(EngineState)
        self.attempts: dict[ToolCall, int] = {}
        """The current attempt of each call; only calls that have reached the recorder are in it."""
        self._counts: dict[ToolCall, int] = {}
        self._started: set[ToolCall] = set()
        self._stopped: set[ToolCall] = set()
        """The calls that had already asked to stop the run before their tool was executed."""
        self._observed: dict[ToolCall, Observation] = {}
        self._executed: set[ToolCall] = set()
        """The calls whose tool was started, according to the journal."""
        self._conversation = Conversation(self._state.incoming)
        self._head: Record = {"run": run.id} if run.parent is None else {"run": run.id, "parent": run.parent.id}
        writer.enter(run.id)

    def put(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Write one record."""
        writer = self.writer
        writer.put({"type": kind, **self._head, "time": writer.now(), **fields})

    def header(self, fields: Record) -> None:
        """Write the first record; ``fields`` lack the opening conversation, which is added."""
        self.put("header", {**fields, "opening": self._follow(self.run.messages)["messages"]})

    @property
    def iteration(self) -> int:
        """The number of the current iteration."""
        return len(self.run.iterations)

    # -- model calls ------------------------------------------------------------------------------------------------

    def request(self, iteration: Iteration) -> int:
        """Record a request that is about to be sent, and return its number."""
        request = iteration.request
        call = self._state.model_calls + 1
        fields: Record = {"iteration": self.iteration, "call": call}
        if request.tools:
            head = {"type": "tools", **self._head, "time": self.writer.now(), "iteration": self.iteration}
            fields["tools"] = self.writer.offer(request.tools, head)
        if request.tool_choice:
            fields["tool_choice"] = request.tool_choice
        if request.settings:
            fields["settings"] = dict(request.settings)
        fields |= self._follow(request.messages)
        fields["digest"] = self._conversation.digest
        self.put("model_request", fields)
        return call

    def response(self, call: int, response: ModelResponse, seconds: float) -> None:
        """Record the reply to a request."""
        fields = {
            "iteration": self.iteration,
            "call": call,
            "message": message_to_data(response.message),
            "usage": response.usage.to_dict(),
            "finish_reason": response.finish_reason,
            "model": response.model,
            "seconds": in_micros(seconds),
        }
        self.put("model_response", fields)
        self._conversation.answered(call, response.message)

    def model_error(self, call: int, error: BaseException, seconds: float) -> None:
        """Record a failed request."""
        fields = {
            "iteration": self.iteration,
            "call": call,
            "error": _model_error(error),
            "seconds": in_micros(seconds),
        }
        self.put("model_error", fields)

    # -- tool calls -------------------------------------------------------------------------------------------------

    def enter(self, call: ToolCall) -> None:
        """Note that a call has passed all layers and is about to be executed."""
        self.attempts[call] = self._counts[call] = self._counts.get(call, 0) + 1
        if call.stop_reason is not None:
            self._stopped.add(call)

    def started(self, call: ToolCall) -> None:
        """Record that a tool is about to run."""
        self._started.add(call)
        fields = self._place(call)
        fields["arguments"] = call.arguments
        fields["changes"] = call.tool is None or call.tool.read_only is not True
        self.put("tool_started", fields)

    def finished(self, call: ToolCall, observation: Observation, seconds: float) -> None:
        """Record the result of a call, from its tool or, if it was refused, from the runtime."""
        fields = self._place(call)
        fields["executed"] = executed = call in self._started
        fields |= self._result(observation)
        fields["opaque"] = call.opaque
        fields["seconds"] = in_micros(seconds)
        if observation.raw is not None and not isinstance(observation.raw, str):
            fields["structured"] = True
        if call.stop_reason is not None and call not in self._stopped:
            fields["stop"] = {"reason": str(call.stop_reason), "answer": call.stop_answer}
        if call.spent is not NO_USAGE:
            fields["spent"] = call.spent.to_dict()
        if call.error is not None and executed:
            fields["error"] = _error(call.error)
        self.put("tool_finished", fields)
        if executed:
            self._executed.add(call)
        self._note(call, observation)

    def leave(self, call: ToolCall) -> None:
        """Note that an attempt is over, however it ended."""
        del self.attempts[call]
        self._started.discard(call)
        self._stopped.discard(call)

    def answered(self, call: ToolCall, observation: Observation) -> None:
        """Record the final result of a call that leaves the outermost layer, if it is new."""
        if not self._is_known(call, observation):
            fields = {**self._place(call), **self._result(observation), "opaque": call.opaque}
            self.put("tool_answered", {**fields, "seconds": in_micros(call.seconds)})
        self._note(call, observation)

    def _place(self, call: ToolCall) -> Record:
        request = call.request
        place: Record = {
            "iteration": len(self.run.iterations),
            "position": call.position,
            "id": request.id,
            "name": request.name,
        }
        if (attempt := self.attempts.get(call, 1)) > 1:
            place["attempt"] = attempt
        return place

    def _is_known(self, call: ToolCall, observation: Observation) -> bool:
        """Whether ``observation`` is already recorded as the latest result; one that was merely masked is not new."""
        known = self._observed.get(call)
        if known is None or known is observation:
            return known is observation
        was, now = (encoded(self._result(one), self.writer.masker)[1] for one in (known, observation))
        return was == now

    def _result(self, observation: Observation) -> Record:
        data: Record = {"content": observation.content}
        if observation.outcome is not None:
            data["outcome"] = outcome_to_data(observation.outcome)
        if observation.repaired:
            data["repaired"] = list(observation.repaired)
        if observation.spilled_to is not None:
            data["spilled_to"] = observation.spilled_to
        if observation.parts:
            data["parts"] = [self.writer.keep(part) for part in observation.parts]
        return data

    def _note(self, call: ToolCall, observation: Observation) -> None:
        self._observed[call] = observation
        content = content_with(observation.content, observation.parts) if observation.parts else observation.content
        self._conversation.observed(call.request.id, self.iteration, call.position, content)

    # -- everything else --------------------------------------------------------------------------------------------

    def iteration_finished(self, iteration: Iteration) -> None:
        """Record the end of an iteration; omit what the journal already contains."""
        if iteration.feedback is not None or not all(map(self._is_fully_recorded, iteration.calls)):
            fields: Record = {"iteration": iteration.number, "calls": [self._judged(call) for call in iteration.calls]}
            if iteration.feedback is not None:
                fields["feedback"] = iteration.feedback
            self.put("iteration_finished", fields)
        self._observed.clear()
        self._counts.clear()
        self._executed.clear()

    def _is_fully_recorded(self, call: ToolCall) -> bool:
        """Whether the record of a call's result already contains everything about it."""
        known = self._observed.get(call) is call.observation and self._counts.get(call, 1) == 1
        return known and call.executed is (call in self._executed)

    def _judged(self, call: ToolCall) -> Record:
        observation = call.result
        data: Record = {"position": call.position, "executed": call.executed, "seconds": in_micros(call.seconds)}
        known = self._is_known(call, observation)
        self._note(call, observation)
        return data if known else {**data, **self._result(observation)}

    def looked(self, what: str, value: object) -> None:
        """Record a value from the outside world."""
        self.put("looked", {**self._within(current_call(self.run)), "what": what, "value": value})

    def guard(self, guard: str, detail: str) -> None:
        """Record that a guard fired."""
        self.put("guard", {**self._within(current_call(self.run)), "guard": guard, "detail": detail})

    def asked(self, question: Question) -> None:
        """Record a question that a person is about to be asked."""
        fields: Record = {"question": question.id, "digest": question.digest, "text": question.text}
        if question.choices:
            fields["choices"] = list(question.choices)
        if question.schema is not None:
            fields["schema"] = question.schema
        if question.tool:
            fields |= {"tool": question.tool, "arguments": question.arguments}
        if question.by_clock:
            fields["by_clock"] = True
        self.put("asked", {**self._within(current_call(self.run)), **fields})

    def decided(self, question: Question, answer: Answer | None) -> None:
        """Record the answer to a question, or that nobody can be asked."""
        fields: Record = {"question": question.id, "digest": question.digest}
        if question.by_clock:
            fields["by_clock"] = True
        fields |= {"unanswered": True} if answer is None else {"answer": answer.value, "by": answer.by}
        self.put("decided", {**self._within(current_call(self.run)), **fields})

    def progress(self, call: ToolCall, done: float | None, total: float | None, message: str) -> None:
        """Record a tool's progress report."""
        known = {"done": done, "total": total, "message": message or None}
        fields = {name: value for name, value in known.items() if value is not None}
        self.put("tool_progress", {**self._within(call), **fields})

    def _within(self, call: ToolCall | None) -> Record:
        """The fields that locate an event: within an attempt of ``call``, or just in the iteration."""
        return {"iteration": self.iteration} if call not in self.attempts else {**self._place(call), "inside": True}

    def footer(self, result: RunResult, error: BaseException | None = None) -> None:
        """Write the last record."""
        fields: Record = {
            "iteration": self.iteration,
            "status": "finished" if error is None else "failed",
            "stop_reason": str(result.stop_reason),
            "finish_reason": result.finish_reason,
            "success": result.success,
            "answer": result.answer,
            "unverified_answer": result.unverified_answer,
            "unresolved": [failure.to_dict() for failure in result.unresolved],
            "usage": result.usage.to_dict(),
            "iterations": result.iterations,
            "disclosure": result.disclosure,
            "value": result.value,
            **self._follow(result.messages),
        }
        if result.emitted:
            fields["emitted"] = result.emitted_values
        if result.plan:
            fields["plan"] = [dict(step) for step in result.plan]
        if error is not None:
            fields["error"] = _error(error)
        self.put("footer", fields)

    def _follow(self, messages: Sequence[Message]) -> Record:
        return self._conversation.follow(messages, self.writer)


def _error(error: BaseException) -> Record:
    text = "".join(format_exception(error))
    return {"type": type(error).__name__, "message": error_text(error), "traceback": text[-_LONGEST_TRACEBACK:]}


def _model_error(error: BaseException) -> Record:
    if not isinstance(error, ModelError):
        return _error(error)
    fields = ("provider", "status", "code", "retryable", "retry_after")
    return {
        "type": type(error).__name__,
        "message": str(error),
        **{name: value for name in fields if (value := getattr(error, name)) not in (None, "")},
        **({} if error.sent else {"sent": False}),
    }
