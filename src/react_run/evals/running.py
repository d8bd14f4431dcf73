"""Runs an evaluation from its plan to its result; it can be interrupted, continued and scored again."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, aclosing
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

from react_run.batch.engine import Terms
from react_run.batch.home import Home
from react_run.batch.outputs import FileOutput
from react_run.batch.running import Batch
from react_run.batch.sqlite import SqliteEngine
from react_run.errors import ConfigError
from react_run.evals.case_runner import CaseRunner
from react_run.evals.plan import Plan
from react_run.evals.results import WANTED, Result, result_of
from react_run.evals.samples import FILE as SAMPLES
from react_run.evals.samples import Sample, read_samples, sample_of
from react_run.evals.tally import tallied
from react_run.journal.lines import as_bytes, to_json

if TYPE_CHECKING:
    from react_run.agent import ReActAgent
    from react_run.batch.gate import Gate
    from react_run.batch.row_run import Runner
    from react_run.evals.cases import Case
    from react_run.evals.scorer import Scorer

CASES = "cases.jsonl"
PLAN = "plan.json"
_OURS = ("queue.db", "queue.db-wal", "queue.db-shm", SAMPLES, CASES, PLAN, "result.json")


class Evaluation:
    """The runs of a plan, in a directory of its own. Use it as a context manager, and iterate over :meth:`samples`.

    Args:
        directory: The directory of the queue, the journals, ``samples.jsonl`` and ``result.json``.
        plan: The plan.
        fresh: Whether to delete an earlier evaluation in the directory.
        jobs: How many runs are in flight at once.
        max_cost: The limit in USD for all runs together, including scoring by models.
        rate: How many runs start per minute, at most.
        retries: How often to retry a run after a failure of the provider or the infrastructure.
        retry_errors: Whether to retry runs that ended with an error earlier.
        keep_going: Whether to continue although the first ten runs failed alike.
        say: Called with messages for the user.

    Raises (on entering):
        ConfigError: The directory holds a different evaluation, or another process is using it.
    """

    def __init__(
        self,
        directory: Path,
        plan: Plan,
        *,
        fresh: bool = False,
        jobs: int = 8,
        max_cost: float | None = None,
        rate: float | None = None,
        retries: int = 2,
        retry_errors: bool = False,
        keep_going: bool = False,
        say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.directory, self.plan, self.fresh = directory, plan, fresh
        self.home = Home(directory)
        self._options: dict[str, Any] = {"concurrency": jobs, "retries": retries, "keep_going": keep_going, "say": say}
        self._options["max_cost"] = max_cost  # the queue enforces it; here it is needed for messages
        reserve = max((variant.agent.config.limits.max_cost or 0.0 for variant in plan.variants), default=0.0)
        self._terms = Terms(max_cost=max_cost, reserve=reserve, rate=rate)
        self._retry_errors = retry_errors
        self._stack = ExitStack()
        self.batch: Batch | None = None

    def __enter__(self) -> Self:
        check_directory(self.directory)
        with ExitStack() as stack:
            stack.enter_context(self.home.held())
            if self.fresh:
                forget(self.directory)
            known = self.home.exists
            queue = SqliteEngine(self.home, batch=uuid4().hex, terms=self._terms)
            stack.callback(queue.close_now)
            self._agree(queue, known)
            output = FileOutput(self.directory / SAMPLES, known=known or self.fresh)
            stack.callback(output.close)
            if self._retry_errors and queue.get("rescored"):
                raise ConfigError(
                    f"the runs in {self.directory} were scored again, and a retry would bring the old scores of "
                    "the others back; --fresh starts over"
                )
            if self._retry_errors and queue.retry_errors():
                output.clear()
            self._output = output
            self.batch = Batch(
                self.plan.variants[0].agent,
                self.plan.rows(),
                engine=queue,
                written=output.lines(),
                runner=self._runner,
                **self._options,
            )
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _runner(self, gate: Gate) -> Runner:
        return CaseRunner(self.plan, [gate], self.directory)

    def _agree(self, queue: SqliteEngine, known: bool) -> None:
        """Check that the directory holds this evaluation; record a new one."""
        before, path = queue.get("plan"), self.directory / PLAN
        if before is not None:
            self.plan.check_against(json.loads(before), str(self.directory))
        elif known and queue.progress_now().total:
            raise ConfigError(f"{self.directory} holds a batch, not an evaluation: name another directory")
        else:
            before = as_bytes(to_json(self.plan.record())).decode()
            queue.set("plan", before)
            queue.set("started", time())
        if not path.exists():
            path.write_text(before, encoding="utf-8")
        queue.set("stopped", None)
        write_cases(self.directory, self.plan)
        self.started = float(queue.get("started") or time())

    async def samples(self) -> AsyncGenerator[Sample, None]:
        """Run what is left, and yield the samples in order, each after it was written.

        Raises:
            BatchHalted: It ended before all runs had results.
        """
        assert self.batch is not None  # set by __enter__
        async with aclosing(self.batch.__aiter__()) as results:
            async for result in results:
                turn = self.plan.turns[result.index]
                case, variant = self.plan.cases[turn.case], self.plan.variants[turn.variant]
                sample = sample_of(result, case.name, variant.name, turn.repeat)
                self._output.write([sample])
                yield sample

    def result(self, *, title: str, seed: int = 0, wanted: float = WANTED, complete: bool = True) -> Result:
        """The result of all samples so far."""
        times = {"started": self.started, "finished": time(), "complete": complete}
        found = tallied(read_samples(self.directory))
        return result_of(self.plan, found, title=title, seed=seed, wanted=wanted, about=times)


def check_directory(directory: Path) -> None:
    """Refuse a directory with other contents, since ``--fresh`` deletes an evaluation's files.

    Raises:
        ConfigError: The directory has other contents.
    """
    if not directory.exists() or (directory / PLAN).exists():
        return
    if not directory.is_dir():
        raise ConfigError(f"{directory} is not a directory")
    left = [path.name for path in directory.iterdir() if not _is_of_start(path)]
    if left:
        raise ConfigError(
            f"{directory} contains more than an evaluation ({', '.join(sorted(left)[:3])}): name a new directory"
        )


def _is_of_start(path: Path) -> bool:
    """Whether the file may come from an evaluation that was killed while it started."""
    return path.name in ("lock", *_OURS, f"{CASES}.part") or (path.name == "runs" and not any(path.iterdir()))


def forget(directory: Path) -> None:
    """Delete an evaluation's files in a directory, and nothing else."""
    for name in ("runs", "workspaces"):
        shutil.rmtree(directory / name, ignore_errors=True)
    for name in _OURS:
        (directory / name).unlink(missing_ok=True)


