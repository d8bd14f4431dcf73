"""A sample: one run of a case, marked; a line of ``samples.jsonl``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from react_run.journal.lines import as_bytes, to_json
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.batch.rows import RowResult

Outcome = Literal["pass", "fail", "error"]
FILE = "samples.jsonl"


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One run of a case.

    ``outcome`` is ``error`` if the run or its scoring failed through no fault of the agent; it then counts in no rate.
    ``cost`` (USD) includes scoring by models; ``seconds`` is the duration of the last attempt.
    """

    index: int
    case: str
    variant: str
    repeat: int
    outcome: Outcome
    marks: Sequence[Mapping[str, Any]] = ()
    answer: str = ""
    stop_reason: str | None = None
    tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    seconds: float = 0.0
    attempts: int = 0
    run_id: str | None = None
    error: str | None = None

    @property
    def why(self) -> str:
        """Why it did not pass; empty if it passed."""
        if self.outcome == "error":
            return self.error or "the case could not be run"
        return "; ".join(
            mark["reason"] or f"{mark['scorer']}: {mark['value']:g}" for mark in self.marks if not mark["passed"]
        )

    def line(self) -> str:
        """The sample as a line of the file, without the newline."""
        return as_bytes(to_json(asdict(self))).decode()

    @classmethod
    def from_line(cls, line: str | bytes) -> Self:
        """Parse a line written by :meth:`line`."""
        return cls(**json.loads(line))


def sample_of(result: RowResult, case: str, variant: str, repeat: int) -> Sample:
    """Convert the result of a row to a sample."""
    failed = result.status == "error" and not (result.error or "").startswith("ReplayMismatch")
    marks = list(result.marks or ())
    passed = not failed and bool(marks) and all(mark["passed"] for mark in marks)
    usage: Mapping[str, Any] = result.usage or {}
    if result.status == "error" and not failed:
        marks.append({"scorer": "recording", "value": 0.0, "passed": False, "reason": result.error, "cost": 0.0})
    return Sample(
        index=result.index,
        case=case,
        variant=variant,
        repeat=repeat,
        outcome="error" if failed else "pass" if passed else "fail",
        marks=marks,
        answer=result.answer,
        stop_reason=result.stop_reason,
        tokens=_sum(usage.get("input_tokens"), usage.get("output_tokens")),
        input_tokens=usage.get("input_tokens"),
        output_tokens=usage.get("output_tokens"),
        cost=result.cost,
        seconds=result.seconds,
        attempts=result.attempts,
        run_id=result.run_id,
        error=result.error if failed else None,
    )


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other


def read_samples(directory: Path) -> Iterator[Sample]:
    """Yield the samples of an evaluation, one at a time; a torn last line is skipped.

    Raises:
        ConfigError: The file cannot be read, or a line is not a sample.
    """
    from react_run.errors import ConfigError

    path = directory / FILE
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    return
                try:
                    yield Sample.from_line(line)
                except (ValueError, TypeError) as error:
                    raise ConfigError(f"{path}:{number}: is not a sample: {error}") from None
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from error
