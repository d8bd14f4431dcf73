"""Resumes a run from its journal: the recorded part runs again through all hooks, then the run continues (J4)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Literal

from react_run.errors import ConfigError, JournalBusy, JournalError
from react_run.journal.files import FileSink
from react_run.journal.header import changes, described_agent
from react_run.journal.lines import encoded, to_json
from react_run.journal.reading import Journal, read_journal
from react_run.journal.replay.differences import MASK
from react_run.journal.replay.resume_calls import ResumedTools
from react_run.journal.replay.resume_sink import ContinuingSink
from react_run.journal.replay.resume_subagents import ResumedSubagents, recorded_answers, resumed_record
from react_run.journal.result import result_of
from react_run.journal.sinks import Sink
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.agent import ReActAgent
    from react_run.messages import Message
    from react_run.parts import Part
    from react_run.results import RunResult


_LOOK_AGAIN = 0.1
"""Seconds between two attempts to open a journal that another process is writing."""


@dataclass(frozen=True, kw_only=True)
class Resumption:
    """A run that is ready to continue: run ``agent`` on ``prompt`` and ``incoming``.

    ``notes`` tell the user what has changed since the run began.
    """

    agent: ReActAgent
    prompt: str | list[str | Part]
    incoming: Sequence[Message]
    notes: Sequence[str] = ()


class RunEnded(JournalError):
    """The run has ended, so it cannot be resumed; ``journal`` is its journal."""

    def __init__(self, journal: Journal) -> None:
        reason = journal.own[-1]["stop_reason"]
        super().__init__(f"run {journal.run_id[:12]} has ended ({reason}): there is nothing to resume")
        self.journal = journal


async def resume(
    path: str | PathLike[str],
    agent: ReActAgent,
    *,
    run: str | None = None,
    force: bool = False,
    ended: Literal["error", "result"] = "error",
    patience: float = 0,
) -> RunResult:
    """Continue the run in the journal at ``path``, which was killed, interrupted, or failed.

    Finished tool calls are never executed again. A call that was started but did not finish is executed again only if
    its tool is ``read_only`` or ``idempotent``; otherwise the model is told that its outcome is unknown.

    Args:
        path: The journal; new records are appended to it.
        agent: The agent of the run.
        run: The start of the run's id, if the journal contains several runs.
        force: Continue even if the agent has changed, or diverges from the recording.
        ended: What to do if the run has ended: raise an error, or return its result.
        patience: Seconds to wait while another process is running the run.

    Raises:
        ConfigError: The agent has changed; the message says how.
        ReplayMismatch: The recorded part diverges from the recording.
        JournalBusy: Another process is running the run.
        RunEnded: The run has ended.
        JournalError: The journal cannot be read or written.
    """
    give_up = monotonic() + patience
    while True:
        try:
            resumption = prepare(path, agent, run=run, force=force)
            break
        except RunEnded as found:
            if ended == "error":
                raise
            return result_of(found.journal)
        except JournalBusy:
            if monotonic() >= give_up:
                raise
            await asyncio.sleep(_LOOK_AGAIN)
    async with resumption.agent:
        return await resumption.agent.run(resumption.prompt, resumption.incoming)


def prepare(
    path: str | PathLike[str],
    agent: ReActAgent,
    *,
    run: str | None = None,
    force: bool = False,
    open_file: Callable[[Path], Sink] = FileSink,
    plugins: Sequence[object] = (),
) -> Resumption:
    """Prepare a run so that it can be resumed.

    Args:
        path: The journal.
        agent: The agent of the run.
        run: The start of the run's id, if the journal contains several runs.
        force: Continue even if the agent has changed.
        open_file: Opens the journal for appending.
        plugins: Plugins to add just outside the journal.

    Raises:
        ConfigError, JournalError: As :func:`resume`; the journal is closed again.
    """
    path = Path(path)
    read_journal(path, run)  # check first: opening the file for appending would create it
    sink = open_file(path)  # it is locked from here on
    try:
        journal = read_journal(path, run)
        return _prepared(journal, sink, agent, force, plugins)
    except BaseException:
        sink.close()
        raise


def _prepared(journal: Journal, sink: Sink, agent: ReActAgent, force: bool, plugins: Sequence[object]) -> Resumption:
    from react_run.journal.recorder import Recorder
    from react_run.journal.replay.model import ReplayModel

    footer = journal.footer
    if footer is not None and footer["status"] == "finished":
        raise RunEnded(journal)
    found = _differences(journal, agent)
    if found and not force:
        listed = "\n".join(f"  {line}" for line in found)
        raise ConfigError(
            f"the agent has changed since run {journal.run_id[:12]} began:\n{listed}\n--force continues anyway"
        )
    answers = recorded_answers(journal)
    sink.write(*encoded(resumed_record(journal, found), agent.config.masker))
    continued = ContinuingSink(sink, journal)
    tools = ResumedTools(journal, answers, continued.go_live)
    again = agent.replace(
        model=ReplayModel.of(journal, answers, compare=not force, then=agent.model),
        journal=[*plugins, Recorder.into(continued), tools, ResumedSubagents(tools, continued, compare=not force)],
    )
    return Resumption(
        agent=again,
        prompt=journal.prompt,
        incoming=journal.incoming,
        notes=[*(f"changed: {line}" for line in found), *_about_masks(journal)],
    )


def _differences(journal: Journal, agent: ReActAgent) -> list[str]:
    """How the agent has changed, one line per change."""
    masker = agent.config.masker
    now, _ = encoded(described_agent(agent, masker), masker)
    found = changes(journal.header, now)
    if journal.header["model"] != agent.model.name and not any(line.startswith("model") for line in found):
        found.append(f"model: was {journal.header['model']}, now {agent.model.name}")
    return found


def _about_masks(journal: Journal) -> list[str]:
    """A note if the recorded conversation was masked; masks in the text of the agent file do not matter."""
    head, *records = journal.own
    said = {key: head[key] for key in ("prompt", "incoming", "opening")}
    if MASK in to_json([said, *records]):
        return [f"secrets were masked in the journal: where the run used them, it continues with {MASK}"]
    return []
