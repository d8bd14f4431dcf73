"""The work of ``react-run eval``: connects agents, cases and a directory, and picks the exit status."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from react_run.cli.batch_run import Listener
from react_run.cli.eval_plan import check_keys, planned
from react_run.cli.exit import INTERRUPTED, Interrupted, complain, logs_to
from react_run.cli.statuses import ANSWERED, NO_ANSWER, PROVIDER_FAILED
from react_run.cli.terminal import coloured, json_text
from react_run.errors import ConfigError
from react_run.evals.gates import against_baseline, check_baseline, judge_gates
from react_run.evals.plan import Plan
from react_run.evals.results import WANTED, Result, Tallies, read_result, write_result
from react_run.launch.options import AgentOptions
from react_run.support.dataclasses import dataclass
from react_run.support.text import printable

if TYPE_CHECKING:
    from react_run.cli.eval_progress import EvalMeter
    from react_run.evals.running import Evaluation


@dataclass(kw_only=True)
class EvalRun:
    """One call of the command; the fields are its options."""

    options: AgentOptions
    cases: str
    repeat: int | None
    against: str | None
    against_model: str | None
    baseline: str | None
    jobs: int
    rate: float | None
    max_cost: float | None
    retries: int
    retry_errors: bool
    keep_going: bool
    min_pass: float | None
    no_worse_than: float | None
    only: str | None
    tag: Sequence[str]
    output: str | None
    fresh: bool
    rescore: str | None
    html: str | None
    export: Sequence[tuple[str, str]]
    seed: int
    everything: bool
    as_json: bool
    yes: bool
    quiet: bool
    _listener: Listener = field(default_factory=Listener, init=False)

    def go(self) -> int:
        """Run the evaluation and return the exit status."""
        self._check_options()
        plan = self.plan
        baseline = read_result(Path(self.baseline)) if self.baseline else None
        common = check_baseline(baseline, plan, str(self.baseline)) if baseline else []
        directory = self._directory()
        if self.rescore is not None:
            from react_run.evals.rescoring import rescored

            kept, wanted = Path(self.rescore), self._wanted
            result = rescored(plan, kept, directory, title=self._title, seed=self.seed, wanted=wanted)
            status = None
        else:
            check_keys(plan)
            _make(directory)
            result, status = self._measured(plan, directory)
        if baseline is not None:
            against_baseline(result, self._tallies(directory), baseline, common, str(self.baseline), self._wanted)
        holds = judge_gates(result, min_pass=self.min_pass, no_worse_than=self.no_worse_than)
        write_result(result, directory)
        self._show(result, directory)
        if status is not None:
            return status
        if any(measured["doubtful"] for measured in result["variants"]):
            return PROVIDER_FAILED
        return ANSWERED if holds else NO_ANSWER

    def _check_options(self) -> None:
        compared = [name for name in ("against", "against_model", "baseline") if getattr(self, name) is not None]
        if len(compared) > 1:
            options = {"against": "--against", "against_model": "-m2", "baseline": "--baseline"}
            raise ConfigError(f"compare with one thing at a time: {' or '.join(options[name] for name in compared)}")
        if self.no_worse_than is not None and not compared:
            raise ConfigError("--no-worse-than needs something to compare with: --against, -m2 or --baseline")

    @property
    def _wanted(self) -> float:
        return self.no_worse_than or WANTED

    @property
    def _title(self) -> str:
        names = [variant.name for variant in self.plan.variants]
        return f"{Path(self.cases).name}: {' and '.join(names)}"

    @cached_property
    def plan(self) -> Plan:
        """Plan what to run; every mistake in agents and cases is found here."""
        return planned(
            self.options,
            Path(self.cases),
            against=self.against,
            against_model=self.against_model,
            only=self.only,
            tags=self.tag,
            repeat=self.repeat,
            approve=self.yes,
        )

    def _directory(self) -> Path:
        """The directory for the result: the one given, else that of the last unfinished evaluation of the same kind,
        else a new one.
        """
        if self.output is not None:
            _list(Path(self.output))
            return Path(self.output)
        if self.rescore is not None:
            return Path(self.rescore)
        from react_run.journal.locate import evals_directory

        stem = f"{Path(self.options.file).stem}-{Path(self.cases).stem}"
        if not self.fresh:
            for found in sorted(evals_directory().glob(f"{stem}-*/"), reverse=True):
                if self._goes_on_with(found):
                    return found
        return evals_directory() / f"{stem}-{datetime.now():%Y%m%d-%H%M%S}-{uuid4().hex[:4]}"

    def _goes_on_with(self, directory: Path) -> bool:
        try:
            kept = json.loads((directory / "plan.json").read_text(encoding="utf-8"))
            complete = not self.retry_errors and read_result(directory)["complete"]
        except (OSError, ValueError):
            return False
        except ConfigError:
            complete = False
        return not complete and kept == json.loads(json.dumps(self.plan.record()))

    def _measured(self, plan: Plan, directory: Path) -> tuple[Result, int | None]:
        """The result, and the exit status if the evaluation stopped early."""
        from react_run.batch.running import BatchHalted
        from react_run.cli.eval_progress import EvalMeter
        from react_run.evals.running import Evaluation

        meter = EvalMeter(quiet=self.quiet)
        evaluation = Evaluation(
            directory,
            plan,
            fresh=self.fresh,
            jobs=self.jobs,
            max_cost=self.max_cost,
            rate=self.rate,
            retries=self.retries,
            retry_errors=self.retry_errors,
            keep_going=self.keep_going,
            say=meter.say,
        )
        status = None
        with evaluation, logs_to(complain), asyncio.Runner() as runner:
            try:
                runner.run(self._samples(evaluation, plan, meter))
            except BatchHalted as halted:
                if self._listener.heard:
                    self._interrupted(meter, directory)
                meter.say(f"{halted}\nthe same command continues the evaluation")
                status = halted.exit_status
            except asyncio.CancelledError:
                self._interrupted(meter, directory)
            result = evaluation.result(title=self._title, seed=self.seed, wanted=self._wanted, complete=status is None)
        return result, status

    def _interrupted(self, meter: EvalMeter, directory: Path) -> None:
        meter.say(f"interrupted; the same command continues the evaluation (saved in {directory})")
        raise Interrupted(INTERRUPTED)

    async def _samples(self, evaluation: Evaluation, plan: Plan, meter: EvalMeter) -> None:
        task, batch = asyncio.current_task(), evaluation.batch
        assert task is not None  # this is a coroutine
        assert batch is not None  # made on entering
        async with AsyncExitStack() as stack:
            for variant in plan.variants:
                await stack.enter_async_context(variant.agent)
            await batch.begin()
            with self._listener.listening(batch, task, meter), meter.shown(batch):
                async with aclosing(evaluation.samples()) as samples:
                    async for sample in samples:
                        meter.count_sample(sample)

    def _tallies(self, directory: Path) -> Tallies:
        from react_run.evals.samples import read_samples
        from react_run.evals.tally import tallied

        return tallied(read_samples(directory))

    def _show(self, result: Result, directory: Path) -> None:
        if self.html is not None:
            from react_run.evals.page import write_page

            write_page(result, Path(self.html))
        for form, path in self.export:
            from react_run.evals.exports import export

            export(form, result, directory, Path(path))
        if self.as_json:
            print(json_text(result, indent=2))
            return
        from react_run.evals.terminal import lines

        for line in lines(result, everything=self.everything, coloured=lambda text, to: coloured(text, to, sys.stdout)):
            print(line)
        print(f"saved in {printable(str(directory))}", file=sys.stderr)


def _make(directory: Path) -> None:
    """Create the directory for the result; a failure here must not look like a failed gate."""
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise ConfigError(f"cannot write {directory}: {error.strerror}; name another directory with -o DIR") from None


def _list(directory: Path) -> None:
    """Let the web page list an evaluation that is saved elsewhere, and find its runs by id."""
    from react_run.batch.home import name_for
    from react_run.journal.locate import evals_directory

    link = evals_directory() / name_for(directory)
    with suppress(OSError):  # the result is saved anyway
        evals_directory().mkdir(parents=True, exist_ok=True, mode=0o700)
        if not link.is_symlink():
            link.symlink_to(directory.absolute(), target_is_directory=True)
