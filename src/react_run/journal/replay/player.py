"""A plugin between recorder and loop that follows a recording, effect by effect (behaviours J3, J4)."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Container
from functools import partial
from typing import TYPE_CHECKING

from react_run.engine.state import EngineState
from react_run.engine.usage import spend
from react_run.hooks import inline
from react_run.hookspecs import hookimpl
from react_run.journal.iterations import Attempt, ToolUse
from react_run.journal.reading import Journal
from react_run.journal.records import Recordings
from react_run.journal.replay.errors import error_from
from react_run.journal.values import Record, outcome_from_data, usage_from_data
from react_run.outcome import Observation
from react_run.questions import ALWAYS, Answer, Question

if TYPE_CHECKING:
    from react_run.messages import ModelResponse, Usage
    from react_run.parts import Part
    from react_run.run import Iteration, Run, ToolCall

Proceed = Callable[[], Awaitable[Observation]]


class _Calls(dict[tuple[int, int], dict["ToolCall", int]]):
    """The attempts of one run's calls, by iteration and position.

    A position has several calls when a plugin repeats an iteration.
    """


class _Looks(dict[str, int]):
    """How often one run has recorded each value."""


class Player:
    """Follows a recording: the run gets the recorded id, and goes live at the first effect that was not recorded.

    Values from the outside world (``run.recorded``) are taken from the recording.

    Args:
        recording: The recorded run.
        answers: The numbers of the model calls to answer from the recording.
    """

    inherited_by_subagents = False

    def __init__(self, recording: Journal, answers: Container[int]) -> None:
        self.recording, self.answers = recording, answers
        self.uses: dict[tuple[int, int], list[ToolUse]] = {}
        """The calls that reached their tool, by iteration and position, in order."""
        for use in [use for iteration in recording.iterations for use in iteration.tools if use.attempts]:
            self.uses.setdefault((use.iteration, use.position), []).append(use)
        self.looks: dict[str, list[object]] = {}
        self.decisions: dict[tuple[str, str], Record] = {}
        """Recorded answers, by question id and digest."""
        self.lasting: dict[str, Record] = {}
        """Recorded answers that apply to all such calls, by digest."""
        for record in recording.valid:
            if record["type"] == "looked":
                self.looks.setdefault(record["what"], []).append(record["value"])
            elif record["type"] == "decided":
                self.decisions[record["question"], record["digest"]] = record
                if record.get("answer") == ALWAYS:
                    self.lasting[record["digest"]] = record

    @hookimpl(tryfirst=True)
    @inline
    def react_guide(self, run: Run) -> None:
        """Give the run its recorded id, settings and values: this hook comes first in a run."""
        run.id = self.recording.run_id
        state = run.state(EngineState)
        state.replaying = True
        state.settings = self.recording.header.get("settings", {})
        state.recall = partial(self._recall, run)

    def _recall(self, run: Run, what: str) -> tuple[object] | None:
        counts = run.state(_Looks)
        counts[what] = number = counts.get(what, 0) + 1
        known = self.looks.get(what, ())
        if len(known) >= number:
            return (known[number - 1],)
        self.go_on(run)
        return None

    @hookimpl(tryfirst=True)
    async def react_ask(self, run: Run, question: Question) -> Answer | None:
        """Answer with the recorded decision, if it was about the same question and arguments."""
        found = self.decisions.get((question.id, question.digest))
        if found is None and question.is_approval:
            found = self.lasting.get(question.digest)
        if found is None:
            await self.beyond(run, f"the question {question.text!r}")
            return None
        return Answer(found.get("answer"), by=found.get("by", ""))

    def go_on(self, run: Run) -> None:
        """Leave the recording: an effect happens that was not recorded."""
        run.state(EngineState).replaying = False

    @hookimpl(trylast=True)
    async def react_model_call(self, run: Run, iteration: Iteration) -> ModelResponse | None:
        call = run.state(EngineState).model_calls + 1
        if call not in self.answers:
            await self.beyond(run, f"model call {call}")
        return None

    async def beyond(self, run: Run, what: str) -> None:
        """Handle an effect whose end was not recorded."""
        self.go_on(run)

    def attempt(self, run: Run, call: ToolCall) -> Attempt | None:
        """The recorded attempt for this attempt of a call, if any."""
        place = len(run.iterations), call.position
        calls = run.state(_Calls).setdefault(place, {})
        calls[call] = number = calls.get(call, 0) + 1
        uses = self.uses.get(place, ())
        which = list(calls).index(call)
        return uses[which].attempts[number - 1] if len(uses) > which and len(uses[which].attempts) >= number else None

    def answer(self, run: Run, call: ToolCall, attempt: Attempt, finished: Record) -> Observation:
        """The recorded result of a call; its recorded side effects on the run are repeated, too."""
        if attempt.started is not None:
            self.start(run, call)
        for note in attempt.notes:
            run.note(note["guard"], note["detail"])
        if "stop" in finished:
            call.stop(**finished["stop"])
        if "spent" in finished:
            spend_for(run, call, usage_from_data(finished["spent"]))
        call.opaque = finished["opaque"]
        outcome = outcome_from_data(finished.get("outcome"))
        call.error = error_from(finished["error"], outcome.code if outcome else "") if "error" in finished else None
        observation = Observation(
            content=finished["content"],
            outcome=outcome,
            repaired=tuple(finished.get("repaired", ())),
            raw=_raw(finished["content"]) if finished.get("structured") else finished["content"],
            spilled_to=finished.get("spilled_to"),
            parts=self._parts(run, finished),
        )
        if call.tool is not None and call.tool.toolset is not None:
            call.tool.toolset.replayed(call, observation)
        return observation

    def _parts(self, run: Run, finished: Record) -> tuple[Part, ...]:
        if "parts" not in finished:
            return ()
        from react_run.engine.attachments import taken_in

        return taken_in(run, map(self.recording.attachment, finished["parts"]))

    def below(self, run: Run, call: ToolCall) -> list[Journal]:
        """The recorded runs of subagents that a call started."""
        place = [len(run.iterations), call.position]
        return [journal for journal in self.recording.below if journal.header.get("within") == place]

    def start(self, run: Run, call: ToolCall) -> None:
        """Record that the tool was started."""
        call.executed = True
        for recording in run.state(Recordings):
            recording.started(call)


def spend_for(run: Run, call: ToolCall, usage: Usage) -> None:
    """Add what a call's subagents used."""
    call.spent = call.spent + usage
    spend(run, usage)


class _TextOnly:
    """Stands in for a value of which only the text is known."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


def _raw(content: str) -> object:
    """The value of a structured result, as far as its text tells."""
    try:
        value, _ = json.JSONDecoder().raw_decode(content)
    except (ValueError, RecursionError):
        value = content
    return _TextOnly(content) if isinstance(value, str) else value
