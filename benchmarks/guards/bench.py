"""The whole bench: every behaviour with several seeds, and again without each guard."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import psutil

from benchmarks.guards.behaviours import BEHAVIOURS, Behaviour
from benchmarks.guards.driving import Driven, Verdict, drive
from benchmarks.guards.long_tasks import claimed, done_right
from benchmarks.guards.right_answers import answering, looking_up, within_limits
from benchmarks.guards.right_changes import changing
from benchmarks.guards.running import Trial, guards, trial
from react_run.support.threads import busy_threads

AT_ONCE = 8
RIGHT: list[Driven] = [*changing(), *looking_up(), *answering(), *within_limits(), *done_right()]
"""Agents that do nothing wrong: no guard may spoil what they do."""
CLAIMED: list[Driven] = list(claimed())
"""Agents that say that all is done, when it is not, and the runtime could know."""


@dataclass
class Report:
    """What the bench found."""

    trials: dict[str, list[Trial]]
    failing_without: dict[str, list[str]] = field(default_factory=dict)
    tokens: dict[str, tuple[int, int]] = field(default_factory=dict)
    left_behind: list[str] = field(default_factory=list)
    reworded: list[str] = field(default_factory=list)
    """Behaviours that come out differently when all that the runtime says is worded differently."""
    driven: list[Verdict] = field(default_factory=list)
    """What became of the right agents, and of those that claim too much."""

    @property
    def fired(self) -> Counter[str]:
        """How often each guard fired in all trials with all guards."""
        return sum((trial.fired for trials in self.trials.values() for trial in trials), Counter())

    @property
    def false_successes(self) -> int:
        """Runs that count as a success although the answer, or the state of the world, is wrong."""
        trials = [trial for listed in self.trials.values() for trial in listed]
        return sum(trial.false_success for trial in trials) + sum(verdict.false_success for verdict in self.driven)

    @property
    def false_voids(self) -> int:
        """Right agents that were kept from a success, or whose answer was replaced."""
        return sum(verdict.false_void or (verdict.driven.right and not verdict.sound) for verdict in self.driven)

    def problems(self) -> list[str]:
        """Everything that is not as it must be."""
        found = [
            f"{name}, seed {seed}: {'; '.join(trial.problems)}"
            for name, trials in self.trials.items()
            for seed, trial in enumerate(trials)
            if not trial.passed
        ]
        found += [
            f"no behaviour needs the guard {name}" for name, failing in self.failing_without.items() if not failing
        ]
        found += [
            f"{name}: {with_guards} tokens with guards, {without} without"
            for name, (with_guards, without) in self.tokens.items()
            if with_guards != without
        ]
        found += [f"{name}: it hangs on the words of the runtime" for name in self.reworded]
        found += [f"{verdict.driven.name}: {verdict.problem}" for verdict in self.driven if verdict.problem]
        return found + self.left_behind


async def run_bench(seeds: int = 3) -> Report:
    """Run everything."""
    runs = [(behaviour, seed) for behaviour in BEHAVIOURS for seed in range(seeds)]
    done = await _all((behaviour, seed, ()) for behaviour, seed in runs)
    report = Report({behaviour.name: [] for behaviour in BEHAVIOURS})
    for trial_ in done:
        report.trials[trial_.behaviour.name].append(trial_)
    for guard in guards():
        needing = [behaviour for behaviour in BEHAVIOURS if report.trials[behaviour.name][0].fired[guard]]
        without = await _all((behaviour, 0, (guard,)) for behaviour in needing)  # elsewhere it did nothing
        report.failing_without[guard] = [trial_.behaviour.name for trial_ in without if not trial_.passed]
    quiet = [behaviour for behaviour in BEHAVIOURS if behaviour.quiet]
    bare = await _all((behaviour, 0, tuple(guards())) for behaviour in quiet)
    report.tokens = {
        trial_.behaviour.name: (report.trials[trial_.behaviour.name][0].tokens, trial_.tokens) for trial_ in bare
    }
    others = await _all(((behaviour, 0, ()) for behaviour in BEHAVIOURS), in_other_words=True)
    report.reworded = [
        other.behaviour.name for other in others if _outcome(other) != _outcome(report.trials[other.behaviour.name][0])
    ]
    report.driven = [await drive(driven) for driven in (*RIGHT, *CLAIMED)]
    report.left_behind = await left_behind()
    return report


def _outcome(trial_: Trial) -> tuple[object, ...]:
    """What must not depend on the words in which a model is told something."""
    result = trial_.result
    if result is None:
        return (trial_.passed,)
    return trial_.passed, result.stop_reason, result.success, result.iterations, result.answer


async def _all(runs: Iterable[tuple[Behaviour, int, tuple[str, ...]]], *, in_other_words: bool = False) -> list[Trial]:
    """Run trials a few at a time; those with deadlines apart, where nothing heavy delays the clock."""
    listed = list(runs)
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(behaviour: Behaviour, seed: int, without: tuple[str, ...]) -> Trial:
        async with slots:
            return await trial(behaviour, seed, without, in_other_words=in_other_words)

    done: dict[int, Trial] = {}
    for timed in (False, True):
        group = [(index, run) for index, run in enumerate(listed) if run[0].timed is timed]
        trials = await asyncio.gather(*(one(*run) for _, run in group))
        done.update(zip((index for index, _ in group), trials, strict=True))
    return [done[index] for index in range(len(listed))]


async def left_behind() -> list[str]:
    """Processes, tasks and busy threads that are still there."""
    await asyncio.sleep(0.1)
    found = [f"a process was left running: {child.name()}" for child in psutil.Process().children(recursive=True)]
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    found += [f"a task was left running: {task}" for task in tasks]
    if busy := busy_threads():
        found.append(f"{busy} threads were left at work")
    return found
