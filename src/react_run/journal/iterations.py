"""Reads a journal as iterations: model calls, tool calls with all their attempts, and interventions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

from react_run.journal.replay.requests import Rebuilt
from react_run.journal.values import Record, message_from_data
from react_run.messages import Message
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.parts import Part


@dataclass(kw_only=True, eq=False)
class ModelCall:
    """One request, and its reply or error, if either was recorded."""

    number: int
    iteration: int
    request: Record
    messages: Sequence[Message]
    """All messages of the request."""
    new: Sequence[Message]
    """Those that the request before did not have."""
    response: Record | None = None
    error: Record | None = None

    @property
    def reply(self) -> Message | None:
        """The reply, when there was one."""
        return None if self.response is None else self._reply

    @cached_property
    def _reply(self) -> Message:
        assert self.response is not None  # it is asked for when there is one
        return message_from_data(self.response["message"])

    @property
    def end(self) -> Record | None:
        """The record that ended it."""
        return self.response or self.error


@dataclass(kw_only=True, eq=False)
class Attempt:
    """One time that a call came to its tool."""

    started: Record | None = None
    finished: Record | None = None
    notes: list[Record] = field(default_factory=list)
    """The guards that fired while its permission was asked and its tool was at work."""


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
    """Its last progress report."""
    answered: Record | None = None
    """Where its result came from elsewhere, or was changed on the way."""
    judged: Record | None = None
    """What the judgement of the iteration made of it."""

    @property
    def arguments(self) -> object:
        """The arguments it ran with, else those that were asked for."""
        return next((attempt.started["arguments"] for attempt in self.attempts if attempt.started), self.asked)

    @property
    def executed(self) -> bool:
        """Whether the tool itself was started."""
        return any(attempt.started for attempt in self.attempts)

    @property
    def results(self) -> Iterator[Record]:
        """The records with a result, the latest first."""
        attempts = (attempt.finished for attempt in reversed(self.attempts))
        for record in (self.judged, self.answered, *attempts):
            if record is not None and "content" in record:
                yield record

    @property
    def content(self) -> str | None:
        """What the model read; ``None`` when there is no result."""
        return next((record["content"] for record in self.results), None)

    @property
    def parts(self) -> Sequence[Record]:
        """The images and files in its result, as the journal refers to them."""
        return next((record.get("parts", ()) for record in self.results), ())

    @property
    def outcome(self) -> Record | None:
        """How the result was read."""
        return next((record.get("outcome") for record in self.results), None)

    @property
    def failed(self) -> bool:
        """Whether it is known to have failed."""
        return self.outcome is not None and self.outcome["disposition"] != "success"

    @property
    def finished(self) -> bool:
        """Whether anything is known of its result: a run that was killed leaves calls without one."""
        return next(self.results, None) is not None

    @property
    def seconds(self) -> float | None:
        """How long it took, all attempts and layers together, when that is known."""
        last = self.attempts[-1].finished if self.attempts else None
        found = next((record["seconds"] for record in (self.judged, self.answered, last) if record), None)
        return None if found is None else float(found)

    @property
    def span(self) -> tuple[float, float] | None:
        """From when to when it is known to have been under way, in seconds since 1970; ``None`` when it is not."""
        started = [attempt.started["time"] for attempt in self.attempts if attempt.started]
        ends = [attempt.finished for attempt in self.attempts if attempt.finished]
        last = ends[-1] if ends else self.answered
        if last is None:
            return None
        return (started[0] if started else last["time"] - last["seconds"]), last["time"]

    @property
    def taken(self) -> float | None:
        """Seconds from its start to its end, without those in which a person was asked before it."""
        return self.seconds if self.span is None else self.span[1] - self.span[0]


@dataclass(kw_only=True, eq=False)
class Asked:
    """One question to a person, and the decision, if there is one."""

    record: Record
    decided: Record | None = None

    @property
    def waited(self) -> float:
        """Seconds until the decision."""
        return 0.0 if self.decided is None else float(self.decided["time"] - self.record["time"])

    @property
    def said(self) -> str:
        """The decision in words."""
        if self.decided is None:
            return "not answered yet"
        return "could not be asked" if "unanswered" in self.decided else f"{self.decided['answer']}"


@dataclass(kw_only=True, eq=False)
class Iteration:
    """One iteration: the calls of the model in it, the tool calls they asked for, and what intervened."""

    number: int
    started_at: float
    model_calls: list[ModelCall] = field(default_factory=list)
    tools: list[ToolUse] = field(default_factory=list)
    guards: list[Record] = field(default_factory=list)
    looks: list[Record] = field(default_factory=list)
    """What it found out about the world outside."""
    questions: list[Asked] = field(default_factory=list)
    """What people were asked."""
    feedback: str | None = None


class Reader:
    """Reads the records of one run, in order, into iterations.

    Args:
        records: Those of the run itself, the header first.
        incoming: The earlier turns of the conversation.
        attachment: Finds the attachments that records refer to.
    """

    def __init__(
        self, records: Sequence[Record], incoming: Sequence[Message], attachment: Callable[[Record], Part]
    ) -> None:
        self.iterations: dict[int, Iteration] = {}
        self.calls: dict[int, ModelCall] = {}
        """The model calls by number; of those that were made again after an interruption, the later ones."""
        self._tools: dict[tuple[int, int], ToolUse] = {}
        self._rebuilt = Rebuilt(incoming, attachment)
        self.opening = self._rebuilt.follow(0, records[0]["opening"])
        """The conversation that the run began with."""
        self.messages = self.opening
        """The conversation as the last request, or the footer, has it."""
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
        assert reply is not None  # set in the line above
        self._rebuilt.responses[call.number] = reply
        for position, request in enumerate(reply.tool_requests):
            use = ToolUse(
                iteration=call.iteration, position=position, id=request.id, name=request.name, asked=request.arguments
            )
            self._tools[call.iteration, position] = use

    def _error(self, record: Record) -> None:
        self.calls[record["call"]].error = record

    def _use(self, record: Record) -> ToolUse:
        """The call that a record is about; it stands in its iteration from the first such record on."""
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
