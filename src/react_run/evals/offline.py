"""Runs offline cases that must pass, for ``react-run test`` and for pytest."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Literal

from react_run.errors import ReactError
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.agent import ReActAgent
    from react_run.evals.cases import Case
    from react_run.evals.scorer import Scorer
    from react_run.results import RunResult


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The verdict on a case; ``problems`` is empty if it passed."""

    name: str
    problems: tuple[str, ...]
    seconds: float
    answer: str = ""

    def to_dict(self) -> dict[str, object]:
        """The verdict for ``--json``."""
        return {
            "name": self.name,
            "passed": not self.problems,
            "problems": list(self.problems),
            "seconds": round(self.seconds, 3),
            "answer": self.answer,
        }


async def judged(case: Case, agent: ReActAgent, shared: Sequence[Scorer] = ()) -> Verdict:
    """Run and judge one case; its errors become its problems.

    Args:
        case: The case.
        agent: The agent that answers.
        shared: The scorers of its file.
    """
    started = perf_counter()
    answer = ""
    problems: tuple[str, ...] = ()
    try:
        result = await _run(case, agent)
        if result is not None:
            answer = result.answer
            problems = tuple(await _problems(case, agent, result, shared, perf_counter() - started))
    except ReactError as error:
        problems = (f"{type(error).__name__}: {error}",)
    return Verdict(name=case.name, problems=problems, seconds=perf_counter() - started, answer=answer)


async def _run(case: Case, agent: ReActAgent) -> RunResult | None:
    if case.recording is not None:
        from react_run.journal.reading import read_journal
        from react_run.journal.replay.replay import replay

        tools: Literal["recorded", "live"] = "recorded" if case.recorded_tools else "live"
        return (await replay(read_journal(case.recording), agent, tools=tools)).result
    if case.replies is None:
        return await agent.replace().run(case.asked, case.messages)
    from react_run.models.scripted import ScriptedModel

    model = ScriptedModel(replies=case.replies)
    return await agent.replace(model=model).run(case.asked, case.messages)


async def _problems(
    case: Case, agent: ReActAgent, result: RunResult, shared: Sequence[Scorer], seconds: float
) -> list[str]:
    from react_run.evals.scorer import ScoredRun, mark

    run = ScoredRun(
        name=case.name,
        prompt=case.asked,
        expected=case.expected,
        result=result,
        seconds=seconds,
        workspace=agent.workspace,
        agent=agent,
    )
    found = []
    for scorer in case.criteria(shared):
        try:
            said = await mark(scorer, scorer.label, run)
        except Exception as error:  # a case that cannot be judged has not passed
            found.append(f"{scorer.label}: {type(error).__name__}: {error}")
        else:
            found += [] if said.passed else [said.reason or f"{said.scorer}: {said.value:g}"]
    return found


def needs_network(case: Case, agent: ReActAgent, shared: Sequence[Scorer] = ()) -> str:
    """The reason why a case cannot run offline; empty if it can."""
    from react_offline import OfflineModel
    from react_run.journal.replay.model import ReplayModel
    from react_run.models.scripted import ScriptedModel

    offline = (OfflineModel, ReplayModel, ScriptedModel)
    for scorer in case.criteria(shared):
        if scorer.asks_model and not isinstance(getattr(scorer, "model", None), offline):
            return f"{case.name}: the scorer {scorer.label} asks a model; use react-run eval for that"
    if case.recording is not None or case.replies is not None:
        return ""
    if isinstance(agent.model, offline):
        return ""
    return f"{case.name}: it would call {agent.model.name}; give it replies or a recording, or use -m offline"
