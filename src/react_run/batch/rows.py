"""Rows of a batch, and their results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, Self

from react_run.journal.lines import as_bytes, to_json
from react_run.support.jsonable import to_jsonable

if TYPE_CHECKING:
    from react_run.results import RunResult
    from react_run.secrets import Masker

Status = Literal["ok", "unsuccessful", "error"]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One prompt of a batch.

    Args:
        index: Its position, from 0.
        prompt: The prompt. messages: The conversation so far, as mappings. id: The caller's name for it, unique in its
            batch. place: Where it was read, such as ``rows.jsonl:7``. problem: Why it cannot run; empty if it can.
    """

    index: int
    prompt: str = ""
    messages: Sequence[Mapping[str, Any]] = ()
    id: str | None = None
    place: str = ""
    problem: str = ""

    @cached_property
    def digest(self) -> str:
        """What tells it from another row at its position."""
        return sha256(self.payload.encode()).hexdigest()[:32]

    @cached_property
    def payload(self) -> str:
        """What is run, as JSON."""
        return _text([self.prompt, list(self.messages), self.id, self.problem])

    @classmethod
    def from_payload(cls, index: int, payload: str, place: str = "") -> Self:
        """The row that :attr:`payload` stands for."""
        prompt, messages, id_, problem = json.loads(payload)
        return cls(index=index, prompt=prompt, messages=messages, id=id_, problem=problem, place=place)

    def run_id(self, batch: str) -> str:
        """The id of its run in a batch."""
        return run_id(batch, self.index, self.digest)


def run_id(batch: str, index: int, digest: str) -> str:
    """The id of the run of the row at a position."""
    return sha256(f"{batch}/{index}/{digest}".encode()).hexdigest()[:32]


@dataclass(frozen=True, kw_only=True)
class RowResult:
    """The result of a row.

    ``status`` is ``ok`` for a successful answer, ``unsuccessful`` for a run that ended otherwise or whose effects are
    partly unknown, and ``error`` if the row could not finish; ``error`` says why. ``seconds`` is the time of the last
    attempt, ``cost`` in USD, ``attempts`` how often the row was started.
    """

    index: int
    id: str | None = None
    status: Status = "error"
    answer: str = ""
    value: object = None
    stop_reason: str | None = None
    usage: Mapping[str, object] | None = None
    cost: float | None = None
    seconds: float = 0.0
    attempts: int = 0
    run_id: str | None = None
    error: str | None = None
    marks: Sequence[Mapping[str, object]] | None = None
    """The scores in an evaluation; ``None`` in any other batch."""

    def to_dict(self) -> dict[str, object]:
        """The fields, as JSON-ready values."""
        data = {name: getattr(self, name) for name in self.__dataclass_fields__}
        if self.marks is None:
            del data["marks"]
        return data

    def line(self) -> str:
        """Its line in the output, without the line end."""
        return _text(self.to_dict())

    @classmethod
    def from_line(cls, line: str) -> Self:
        """The result that :meth:`line` wrote."""
        return cls(**json.loads(line))


def _text(value: object) -> str:
    """``value`` as JSON that any file and database takes: halves of surrogate pairs are escaped."""
    return as_bytes(to_json(value)).decode()


def row_result(row: Row, result: RunResult, masker: Masker, *, seconds: float, attempts: int) -> RowResult:
    """What a finished run means for its row, without secrets: it is stored and written, as the run's journal is."""
    unknown = unknown_calls(result)
    error = _why(result, unknown)
    return RowResult(
        index=row.index,
        id=row.id,
        status="ok" if result.success and not unknown else "unsuccessful",
        answer=masker.mask(result.answer),
        value=None if result.value is None else masker.mask_data(to_jsonable(result.value)),
        stop_reason=str(result.stop_reason),
        usage=result.usage.to_dict(),
        cost=result.usage.cost,
        seconds=round(seconds, 3),
        attempts=attempts,
        run_id=result.run_id,
        error=None if error is None else masker.mask(error),
    )


def unknown_calls(result: RunResult) -> list[str]:
    """The tools that were interrupted at work, so that their effect is unknown."""
    from react_run.journal.replay.resume_calls import UNKNOWN

    return [step.action for step in result.steps if UNKNOWN in step.observation]


def _why(result: RunResult, unknown: Sequence[str]) -> str | None:
    if unknown:
        return f"interrupted while {', '.join(unknown)} was running: whether it took effect is unknown"
    if result.success:
        return None
    if result.unresolved:
        return "; ".join(f"{failure.tool}: {failure.message or failure.code}" for failure in result.unresolved)
    return f"stopped: {result.stop_reason}"
