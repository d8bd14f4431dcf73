"""Parked runs: decisions about their questions are written to their journals."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any

from react_run.errors import JournalBusy, JournalError
from react_run.journal.lines import encoded
from react_run.questions import Answer
from react_run.secrets import Masker
from react_run.serve.approvals import Approval, Approvals, decided, open_questions, question_from
from react_run.serve.errors import ApiError
from react_run.serve.shelf import TellingSink

if TYPE_CHECKING:
    from react_run.journal.reading import Journal
    from react_run.journal.values import Record
    from react_run.serve.agents import Agents
    from react_run.serve.shelf import Shelf


class Parked:
    """The journals of runs that are not running anywhere.

    Args:
        shelf: The journals.
        agents: The served agents, whose secrets are masked.
    """

    def __init__(self, shelf: Shelf, agents: Agents) -> None:
        self._shelf, self._agents = shelf, agents

    def take_up(
        self, approvals: Approvals, agent: str, journal: Journal, asked: Sequence[Record], expires: float
    ) -> None:
        """Reopen the questions that a run of an earlier server left unanswered.

        Args:
            approvals: The open questions, to which these are added.
            agent: The name of the agent.
            journal: The run.
            asked: The records of the questions.
            expires: Seconds after which they are answered with no.
        """
        for record in asked:
            question = question_from(record)
            approvals.add(
                Approval(
                    id=approvals.name(journal.run_id, question),
                    run_id=journal.run_id,
                    agent=agent,
                    question=question,
                    asked=record["time"],
                    expires=record["time"] + expires,
                )
            )

    def decide(self, approval: Approval, answer: Answer, note: str) -> bool:
        """Record a decision; return whether it answered the run's last open question.

        Raises:
            ApiError: The question was answered already, or the decision cannot be written.
        """
        path, journal = self._journal(approval.run_id)
        asked = open_questions(list(journal.records), journal.run_id)
        wanted = (approval.question.id, approval.question.digest)
        record = next((record for record in asked if (record["question"], record["digest"]) == wanted), None)
        if record is None:
            raise ApiError(409, "it was already answered", code="already_answered")
        written = [decided(record, answer)]
        if note:
            written.append(_guard_record(record, "desk", f"{answer.by or 'someone'}: {note}"))
        self._write(path, journal, written)
        return len(asked) == 1

    def stop(self, run_id: str, by: str) -> None:
        """Record that a run was stopped and must not be resumed.

        Raises:
            ApiError: The record cannot be written.
        """
        path, journal = self._journal(run_id)
        detail = f"stopped by {by or 'someone at this machine'}"
        self._write(path, journal, [_guard_record(journal.own[-1], "serve", detail)])

    def _journal(self, run_id: str) -> tuple[Path, Journal]:
        path, journal = self._shelf.path_of(run_id), self._shelf.read(run_id)
        if path is None or journal is None:
            raise ApiError(404, f"the journal of run {run_id} is gone", code="run_not_found")
        return path, journal

    def _write(self, path: Path, journal: Journal, records: Iterable[Record]) -> None:
        """Append records and sync them to disk."""
        served = self._agents.of_file(journal.header["agent"]["file"])
        masker = Masker() if served is None else served.agent.config.masker
        try:
            sink = TellingSink.open(path)
        except JournalBusy:
            raise ApiError(409, "another process is running it", code="run_live") from None
        try:
            for record in records:
                sink.write(*encoded(record, masker))
            with path.open("rb") as file:
                os.fsync(file.fileno())
        except (JournalError, OSError) as error:
            raise ApiError(500, f"the decision cannot be stored: {error}") from None
        finally:
            sink.close()


def _guard_record(record: Mapping[str, Any], guard: str, detail: str) -> Record:
    place = {name: record[name] for name in ("run", "parent", "iteration") if name in record}
    return {"type": "guard", **place, "time": round(time(), 6), "guard": guard, "detail": detail}
