"""Reads a journal as iterations: model calls, tool calls with all their attempts, and interventions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

from react_run.journal.replay.requests import RebuiltConversation
from react_run.journal.values import Record, message_from_data
from react_run.messages import Message
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.parts import Part


@dataclass(kw_only=True, eq=False)
class ModelCall:
    """One model request with its reply or error, if recorded."""

    number: int
    iteration: int
    request: Record
    messages: Sequence[Message]
    """All messages of the request."""
    new: Sequence[Message]
    """The messages that the previous request did not contain."""
    response: Record | None = None
    error: Record | None = None

    @property
    def reply(self) -> Message | None:
        """The reply, if there is one."""
        return None if self.response is None else self._reply

    @cached_property
    def _reply(self) -> Message:
        assert self.response is not None  # `reply` checks it first
        return message_from_data(self.response["message"])

    @property
    def end(self) -> Record | None:
        """The record that ended the call."""
        return self.response or self.error

    @property
    def sent(self) -> bool:
        """Whether a request was made; without a key, for example, there is none."""
        sent: bool = self.error is None or self.error["error"].get("sent", True)
        return sent


@dataclass(kw_only=True, eq=False)
class Attempt:
    """One attempt of a call that reached its tool."""

    started: Record | None = None
    finished: Record | None = None
    notes: list[Record] = field(default_factory=list)
    """Guards that fired while it asked for permission or ran."""


@dataclass(kw_only=True, eq=False)
class ToolUse:
    """One requested tool call and its result."""

    iteration: int
    position: int
    id: str
    name: str
    asked: object
    """The arguments as the model sent them."""
    attempts: list[Attempt] = field(default_factory=list)
    progress: Record | None = None
    """The last progress report."""
    answered: Record | None = None
    """Set if the result came from elsewhere, or was changed on the way."""
    judged: Record | None = None
    """The call's entry in the ``iteration_finished`` record."""

    @property
    def arguments(self) -> object:
        """The arguments that the tool ran with, or else the requested ones."""
        return next((attempt.started["arguments"] for attempt in self.attempts if attempt.started), self.asked)

    @property
    def executed(self) -> bool:
        """Whether the tool itself ran."""
        return any(attempt.started for attempt in self.attempts)

    @property
    def results(self) -> Iterator[Record]:
        """The records that contain a result, latest first."""
        attempts = (attempt.finished for attempt in reversed(self.attempts))
        for record in (self.judged, self.answered, *attempts):
            if record is not None and "content" in record:
                yield record

    @property
    def content(self) -> str | None:
        """The result as the model read it; ``None`` if there is none."""
        return next((record["content"] for record in self.results), None)

    @property
    def parts(self) -> Sequence[Record]:
        """The images and files in the result, as references."""
        return next((record.get("parts", ()) for record in self.results), ())

    @property
    def outcome(self) -> Record | None:
        """How the result was interpreted."""
        return next((record.get("outcome") for record in self.results), None)

    @property
    def failed(self) -> bool:
        """Whether the call is known to have failed."""
        return self.outcome is not None and self.outcome["disposition"] != "success"

    @property
    def finished(self) -> bool:
        """Whether there is a result: a run that was killed leaves calls without one."""
        return next(self.results, None) is not None

    @property
    def seconds(self) -> float | None:
        """The seconds it took, including all attempts and layers, if known."""
        last = self.attempts[-1].finished if self.attempts else None
        found = next((record["seconds"] for record in (self.judged, self.answered, last) if record), None)
        return None if found is None else float(found)

    @property
    def span(self) -> tuple[float, float] | None:
        """Its start and end, in seconds since 1970; ``None`` if unknown."""
        started = [attempt.started["time"] for attempt in self.attempts if attempt.started]
        ends = [attempt.finished for attempt in self.attempts if attempt.finished]
        last = ends[-1] if ends else self.answered
        if last is None:
            return None
        return (started[0] if started else last["time"] - last["seconds"]), last["time"]

    @property
    def taken(self) -> float | None:
        """The seconds from start to end, without the time that a person was asked before."""
        return self.seconds if self.span is None else self.span[1] - self.span[0]


@dataclass(kw_only=True, eq=False)
class Asked:
    """One question to a person, with the decision, if there is one."""

    record: Record
    decided: Record | None = None

    @property
    def waited(self) -> float:
        """Seconds until the decision."""
        return 0.0 if self.decided is None else float(self.decided["time"] - self.record["time"])

    @property
    def said(self) -> str:
        """The decision as text."""
        if self.decided is None:
            return "not answered yet"
        return "could not be asked" if "unanswered" in self.decided else f"{self.decided['answer']}"


@dataclass(kw_only=True, eq=False)
class Iteration:
    """One iteration: its model calls, the tool calls they requested, and the interventions."""

    number: int
    started_at: float
    model_calls: list[ModelCall] = field(default_factory=list)
    tools: list[ToolUse] = field(default_factory=list)
    guards: list[Record] = field(default_factory=list)
    looks: list[Record] = field(default_factory=list)
    """Values that the run recorded about the outside world."""
    questions: list[Asked] = field(default_factory=list)
    """The questions to people."""
    feedback: str | None = None


