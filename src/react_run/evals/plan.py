"""The plan of an evaluation: which agents run which cases, how often, and what must not change when it continues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from react_run.batch.rows import Row
from react_run.components import Component
from react_run.errors import ConfigError
from react_run.evals.cases import Case
from react_run.evals.scorer import Scorer, labels
from react_run.journal.lines import as_bytes, to_json
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.agent import ReActAgent


@dataclass(frozen=True, kw_only=True, eq=False)
class Variant:
    """One of the agents to measure.

    Args:
        name: Its name in reports.
        agent: The agent.
        file: The path of its file, as given.
        options: How it was built from its file, for the journals.
    """

    name: str
    agent: ReActAgent
    file: str = ""
    options: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Turn:
    """One row of the batch: case, repeat and variant, all counted from 0."""

    case: int
    repeat: int
    variant: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """Every case, repeated as specified, with every variant.

    Args:
        cases: The cases.
        scorers: Scorers for the runs of all cases.
        variants: The agents.
        repeat: How often to run a case that does not specify it.
    """

    cases: Sequence[Case]
    variants: Sequence[Variant]
    scorers: Sequence[Scorer] = ()
    repeat: int = 1

    @cached_property
    def turns(self) -> list[Turn]:
        """The rows in order. A case's variants follow each other, so that changes over time affect both alike."""
        most = max(map(self.repeats_of, self.cases))
        return [
            Turn(case=index, repeat=repeat, variant=variant)
            for repeat in range(most)
            for index, case in enumerate(self.cases)
            if repeat < self.repeats_of(case)
            for variant in range(len(self.variants))
        ]

    def repeats_of(self, case: Case) -> int:
        """How often a case runs."""
        return case.repeat or self.repeat

    def rows(self) -> Iterator[Row]:
        """The rows of the batch."""
        for index, turn in enumerate(self.turns):
            case, variant = self.cases[turn.case], self.variants[turn.variant]
            yield case.row(index, f"{variant.name}/{case.name}/{turn.repeat + 1}")

    @cached_property
    def judging(self) -> str:
        """A digest of everything that affects scoring."""
        marks = [[case.name, case.weight, case.tags, _as_values(case.expected), *map(_as_values, self.criteria(case))]
                 for case in self.cases]  # fmt: skip
        return sha256(as_bytes(to_json(marks))).hexdigest()[:16]

    def criteria(self, case: Case) -> list[Scorer]:
        """The scorers of a case's runs."""
        if case.name not in self._criteria:
            self._criteria[case.name] = case.criteria(self.scorers)
        return self._criteria[case.name]

    @cached_property
    def _criteria(self) -> dict[str, list[Scorer]]:
        return {}

    @cached_property
    def judges(self) -> list[tuple[str, str, str]]:
        """Scorers that ask a model: the case, the scorer's name, and a digest of its options."""
        return [
            (case.name, label, sha256(as_bytes(to_json(_as_values(scorer)))).hexdigest()[:16])
            for case in self.cases
            for scorer, label in zip(self.criteria(case), labels(self.criteria(case)), strict=True)
            if scorer.asks_model
        ]

    def record(self) -> dict[str, Any]:
        """The data that must be unchanged for an evaluation to continue."""
        from react_run.batch.identity import agent_record

        return {
            "asked": [[case.name, case.digest, self.repeats_of(case)] for case in self.cases],
            "judging": self.judging,
            "judges": [list(judge) for judge in self.judges],
            "variants": [[variant.name, agent_record(variant.agent)] for variant in self.variants],
        }

    def check_against(self, before: Mapping[str, Any], where: str) -> None:
        """Refuse to continue an evaluation whose plan was different.

        Raises:
            ConfigError: The plan was different; the message names the differences.
        """
        now = self.record()
        if found := [*_changed_cases(before["asked"], now["asked"]), *_changed_agents(before, now)]:
            listed = "\n".join(f"  {line}" for line in found[:10])
            raise ConfigError(f"{where} was started with a different plan:\n{listed}\n--fresh starts over")
        if before["judging"] != now["judging"]:
            raise ConfigError(
                f"{where} was started with other scorers or expectations: --rescore {where} scores its runs with the "
                "current ones, without running anything; --fresh starts over"
            )


def _changed_cases(before: Sequence[Any], now: Sequence[Any]) -> Iterator[str]:
    was, is_ = ({name: (digest, repeat) for name, digest, repeat in each} for each in (before, now))
    yield from (f"case {name!r} is new" for name in is_ if name not in was)
    yield from (f"case {name!r} is missing" for name in was if name not in is_)
    for name in is_:
        if name in was and was[name][0] != is_[name][0]:
            yield f"case {name!r} has changed"
        elif name in was and was[name][1] != is_[name][1]:
            yield f"case {name!r} ran {was[name][1]} times, and now {is_[name][1]}"
    if list(was) != list(is_) and was == is_:
        yield "the cases are in a different order"


def _changed_agents(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    from react_run.batch.identity import agent_changes

    was, is_ = before["variants"], now["variants"]
    if [name for name, _ in was] != [name for name, _ in is_]:
        yield f"agents: was {', '.join(name for name, _ in was)}, now {', '.join(name for name, _ in is_)}"
        return
    for (name, old), (_, new) in zip(was, is_, strict=True):
        yield from (f"{name}: {line}" for line in agent_changes(old, new))


def _as_values(value: object) -> object:
    """A scorer and its options as JSON values; equal values mean equal scores."""
    if isinstance(value, Component):
        fields = {name: _as_values(getattr(value, name)) for name in type(value).model_fields}
        return {"kind": value.kind or f"{type(value).__module__}:{type(value).__qualname__}", **fields}
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return {str(key): _as_values(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_values(item) for item in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return f"{getattr(value, '__module__', '')}:{getattr(value, '__qualname__', '') or type(value).__name__}"


def distinct_names(names: Sequence[str]) -> list[str]:
    """The names of variants, with numbers added if they are not unique."""
    if len(set(names)) == len(names):
        return list(names)
    return [f"{name} ({number})" for number, name in enumerate(names, 1)]
