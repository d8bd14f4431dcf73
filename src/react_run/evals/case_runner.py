"""Runs the cases of a plan as rows of a batch, and scores each run before its row gets a result."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from react_run.batch.identity import changes_things
from react_run.batch.row_run import Again, RowRunner, waiting_time
from react_run.batch.rows import unknown_calls
from react_run.errors import ModelError
from react_run.evals.scorer import Mark, ScoredRun, labels, mark
from react_run.support.threads import in_thread
from react_run.wrappers.calling import unwrap

if TYPE_CHECKING:
    from react_run.agent import ReActAgent
    from react_run.batch.engine import Claim, OpenRun
    from react_run.batch.rows import RowResult
    from react_run.evals.cases import Case
    from react_run.evals.plan import Plan, Turn, Variant
    from react_run.models.base import Model
    from react_run.results import RunResult
    from react_run.run import Run


class CaseRunner:
    """Runs the rows of a plan.

    Args:
        plan: The plan.
        plugins: Plugins to add next to the model in every run.
        directory: The parent of the workspaces.
    """

    def __init__(self, plan: Plan, plugins: Sequence[object], directory: Path) -> None:
        self.plan, self.plugins = plan, plugins
        self.workspaces = directory / "workspaces" if needs_workspaces(plan) else None
        self._scopes: dict[str, str] = {}
        self._runners = [self._runner(variant, variant.agent) for variant in plan.variants]
        for variant in plan.variants:
            keep_repeats_apart(variant.agent, self.scope_of)

    def _runner(self, variant: Variant, agent: ReActAgent) -> RowRunner:
        return RowRunner(
            agent, plugins=self.plugins, workspaces=self.workspaces, options=variant.options, ended=self._marked
        )

    def scope_of(self, run: Run) -> str:
        """The scope that keeps one repeat's memories apart from another's."""
        while run.parent is not None:
            run = run.parent
        return self._scopes.get(run.id, "")

    async def run(self, claim: Claim, opened: OpenRun) -> RowResult:
        """Run a row and score its run; raises the same errors as :meth:`RowRunner.run`."""
        turn = self.plan.turns[claim.row.index]
        case, variant = self.plan.cases[turn.case], self.plan.variants[turn.variant]
        if case.files and self.workspaces is not None and opened.path.stat().st_size == 0:
            await in_thread(lambda: _lay_out(case.files, self.workspaces / claim.run_id))  # type: ignore[operator]  # ^
        model = model_of(case)
        runner = self._runners[turn.variant]
        if model is not None:
            runner = self._runner(variant, variant.agent.replace(model=model))
        self._scopes[claim.run_id] = f"repeat {turn.repeat + 1}"
        try:
            return await runner.run(claim, opened)
        finally:
            del self._scopes[claim.run_id]

    async def _marked(self, claim: Claim, opened: OpenRun, result: RunResult, row: RowResult) -> RowResult:
        if unknown_calls(result):  # caused by the machine, not by the agent
            return replace(row, status="error")
        turn = self.plan.turns[claim.row.index]
        agent = self.plan.variants[turn.variant].agent
        workspace = agent.workspace if self.workspaces is None else self.workspaces / claim.run_id
        run = scored_run(self.plan, turn, result, row.seconds, workspace, opened.path)
        try:
            marks, problem = await marks_of(self.plan, turn, run)
        except ModelError as error:
            failed = replace(row, status="error", error=f"a judge could not be asked: {error}")
            if not error.retryable:
                return failed
            raise Again(failed, waiting_time(claim.failures, error)) from error
        mask = agent.config.masker.mask
        listed = [{**said.to_dict(), "reason": mask(said.reason)} for said in marks]
        costs = [row.cost, *(said.cost for said in marks)]
        known = [cost for cost in costs if cost is not None]
        cost = sum(known) if len(known) == len(costs) else None
        row = replace(row, marks=listed, cost=cost, answer=mask(row.answer))
        return replace(row, status="error", error=mask(problem)) if problem else row


def scored_run(
    plan: Plan, turn: Turn, result: RunResult, seconds: float, workspace: Path, path: Path | None
) -> ScoredRun:
    """The run in the form that scorers get."""
    case = plan.cases[turn.case]
    return ScoredRun(
        name=case.name,
        prompt=case.asked,
        expected=case.expected,
        result=result,
        seconds=seconds,
        workspace=workspace,
        path=path,
        agent=plan.variants[turn.variant].agent,
    )


async def marks_of(plan: Plan, turn: Turn, run: ScoredRun, *, asks: bool = True) -> tuple[list[Mark], str]:
    """The marks of a run, and the error of a scorer that failed, if any.

    Args:
        plan: The plan.
        turn: The turn that was run.
        run: The run.
        asks: Whether to use scorers that ask a model.

    Raises:
        ModelError: A scorer's model could not be reached.
    """
    scorers = plan.criteria(plan.cases[turn.case])
    marks: list[Mark] = []
    for scorer, label in zip(scorers, labels(scorers), strict=True):
        if scorer.asks_model and not asks:
            continue
        try:
            marks.append(await mark(scorer, label, run))
        except ModelError:
            raise
        except Exception as error:  # a scorer may raise anything
            return marks, f"the scorer {label} failed: {type(error).__name__}: {error}"
    return marks, ""


def model_of(case: Case) -> Model | None:
    """The model that a case brings; ``None`` if it uses the agent's own."""
    if case.recording is not None:
        from react_run.journal.replay.model import ReplayModel

        return ReplayModel(journal=case.recording)
    if case.replies is not None:
        from react_run.models.scripted import ScriptedModel

        return ScriptedModel(replies=case.replies)
    return None


def needs_workspaces(plan: Plan) -> bool:
    """Whether each run needs a directory of its own."""
    return any(changes_things(variant.agent) for variant in plan.variants) or any(case.files for case in plan.cases)


def keep_repeats_apart(agent: ReActAgent, scope: Callable[[Run], str]) -> None:
    """Tell plugins that remember results across runs, such as ``cache``, to keep repeats apart."""
    for plugin in agent.plugins:
        keep_apart = getattr(unwrap(plugin), "keep_apart", None)
        if callable(keep_apart):
            keep_apart(scope)


def _lay_out(files: Sequence[Path], workspace: Path) -> None:
    workspace.mkdir(parents=True, exist_ok=True)
    for path in files:
        if path.is_dir():
            shutil.copytree(path, workspace / path.name, dirs_exist_ok=True)
        else:
            shutil.copy2(path, workspace / path.name)
