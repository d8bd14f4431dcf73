"""Replays a run: runs the loop on recorded replies, and reports the first difference (behaviour J3)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Literal

from react_run.errors import ReplayMismatch
from react_run.journal.canonical import alike, canonical_records, in_order
from react_run.journal.lines import to_json
from react_run.journal.reading import Journal
from react_run.journal.replay.differences import Difference
from react_run.journal.replay.replay_calls import LiveTools, RecordedTools, RecordingEnded
from react_run.journal.sinks import MemorySink
from react_run.journal.values import Record
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.agent import ReActAgent
    from react_run.messages import Message
    from react_run.results import RunResult


@dataclass(frozen=True, kw_only=True)
class Replay:
    """A replay without differences.

    ``result`` is ``None`` if the recorded run failed or was interrupted. ``complete`` says that it was not interrupted.
    ``error`` is the error it failed with.
    """

    result: RunResult | None
    journal: Journal
    complete: bool
    error: Exception | None = None


async def replay(journal: Journal, agent: ReActAgent, *, tools: Literal["recorded", "live"] = "recorded") -> Replay:
    """Run ``agent`` on the recorded prompt and replies, and compare every step with the recording.

    Args:
        journal: The recording.
        agent: The recorded agent, or a changed one.
        tools: ``recorded`` answers tool calls from the recording, so that the run has no outside effects; ``live``
        runs the tools again.

    Raises:
        ReplayMismatch: Something differs; the message names the iteration, the expected and the actual value.
    """
    from react_run.journal.recorder import Recorder
    from react_run.journal.replay.model import ReplayModel

    sink = MemorySink()
    answers = journal.answers
    player = RecordedTools(journal, answers) if tools == "recorded" else LiveTools(journal, answers)
    again = agent.replace(model=ReplayModel.of(journal, answers), journal=[Recorder.into(sink), player])
    result: RunResult | None = None
    failure: Exception | None = None
    complete = journal.footer is not None
    try:
        async with again:
            result = await again.run(journal.prompt, journal.incoming)
    except RecordingEnded:
        complete = False
    except ReplayMismatch:
        raise
    except Exception as error:
        if journal.footer is None or journal.footer["status"] != "failed":
            raise
        failure = error
    replayed = Journal(records=sink.records)
    if complete:
        _compare(journal, replayed, replayed.messages if result is None else result.messages)
    return Replay(result=result, journal=replayed, complete=complete, error=failure)


def _compare(recorded: Journal, replayed: Journal, messages: Sequence[Message]) -> None:
    """Compare two recordings directly, which is fast, and by canonical form only if that is not enough."""
    pairs = zip_longest(in_order(recorded), in_order(replayed), fillvalue=None)
    same = all(one and other and alike(one, other) for one, other in pairs)
    if not (same and list(recorded.messages) == list(messages)):
        _compare_canonical(canonical_records(recorded), canonical_records(replayed))


def _compare_canonical(expected: list[Record], got: list[Record]) -> None:
    reply: Record = {}
    for one, other in zip_longest(expected, got):
        if one and one["type"] == "model_response":
            reply = one
        if one != other:
            if one and other and {**one, "digest": ""} == {**other, "digest": ""}:
                raise _tampered(one, reply).error()
            place = one or other
            raise Difference(
                iteration=place.get("iteration", 0),
                what=_what(place),
                expected=one or "nothing",
                got=other or "nothing",
            ).error()


def _tampered(request: Record, reply: Record) -> Difference:
    """The difference for a conversation that does not match its recorded digest although the replay does."""
    return Difference(
        iteration=request.get("iteration", 0),
        what=f"the conversation before model call {request['call']}",
        expected="the conversation as it was recorded: a reply or result in this journal was changed afterwards",
        got=f"after the reply {to_json(reply.get('message', reply))}",
    )


def _what(record: Record) -> str:
    """What a record is about, in a few words."""
    kind = record["type"].replace("_", " ")
    name = record.get("name") or record.get("guard")
    return f"{kind} {name}" if name else kind