class Reader:
    """Groups the records of one run into iterations.

    Args:
        records: The run's own records, in order, the header first.
        incoming: The earlier turns of the conversation.
        attachment: Loads the attachments that records refer to.
    """

    def __init__(
        self, records: Sequence[Record], incoming: Sequence[Message], attachment: Callable[[Record], Part]
    ) -> None:
        self.iterations: dict[int, Iteration] = {}
        self.calls: dict[int, ModelCall] = {}
        """The model calls by number; if one was repeated after an interruption, the later one counts."""
        self._tools: dict[tuple[int, int], ToolUse] = {}
        self._rebuilt = RebuiltConversation(incoming, attachment)
        self.opening = self._rebuilt.follow(0, records[0]["opening"])
        """The conversation at the start of the run."""
        self.messages = self.opening
        """The conversation of the last request, or of the footer."""
        readers: dict[str, Callable[[Record], None]] = {
            "model_request": self._request,
            "model_response": self._response,
            "model_error": self._error,
            "tool_started": self._started,
            "tool_progress": self._progress,
            "tool_finished": self._finished,
            "tool_answered": self._answered,
            "iteration_finished": self._judged,
            "guard": self._guard,
            "looked": self._looked,
            "asked": self._asked,
            "decided": self._decided,
            "footer": self._footer,
            "resumed": self._resumed,
        }
        for record in records:
            if record["type"] in readers:
                readers[record["type"]](record)

    def _iteration(self, record: Record) -> Iteration:
        number = record["iteration"]
        if number not in self.iterations:
            self.iterations[number] = Iteration(number=number, started_at=record["time"])
        return self.iterations[number]

    def _request(self, record: Record) -> None:
        messages = self._rebuilt.follow(record["keep"], record["messages"])
        new = messages[record["keep"] :]
        call = ModelCall(
            number=record["call"], iteration=record["iteration"], request=record, messages=messages, new=new
        )
        self.calls[call.number] = call
        self._iteration(record).model_calls.append(call)
        self.messages = messages

    def _response(self, record: Record) -> None:
        call = self.calls[record["call"]]
        call.response = record
        reply = call.reply
        assert reply is not None  # just set
        self._rebuilt.responses[call.number] = reply
        for position, request in enumerate(reply.tool_requests):
            use = ToolUse(
                iteration=call.iteration, position=position, id=request.id, name=request.name, asked=request.arguments
            )
            self._tools[call.iteration, position] = use

    def _error(self, record: Record) -> None:
        self.calls[record["call"]].error = record

    def _use(self, record: Record) -> ToolUse:
        """The call that a record belongs to; the first such record adds it to its iteration."""
        place = record["iteration"], record["position"]
        use = self._tools.get(place)
        if use is None or use.name != record["name"]:
            use = self._tools[place] = ToolUse(
                iteration=place[0],
                position=place[1],
                id=record["id"],
                name=record["name"],
                asked=record.get("arguments"),
            )
        iteration = self._iteration(record)
        if use not in iteration.tools:
            iteration.tools.append(use)
            iteration.tools.sort(key=lambda use: use.position)
        use.id = record["id"]
        return use

    def _attempt(self, record: Record) -> Attempt:
        attempts = self._use(record).attempts
        number: int = record.get("attempt", 1)
        while len(attempts) < number:
            attempts.append(Attempt())
        return attempts[number - 1]

    def _started(self, record: Record) -> None:
        self._attempt(record).started = record

    def _progress(self, record: Record) -> None:
        self._use(record).progress = record

    def _finished(self, record: Record) -> None:
        self._attempt(record).finished = record
        self._rebuilt.note_result((record["iteration"], record["position"]), record)

    def _answered(self, record: Record) -> None:
        self._use(record).answered = record
        self._rebuilt.note_result((record["iteration"], record["position"]), record)

    def _judged(self, record: Record) -> None:
        iteration = self._iteration(record)
        iteration.feedback = record.get("feedback")
        for judged in record["calls"]:
            place = record["iteration"], judged["position"]
            if place in self._tools:
                self._tools[place].judged = judged
            if "content" in judged:
                self._rebuilt.note_result(place, judged)

    def _guard(self, record: Record) -> None:
        self._iteration(record).guards.append(record)
        if "inside" in record:
            self._attempt(record).notes.append(record)

    def _looked(self, record: Record) -> None:
        self._iteration(record).looks.append(record)

    def _asked(self, record: Record) -> None:
        self._iteration(record).questions.append(Asked(record=record))

    def _decided(self, record: Record) -> None:
        for asked in self._iteration(record).questions:
            if asked.record["question"] == record["question"] and asked.decided is None:
                asked.decided = record
                return

    def _resumed(self, record: Record) -> None:
        self.calls = {number: call for number, call in self.calls.items() if number < record["first_call"]}

    def _footer(self, record: Record) -> None:
        self.messages = self._rebuilt.follow(record["keep"], record["messages"])
