"""A check from agent files as a scorer: an answer passes if the check accepts it."""

from __future__ import annotations

from typing import ClassVar

from react_run.checks import Check
from react_run.engine.services import Services
from react_run.engine.state import EngineState
from react_run.evals.scorer import Score, ScoredRun, Scorer
from react_run.results import RunOutcome
from react_run.run import Run


class CheckScorer(Scorer):
    """Any check: `{kind: regex, pattern: …}` stands for `{kind: check, check: {kind: regex, pattern: …}}`."""

    kind: ClassVar[str] = "check"

    check: Check
    """The check, as under `checks:` in an agent file."""

    @property
    def label(self) -> str:
        return self.name or self.check.kind or type(self.check).__name__

    async def score(self, run: ScoredRun) -> Score:
        verdict = await self.check.check(_finished_run(run), run.answer)
        return Score(value=float(verdict.accepted), reason=verdict.feedback)


def _finished_run(scored: ScoredRun) -> Run:
    """Rebuild the finished run, as far as a check may use it."""
    agent, result = scored.agent, scored.result
    run = Run(
        agent=agent,
        messages=list(result.messages),
        offered_tools=agent.tools,
        all_tools={tool.name: tool for tool in agent.tools},
        max_iterations=agent.config.max_iterations,
        workspace=scored.workspace,
        prompt=scored.prompt,
        _engine=Services(),
    )
    run.outcome = RunOutcome(
        stop_reason=result.stop_reason, answer=result.answer, steps=list(result.steps), value=result.value
    )
    run.state(EngineState).hooks = agent.hooks
    return run
