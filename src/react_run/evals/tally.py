"""Tallies samples: a few numbers for each case, however long the answers are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from react_run.evals.statistics import pass_at_k, pass_hat_k
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.evals.samples import Sample

MARK = {"pass": "p", "fail": "f", "error": "e"}
"""The letters for outcomes in ``result.json``."""
_LONGEST = 300
"""The most characters of a reason that are kept."""


@dataclass(slots=True)
class CaseTally:
    """The runs of one case by one variant."""

    marks: str = ""
    """The outcome of each repeat: ``p``, ``f`` or ``e``."""
    runs: list[str] = field(default_factory=list)
    """The ids of the runs, in the same order."""
    scores: dict[str, list[float]] = field(default_factory=dict)
    """For each scorer: the sum of its values, how many runs passed, and how many it scored."""
    costs: list[float | None] = field(default_factory=list)
    tokens: list[int | None] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    why: str = ""
    """Why the first run that did not pass failed."""

    def add(self, sample: Sample) -> None:
        """Add a sample."""
        self.marks += MARK[sample.outcome]
        self.runs.append(sample.run_id or "")
        if sample.outcome != "pass" and not self.why:
            self.why = sample.why[:_LONGEST]
        if sample.outcome == "error":
            return
        self.costs.append(sample.cost)
        self.tokens.append(sample.tokens)
        self.seconds.append(sample.seconds)
        for mark in sample.marks:
            sums = self.scores.setdefault(mark["scorer"], [0.0, 0.0, 0.0])
            sums[0] += mark["value"]
            sums[1] += mark["passed"]
            sums[2] += 1

    @property
    def passed(self) -> int:
        """The number of runs that passed."""
        return self.marks.count("p")

    @property
    def counted(self) -> int:
        """The number of runs that count, which excludes errors."""
        return len(self.marks) - self.marks.count("e")

    @property
    def rate(self) -> float:
        """The share of runs that passed; requires that some count."""
        return self.passed / self.counted

    def mean(self, scorer: str) -> float | None:
        """The mean value of a scorer; ``None`` if it scored nothing."""
        sums = self.scores.get(scorer)
        return None if sums is None else sums[0] / sums[2]

    def to_dict(self) -> dict[str, Any]:
        """The tally as in ``result.json``."""
        return {
            "marks": self.marks,
            "runs": self.runs,
            "scores": {name: round(sums[0] / sums[2], 6) for name, sums in self.scores.items()},
            "cost": known_mean(self.costs),
            "tokens": known_mean(self.tokens),
            "seconds": round(median(self.seconds), 3) if self.seconds else None,
            "why": self.why,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CaseTally:
        """Convert the data of :meth:`to_dict` back, as far as comparisons need it."""
        counted = len(data["marks"]) - data["marks"].count("e")
        return cls(
            marks=data["marks"],
            runs=list(data["runs"]),
            scores={name: [mean * counted, 0.0, counted] for name, mean in data["scores"].items()},
            costs=[data["cost"]] if counted else [],
            tokens=[data["tokens"]] if counted else [],
            seconds=[data["seconds"]] if counted else [],
            why=data["why"],
        )


def tallied(samples: Iterable[Sample]) -> dict[str, dict[str, CaseTally]]:
    """Tally samples by variant and case."""
    found: dict[str, dict[str, CaseTally]] = {}
    for sample in samples:
        found.setdefault(sample.variant, {}).setdefault(sample.case, CaseTally()).add(sample)
    return found


def known_mean(values: Sequence[float | None]) -> float | None:
    """The mean; ``None`` if a value is unknown or there are none."""
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None


def passes_of_k(tallies: Iterable[CaseTally], k: int) -> tuple[float, float] | None:
    """pass@k and pass^k over the cases with at least ``k`` runs; ``None`` if there are none."""
    enough = [tally for tally in tallies if tally.counted >= k]
    if not enough:
        return None
    some = fmean(pass_at_k(tally.counted, tally.passed, k) for tally in enough)
    return some, fmean(pass_hat_k(tally.counted, tally.passed, k) for tally in enough)
