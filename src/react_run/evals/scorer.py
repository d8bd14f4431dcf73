"""What marks a run: a scorer gets the run of a case and says how good it was, from 0 to 1, and why."""

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
    """A mark.

    Args:
        value: From 0 (as bad as can be) to 1.
        reason: Why it is not 1, for people.
        cost: USD that marking took; ``None`` when it is unknown.
    """

    value: float
    reason: str = ""
    cost: float | None = 0.0


@dataclass(frozen=True, kw_only=True)
class ScoredRun:
    """The run of a case that is to be marked.

    Args:
        name: The name of the case.
        prompt: What was asked.
        expected: What the case expects; ``None`` when it says nothing.
        result: How the run ended.
        seconds: What it took, as far as it is known.
        workspace: Where it worked.
        path: Its journal; ``None`` when none is kept.
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
        """What was recorded of the run.

        Raises:
            JournalError: It cannot be read.
        """
        from react_run.journal.reading import read_journal

        return None if self.path is None else read_journal(self.path)


class Scorer(Component, group="scorers"):
    """Marks runs; its fields are its YAML options."""

    asks_model: ClassVar[bool] = False
    """Whether it asks a model: it costs, so it is asked last, and never when kept runs are scored again."""

    name: str = ""
    """What reports call it; its kind when not given."""
    threshold: float = Field(default=1.0, ge=0, le=1)
    """The mark from which a run passes."""

    @abstractmethod
    async def score(self, run: ScoredRun) -> Score | float | bool:
        """Mark a run.

        Raises anything when it cannot: that is an error of the evaluation, and no mark.
        """

    @property
    def label(self) -> str:
        """What reports call it."""
        return self.name or self.kind or type(self).__name__


@dataclass(frozen=True, kw_only=True)
class Mark:
    """What one scorer said of one run."""

    scorer: str
    value: float
    passed: bool
    reason: str = ""
    cost: float | None = 0.0

    def to_dict(self) -> dict[str, object]:
        """As in ``samples.jsonl``."""
        return {
            "scorer": self.scorer,
            "value": round(self.value, 6),
            "passed": self.passed,
            "reason": self.reason,
            "cost": self.cost,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, object]) -> Mark:
        """What :meth:`to_dict` wrote."""
        return cls(**data)  # type: ignore[arg-type]  # our own keys


async def mark(scorer: Scorer, label: str, run: ScoredRun) -> Mark:
    """Have a scorer mark a run.

    Raises:
        ValueError: What it said is not a mark.
        Exception: Whatever kept it from marking.
    """
    said = await scorer.score(run)
    score = said if isinstance(said, Score) else Score(value=float(said))
    if not 0 <= score.value <= 1:
        raise ValueError(f"a mark is from 0 to 1, not {score.value!r}")
    return Mark(
        scorer=label,
        value=score.value,
        passed=score.value >= scorer.threshold,
        reason="" if score.value >= 1 else score.reason,
        cost=score.cost,
    )


def labels(scorers: list[Scorer]) -> list[str]:
    """A name for each, all different."""
    found: list[str] = []
    for scorer in scorers:
        label, number = scorer.label, 2
        while label in found:
            label, number = f"{scorer.label} {number}", number + 1
        found.append(label)
    return found
