"""Questions waiting for a person, whether their runs are active, parked, or left by an earlier server."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import field
from time import time
from typing import TYPE_CHECKING, Any

from react_run.questions import Answer, Question, Unfit
from react_run.serve.errors import ApiError
from react_run.serve.signals import Signal
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.journal.values import Record

_REMEMBERED = 1_000
"""How many decisions are remembered, so that a second answer is refused without reading journals."""
EXPIRED = "expired"


@dataclass(kw_only=True, eq=False)
class Approval:
    """A question that waits for an answer.

    Args:
        id: Its id on this server.
        run_id: The run to continue with the answer; a question of a subagent belongs to the parent run.
        agent: The name of the agent.
        question: The question, with secrets masked.
        asked: When it was asked, in seconds since 1970.
        expires: When it is answered with no, in seconds since 1970.
        answered: Receives the answer if the run is waiting; ``None`` if the run is parked.
    """

    id: str
    run_id: str
    agent: str
    question: Question
    asked: float
    expires: float
    answered: asyncio.Future[Answer] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The question as JSON, for API clients."""
        question = self.question
        return {
            "id": self.id,
            "run": self.run_id,
            "agent": self.agent,
            "text": question.text,
            "choices": list(question.choices),
            "schema": question.schema,
            "tool": question.tool or None,
            "arguments": dict(question.arguments) if question.tool else None,
            "digest": question.digest,
            "asked": round(self.asked, 3),
            "expires": round(self.expires, 3),
            "parked": self.answered is None,
        }


@dataclass(kw_only=True)
class Approvals:
    """All open questions, and the most recent decisions.

    Args:
        go_on: Records the decision about a parked run, and resumes that run.
        note: Writes the reason for a decision into the journal of a run.
    """

    go_on: Callable[[Approval, Answer, str], None]
    note: Callable[[str, str], None]
    waiting: dict[str, Approval] = field(default_factory=dict)
    changed: Signal = field(default_factory=Signal)
    _decided: OrderedDict[str, dict[str, Any]] = field(default_factory=OrderedDict)

    def __iter__(self) -> Iterator[Approval]:
        return iter(sorted(self.waiting.values(), key=lambda approval: approval.asked))

    def __len__(self) -> int:
        return len(self.waiting)

    def of_run(self, run_id: str) -> list[Approval]:
        """The questions of one run."""
        return [approval for approval in self if approval.run_id == run_id]

    def name(self, run_id: str, question: Question) -> str:
        """An id for a question: always the same for the same question, unless an identical one is still waiting."""
        wanted, number = f"{run_id}-{question.id}", 1
        name = wanted
        while name in self.waiting:
            number += 1
            name = f"{wanted}-{number}"
        return name

    def add(self, approval: Approval) -> None:
        """Add a question."""
        self.waiting[approval.id] = approval
        self.changed.fire()

    def remove(self, approval: Approval) -> None:
        """Remove a question whose answer is no longer needed."""
        if self.waiting.get(approval.id) is approval:
            del self.waiting[approval.id]
            self.changed.fire()

    def answer(self, id_: str, value: object, *, by: str, note: str = "") -> dict[str, Any]:
        """Answer a question; the first answer counts.

        Args:
            id_: The id of the question.
            value: The answer.
            by: Who answers.
            note: The reason, for the journal.

        Raises:
            ApiError: The question does not exist or was answered already, or the answer does not fit it.
        """
        if id_ in self._decided:
            first = self._decided[id_]
            said = f"it was already answered: {first['answer']!r}{' by ' + first['by'] if first['by'] else ''}"
            raise ApiError(409, said, code="already_answered")
        approval = self.waiting.get(id_)
        if approval is None:
            raise ApiError(404, f"no question {id_!r} waits for an answer; GET /api/approvals lists them")
        try:
            read = approval.question.read(value)
        except Unfit as error:
            raise ApiError(400, str(error), param="answer", code="unfit_answer") from None
        if approval.expires <= time() and by != EXPIRED:
            self.expire()
            raise ApiError(409, "nobody answered in time, so it was answered with no", code="already_answered")
        answer = Answer(read, by=by)
        if approval.answered is None:
            self.go_on(approval, answer, note)
        elif not approval.answered.done():
            if note:
                self.note(approval.run_id, note)
            approval.answered.set_result(answer)
        self.remember(id_, answer)
        self.remove(approval)
        return {"id": id_, "run": approval.run_id, "answer": read, "by": by}

    def remember(self, id_: str, answer: Answer) -> None:
        """Remember a decision, to tell anyone who answers again."""
        self._decided[id_] = {"answer": answer.value, "by": answer.by}
        if len(self._decided) > _REMEMBERED:
            self._decided.popitem(last=False)

    def expire(self) -> None:
        """Answer with no all questions whose time is up."""
        for approval in list(self.waiting.values()):
            if approval.expires <= time():
                no = "no" if "no" in approval.question.choices or not approval.question.choices else None
                if no is None or approval.question.schema is not None:
                    self.remove(approval)
                    continue
                try:
                    self.answer(approval.id, no, by=EXPIRED, note="nobody answered in time")
                except ApiError:  # the journal is gone, or another process is running it
                    self.remove(approval)


def question_from(record: Record) -> Question:
    """The question in a journal record."""
    return Question(
        record["text"],
        choices=tuple(record.get("choices", ())),
        schema=record.get("schema"),
        tool=record.get("tool", ""),
        arguments=record.get("arguments", {}),
        id=record["question"],
        digest=record["digest"],
    )


def open_questions(records: list[Record], run_id: str) -> list[Record]:
    """The unanswered questions of a run and its subagents, from the journal.

    Questions of a subagent that does not continue are left out: nothing would read the answer.
    """
    asked: dict[tuple[str, str, str], Record] = {}
    going_on = {run_id}
    for record in records:
        if record["type"] == "header" and record.get("goes_on"):
            going_on.add(record["run"])
        if record["type"] not in ("asked", "decided") or record["run"] not in going_on:
            continue
        place = record["run"], record["question"], record["digest"]
        if record["type"] == "asked":
            asked[place] = record
        else:
            asked.pop(place, None)
    return list(asked.values())


_OF_QUESTIONS = ("type", "time", "text", "choices", "schema", "tool", "arguments")


def decided(record: Record, answer: Answer) -> Record:
    """The journal record of a decision about the question in ``record``."""
    place = {name: value for name, value in record.items() if name not in _OF_QUESTIONS}
    return {"type": "decided", **place, "time": round(time(), 6), "answer": answer.value, "by": answer.by}
