"""Scorers: a scorer gets the run of a case and says how good it was, from 0 to 1, and why."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from react_run.components import Component
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.agent import ReActAgent
    from react_run.journal.reading import Journal
    from react_run.results import RunResult


@dataclass(frozen=True, kw_only=True)
class Score:
    """A score.

    Args:
        value: From 0 (worst) to 1.
        reason: Why it is not 1, for people.
        cost: The cost of scoring in USD; ``None`` if unknown.
    """

    value: float
    reason: str = ""
    cost: float | None = 0.0


@dataclass(frozen=True, kw_only=True)
class ScoredRun:
    """The run of a case to score.

    Args:
        name: The name of the case.
        prompt: The prompt.
        expected: The expected value of the case; ``None`` if there is none.
        result: The result of the run.
        seconds: Its duration, if known.
        workspace: Its workspace.
        path: Its journal; ``None`` if there is none.
        agent: The agent, for scorers that need one.
    """

    name: str
    prompt: str
    result: RunResult
    agent: ReActAgent
    expected: object = None
    seconds: float = 0.0
    workspace: Path = Path()
    path: Path | None = None

    @property
    def answer(self) -> str:
        """The answer of the run."""
        return self.result.answer

    @cached_property
    def journal(self) -> Journal | None:
        """The journal of the run.

        Raises:
            JournalError: It cannot be read.
        """
        from react_run.journal.reading import read_journal

        return None if self.path is None else read_journal(self.path)


class Scorer(Component, group="scorers"):
    """Scores runs; its fields are its YAML options."""

    asks_model: ClassVar[bool] = False
    """Whether it asks a model, which costs money: such scorers come last, and are not used when saved runs are scored
    again.
    """

    name: str = ""
    """Its name in reports; by default its kind."""
    threshold: float = Field(default=1.0, ge=0, le=1)
    """The minimum score of a run that passes."""

    @abstractmethod
    async def score(self, run: ScoredRun) -> Score | float | bool:
        """Score a run.

        An exception counts as an error of the evaluation, not as a score.
        """

    @property
    def label(self) -> str:
        """Its name in reports."""
        return self.name or self.kind or type(self).__name__


@dataclass(frozen=True, kw_only=True)
class Mark:
    """The score of one scorer for one run."""

    scorer: str
    value: float
    passed: bool
    reason: str = ""
    cost: float | None = 0.0

    def to_dict(self) -> dict[str, object]:
        """The mark as in ``samples.jsonl``."""
        return {
            "scorer": self.scorer,
            "value": round(self.value, 6),
            "passed": self.passed,
            "reason": self.reason,
            "cost": self.cost,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Mark:
        """Convert the data of :meth:`to_dict` back into a mark."""
        return cls(**data)  # type: ignore[arg-type]  # our own keys


async def mark(scorer: Scorer, label: str, run: ScoredRun) -> Mark:
    """Score a run with a scorer.

    Raises:
        ValueError: The scorer returned an invalid score.
        Exception: Any failure of the scorer.
    """
    said = await scorer.score(run)
    score = said if isinstance(said, Score) else Score(value=float(said))
    if not 0 <= score.value <= 1:
        raise ValueError(f"a score is from 0 to 1, not {score.value!r}")
    return Mark(
        scorer=label,
        value=score.value,
        passed=score.value >= scorer.threshold,
        reason="" if score.value >= 1 else score.reason,
        cost=score.cost,
    )


def labels(scorers: list[Scorer]) -> list[str]:
    """The scorers' names, with numbers added if they are not unique."""
    found: list[str] = []
    for scorer in scorers:
        label, number = scorer.label, 2
        while label in found:
            label, number = f"{scorer.label} {number}", number + 1
        found.append(label)
    return found
