"""One behaviour, run once: what came of it, and everything that must hold whatever comes of it."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.guards.behaviours import Behaviour
from benchmarks.guards.model import PolicyModel
from benchmarks.guards.strict import unrepaired
from benchmarks.guards.world import Lab, World
from react_run import ModelError, ReActAgent, Run, RunResult, hookimpl
from react_run.policies.model_retries import ModelRetries
from react_run.policies.order import Disable, Policy, built_in
from react_run.support.preview import size_of

PATIENCE = {True: 3.0, False: 30.0}
"""Seconds after which a trial counts as hung, by whether it is about time."""
CORE = ("arguments", "tool_timeout")
"""Guards that are not plugins: they are switched off in other ways."""
HONEST = re.compile(r"have not|could not|cannot|missing|not done|did not find")
SLACK = 1_024
"""Bytes by which a nudge or a note may lengthen a result."""


@dataclass
class Trial:
    """What came of one run."""

    behaviour: Behaviour
    result: RunResult | None
    problems: list[str] = field(default_factory=list)
    fired: Counter[str] = field(default_factory=Counter)
    tokens: int = 0
    wasted: int = 0
    false_success: bool = False

    @property
    def passed(self) -> bool:
        """Whether it ended as it must, and everything held that must hold."""
        return not self.problems


class Fired:
    """Counts the guards that fire; gives the run another id when told to."""

    def __init__(self, hostile_id: bool) -> None:
        self.count: Counter[str] = Counter()
        self.hostile_id = hostile_id

    @hookimpl
    def react_guard_fired(self, guard: str) -> None:
        self.count[guard] += 1

    @hookimpl
    def react_run_started(self, run: Run) -> None:
        if self.hostile_id:
            run.id = "../../../outside/" + run.id


async def trial(behaviour: Behaviour, seed: int, without: Iterable[str] = (), *, in_other_words: bool = False) -> Trial:
    """Run ``behaviour`` once, without some guards, or with all that the runtime says reworded."""
    with TemporaryDirectory(prefix="guard-bench-") as name:
        workspace, outside = _directories(Path(name), link=behaviour.set_up == "link")
        world = World(f"{behaviour.name} {seed}")
        world.faults.update(behaviour.faults)
        for attribute, value in behaviour.world.items():
            setattr(world, attribute, value)
        fired = Fired(behaviour.set_up == "hostile id")
        agent = agent_for(behaviour, world, fired, frozenset(without))
        agent.workspace = workspace
        assert isinstance(agent.model, PolicyModel)
        agent.model.in_other_words = in_other_words
        done = await _run(agent, behaviour, fired)
        world.released.set()
        _judge(done, agent, world)
        if _contains_anything(outside):
            done.problems.append("something outside the workspace changed")
        return done


def _directories(root: Path, *, link: bool) -> tuple[Path, Path]:
    """A workspace and what lies outside of it; with a link from the one to the other when asked."""
    workspace, outside = root / "inside", root / "outside"
    workspace.mkdir()
    outside.mkdir()
    if link:
        (workspace / ".react-run").symlink_to(outside, target_is_directory=True)
    return workspace, outside


def _contains_anything(directory: Path) -> bool:
    return any(directory.iterdir())


def agent_for(behaviour: Behaviour, world: World, fired: Fired, without: frozenset[str]) -> ReActAgent:
    """The agent that meets a behaviour."""
    task = behaviour.task(world)
    seed = f"{behaviour.name} {world.code}"
    model = PolicyModel(
        task=task, mischief=behaviour.mischief, persona=behaviour.persona, seed=seed, **dict(behaviour.model)
    )
    config: dict[str, Any] = {**behaviour.config}
    if "tool_timeout" in without:
        config["tool_timeout"] = 10.0**6
    plugins: list[Any] = [fired, *(Disable(policy=guard) for guard in without if guard not in CORE)]
    if "model_retries" not in without:
        plugins.append(ModelRetries(first_wait=0.001))
    lab = Lab(world=world)
    if "arguments" in without:
        unrepaired(lab)
    return ReActAgent(config, model=model, toolsets=[lab], plugins=plugins)


async def _run(agent: ReActAgent, behaviour: Behaviour, fired: Fired) -> Trial:
    model = agent.model
    assert isinstance(model, PolicyModel)
    done = Trial(behaviour, None)
    try:
        done.result = await asyncio.wait_for(agent.run(model.task.prompt), PATIENCE[behaviour.timed])
    except TimeoutError:
        done.problems.append("the run hangs")
    except ModelError as error:
        done.result = error.result
        if behaviour.ends != "model_error":
            done.problems.append(f"the run raised: {error}")
    except Exception as error:  # the bench goes on: this is what it is looking for
        done.problems.append(f"the run raised {type(error).__name__}: {error}")
    done.fired = fired.count
    done.tokens = sum(model.sent)
    return done


def _judge(done: Trial, agent: ReActAgent, world: World) -> None:
    model, result, behaviour = agent.model, done.result, done.behaviour
    assert isinstance(model, PolicyModel)
    if result is None:
        return
    right = model.task.right(result.answer)
    done.wasted = wasted(result)
    done.fired["arguments"] += sum(
        bool(step.repaired) or step.error_code == "invalid_arguments" for step in result.steps
    )
    done.fired = Counter({guard: count for guard, count in done.fired.items() if count and guard in guards()})
    claims = result.success and result.finish_reason == "stop"
    done.false_success = claims and not right and not HONEST.search(result.answer)
    limits = agent.config.limits
    checks: Mapping[str, bool] = {
        f"it ended as {result.stop_reason}": result.stop_reason == behaviour.ends,
        f"the answer is wrong: {result.answer[:200]!r}": right or not behaviour.must_solve,
        "the answer does not say what is known": re.search(behaviour.says, result.answer) is not None,
        "a false success": not done.false_success,
        "a claim that nothing supports": model.task.wrong not in result.answer,
        "no answer at all": bool(result.answer.strip()) or behaviour.ends == "model_error",
        "a success that is none": result.success == (result.stop_reason == "completed"),
        f"{done.wasted} iterations were wasted": done.wasted <= behaviour.iterations,
        "more iterations than allowed": result.iterations <= agent.config.max_iterations,
        f"paid {len(world.payments)} times": len(world.payments) <= 1,
        "a result above the ceiling": fits(result, limits.max_result_bytes),
        "a request that does not fit": "window" not in behaviour.model or max(model.sent) <= model.hard_window,
        f"fired: {dict(done.fired)}": not behaviour.quiet or not done.fired,
        f"it cost {result.usage.cost}": limits.max_cost is None or (result.usage.cost or 0) < 1.5 * limits.max_cost,
    }
    done.problems += [problem for problem, fine in checks.items() if not fine]


def wasted(result: RunResult) -> int:
    """The iterations that brought nothing: whatever they asked for failed, or had been answered before."""
    useful = {step.iteration for step in result.steps if not step.failed and (step.executed or step.outcome)}
    return len({step.iteration for step in result.steps} - useful)


def fits(result: RunResult, ceiling: int) -> bool:
    """Whether every result, and all of one iteration together, keep below their ceilings."""
    sizes: Counter[int] = Counter()
    for step in result.steps:
        size = size_of(step.observation)
        if size > ceiling + SLACK:
            return False
        sizes[step.iteration] += size
    return all(size <= 4 * ceiling + SLACK for size in sizes.values())


@cache
def guards() -> list[str]:
    """Every guard that can be left out."""
    return [*(policy.guard for policy in sorted(_policies(), key=lambda policy: policy.guard)), *CORE]


def _policies() -> list[type[Policy]]:
    asking = "more_iterations"  # a person may let a run go on: nothing that a model can do wrong
    return [policy for policy in built_in() if policy.guard != asking]
