"""Scores saved runs again, from their journals: nothing is run, and no model is asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from time import time
from typing import IO, Any

from react_run.batch.home import Home
from react_run.batch.sqlite import SqliteEngine
from react_run.errors import ConfigError, JournalError
from react_run.evals.case_runner import marks_of, needs_workspaces, scored_run
from react_run.evals.plan import Plan
from react_run.evals.results import WANTED, Result, result_of
from react_run.evals.running import PLAN, check_directory, write_cases
from react_run.evals.samples import FILE as SAMPLES
from react_run.evals.samples import Sample, read_samples
from react_run.evals.tally import tallied
from react_run.journal.lines import as_bytes, to_json
from react_run.journal.reading import read_journal
from react_run.journal.result import result_of as ended
from react_run.support.threads import run_blocking


def rescored(plan: Plan, source: Path, directory: Path, *, title: str, seed: int = 0, wanted: float = WANTED) -> Result:
    """Score the runs in a directory with the scorers of ``plan``. Scores by models are kept.

    Args:
        plan: The same cases and agents, with other scorers or expectations.
        source: The directory of the saved runs.
        directory: The directory for the new scores; may be ``source``.
        title: What was measured, as a title.
        seed: The seed for resampling.
        wanted: The difference that should be detectable.

    Raises:
        ConfigError: The runs belong to other cases, or a model would have to be asked.
    """
    before = _plan_of(source)
    _check(plan, before, source)
    check_directory(directory)
    directory.mkdir(parents=True, exist_ok=True)
    part = directory / f"{SAMPLES}.part"
    with part.open("wb") as file:
        run_blocking(_mark_all(plan, source, file))
    with _updated_plan(plan, source) if directory.resolve() == source.resolve() else nullcontext():
        part.replace(directory / SAMPLES)
    write_cases(directory, plan)
    times = {"started": before.get("started"), "finished": time(), "complete": True}
    found = tallied(read_samples(directory))
    return result_of(plan, found, title=title, seed=seed, wanted=wanted, about=times)


async def _mark_all(plan: Plan, source: Path, file: IO[bytes]) -> None:
    for sample in read_samples(source):
        file.write(f"{(await _again(plan, sample, source)).line()}\n".encode())


def _plan_of(source: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads((source / PLAN).read_text(encoding="utf-8"))
        return found
    except OSError as error:
        raise ConfigError(f"{source} has no evaluation: {PLAN}: {error.strerror or error}") from error
    except ValueError as error:
        raise ConfigError(f"{source} has no evaluation: {PLAN} is not JSON: {error}") from None


def _check(plan: Plan, before: dict[str, Any], source: Path) -> None:
    was = {name: digest for name, digest, _ in before["asked"]}
    now = {case.name: case.digest for case in plan.cases}
    problems = [f"case {name!r} is missing" for name in was if name not in now]
    problems += [f"case {name!r} was never run" for name in now if name not in was]
    problems += [f"case {name!r} has changed" for name in now if was.get(name, now[name]) != now[name]]
    if len(before["variants"]) != len(plan.variants):
        names = ", ".join(name for name, _ in before["variants"])
        problems.append(f"it compares {len(before['variants'])} agents ({names}): name the same ones")
    known = {tuple(judge) for judge in before["judges"]}
    problems += [
        f"the judge {label!r} of case {case!r} is new or has changed, so its model would have to be asked"
        for case, label, digest in plan.judges
        if (case, label, digest) not in known
    ]
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems[:10])
        raise ConfigError(f"the runs in {source} cannot be scored with these cases:\n{listed}\n--fresh runs them again")


async def _again(plan: Plan, sample: Sample, source: Path) -> Sample:
    turn = plan.turns[sample.index]
    case = plan.cases[turn.case]
    variant = plan.variants[turn.variant]
    sample = replace(sample, case=case.name, variant=variant.name)
    path = source / "runs" / f"{sample.run_id}.jsonl"
    try:
        result = ended(read_journal(path))
    except JournalError as error:
        return sample if sample.outcome == "error" else replace(sample, outcome="error", error=str(error))
    workspace = source / "workspaces" / str(sample.run_id) if needs_workspaces(plan) else variant.agent.workspace
    run = scored_run(plan, turn, result, sample.seconds, workspace, path)
    kept = {said["scorer"]: said for said in sample.marks}
    marks, problem = await marks_of(plan, turn, run, asks=False)
    mask = variant.agent.config.masker.mask
    listed: list[Mapping[str, Any]] = [{**said.to_dict(), "reason": mask(said.reason)} for said in marks]
    listed += [kept[label] for name, label, _ in plan.judges if name == case.name and label in kept]
    if not problem and len(listed) < len(plan.criteria(case)):
        problem = sample.error or "it was never scored by its judge"
    passed = all(said["passed"] for said in listed)
    return replace(
        sample,
        marks=listed,
        outcome="error" if problem else "pass" if passed else "fail",
        error=problem or None,
    )


@contextmanager
def _updated_plan(plan: Plan, source: Path) -> Iterator[None]:
    """Record the current scorers in the evaluation's plan, so that it can continue with them."""
    home = Home(source)
    with home.held():
        yield
        record = as_bytes(to_json(plan.record())).decode()
        if home.exists:
            queue = SqliteEngine(home)
            queue.set("plan", record)
            queue.set("rescored", 1)
            queue.close_now()
        (source / PLAN).write_text(record, encoding="utf-8")