def write_cases(directory: Path, plan: Plan) -> None:
    """Store the prompts and expectations next to the samples, for exports."""
    part = directory / f"{CASES}.part"
    with part.open("wb") as file:
        for case in plan.cases:
            about = {
                "name": case.name,
                "prompt": case.asked,
                "expected": case.expected,
                "tags": case.tags,
                "weight": case.weight,
            }
            file.write(as_bytes(to_json(about)) + b"\n")
    part.replace(directory / CASES)


def read_case_facts(directory: Path) -> dict[str, Mapping[str, Any]]:
    """The data that :func:`write_cases` stored, by case name."""
    try:
        lines = (directory / CASES).read_bytes().splitlines()
        return {about["name"]: about for about in map(json.loads, lines)}
    except (OSError, ValueError, LookupError) as error:
        raise ConfigError(f"cannot read {directory / CASES}: {error}") from error


async def run_eval(
    agent: ReActAgent,
    cases: Iterable[Case | Mapping[str, Any]],
    *,
    scorers: Sequence[Scorer] = (),
    against: ReActAgent | None = None,
    directory: str | os.PathLike[str],
    repeat: int = 1,
    seed: int = 0,
    **options: Any,
) -> Result:
    """Measure an agent, or compare two.

    Args:
        agent: The agent.
        cases: The cases; mappings are as in a file of cases.
        scorers: Scorers for the runs of every case.
        against: Another agent, to compare with the first.
        directory: The directory for everything that is saved. The same call continues after an interruption.
        repeat: How often to run each case.
        seed: The seed for random sampling.
        options: Those of :class:`Evaluation`.

    Returns:
        What ``result.json`` holds.

    Raises:
        ConfigError: A case is wrong, or the directory holds another evaluation.
        BatchHalted: It ended before all runs had results.
    """
    from react_run.evals.cases import Case
    from react_run.evals.plan import Variant, distinct_names

    agents = [agent, *([against] if against is not None else [])]
    names = distinct_names([each.config.name or each.model.name for each in agents])
    plan = Plan(
        cases=[case if isinstance(case, Case) else Case.model_validate(case) for case in cases],
        scorers=scorers,
        variants=[Variant(name=name, agent=each) for name, each in zip(names, agents, strict=True)],
        repeat=repeat,
    )
    with Evaluation(Path(directory), plan, **options) as evaluation:
        async for _ in evaluation.samples():
            pass
        return evaluation.result(title=" and ".join(names), seed=seed)
