"""The work of ``react-run batch``: connects inputs, agent, queue and output, and picks the exit status."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, aclosing, contextmanager, suppress
from dataclasses import field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from react_run.cli.exit import INTERRUPTED, Interrupted, complain, logs_to, settle_in
from react_run.cli.terminal import terminal_text
from react_run.errors import ConfigError
from react_run.launch.keys import must_have_key
from react_run.launch.options import AgentOptions, approve_all, built
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.agent import ReActAgent
    from react_run.batch.engine import Progress
    from react_run.batch.home import Home
    from react_run.batch.outputs import Line, Output
    from react_run.batch.running import Batch
    from react_run.batch.sqlite import SqliteEngine
    from react_run.cli.batch_progress import Meter

SPOOLED = "input"
KEPT = ("input", "form", "prompt", "id_field", "output")
"""The options that are saved for a later command that gives only the batch name."""


class Listener:
    """Signal handling of a batch: the first Ctrl-C lets rows in progress finish, the second stops them, the third exits
    at once. ``heard`` counts them.
    """

    def __init__(self) -> None:
        self.heard = 0

    @contextmanager
    def listening(self, batch: Batch, task: asyncio.Task[Any], meter: Meter) -> Iterator[None]:
        """Handle signals until the end of the block."""
        loop = asyncio.get_running_loop()

        def heard() -> None:
            self.heard += 1
            if self.heard == 1:
                meter.say("no more rows will start; waiting for rows in progress (Ctrl-C again stops them)")
                batch.stop()
            elif self.heard == 2:
                task.cancel()
            else:
                os._exit(INTERRUPTED)

        numbers = (signal.SIGINT, signal.SIGTERM)
        for number in numbers:
            with suppress(ValueError, RuntimeError, NotImplementedError):  # not the main thread, or not POSIX
                loop.add_signal_handler(number, heard)
        try:
            yield
        finally:
            for number in numbers:
                with suppress(ValueError, RuntimeError, NotImplementedError):
                    loop.remove_signal_handler(number)


@dataclass(kw_only=True)
class BatchRun:
    """One call of the command; the fields are its options."""

    options: AgentOptions
    inputs: str | None
    output: str | None
    jobs: int
    prompt: str | None
    id_field: str
    form: str | None
    rate: float | None
    max_cost: float | None
    retries: int
    retry_errors: bool
    limit: int | None
    unordered: bool
    engine: str
    name: str | None
    resume: str | None
    fresh: bool
    keep_going: bool
    workspaces: str | None
    yes: bool
    quiet: bool
    _listener: Listener = field(default_factory=Listener, init=False)
    _begun: bool = field(default=False, init=False)

    def go(self) -> int:
        """Run the batch and return the exit status."""
        if self.engine != "sqlite":
            return self._go_on_postgres()
        home = self._home()
        self.options.must_exist()
        with ExitStack() as stack:
            stack.enter_context(home.held())
            agent = self.agent()
            if self.fresh:
                self._forget(home)
            known = home.exists
            home.make()
            try:
                source = self._source(home)
                queue = self._queue(home, agent, source)
                stack.callback(queue.close_now)
                output = self._output(known)
                stack.callback(output.close)
                written = self._written_before(output, self.retry_errors and queue.retry_errors() > 0)
                with logs_to(complain), asyncio.Runner() as runner:
                    return self.drive(runner, agent, queue, source, output, written, home.name)
            except BaseException:
                if not known and not self._begun:
                    home.remove()  # nothing was started: the next command starts from scratch
                raise

    def _go_on_postgres(self) -> int:
        from react_run.cli.engines import must_be_known

        must_be_known(self.engine)
        home = self._home()
        self.options.must_exist()
        with ExitStack() as stack:
            stack.enter_context(home.held())
            agent = self.agent()
            if self.workspaces is None:
                self._warn_of_workspaces(agent)
            source = self._source(home)
            if source is None:
                raise ConfigError("name the INPUTS: with --engine postgres://… they are not saved")
            with logs_to(complain), asyncio.Runner() as runner:
                engine, known = runner.run(self._engine(home, agent))
                try:
                    output = self._output(known)
                    stack.callback(output.close)
                    again = self.retry_errors and runner.run(engine.retry_errors()) > 0
                    written = self._written_before(output, again)
                    return self.drive(runner, agent, engine, source, output, written, home.name)
                finally:
                    runner.run(engine.close())

    def _absolute_output(self) -> str | None:
        return None if self.output is None else str(Path(self.output).absolute())

    async def _engine(self, home: Home, agent: ReActAgent) -> Any:
        from react_run.batch.catalogue import begun
        from react_run.batch.engine import Terms

        terms = Terms(max_cost=self.max_cost, reserve=agent.config.limits.max_cost or 0.0, rate=self.rate)
        return await begun(
            self.engine, home.name, agent, terms, jobs=self.jobs, fresh=self.fresh, output=self._absolute_output()
        )

    def _warn_of_workspaces(self, agent: ReActAgent) -> None:
        from react_run.batch.identity import changes_things

        if changes_things(agent) and not self.quiet:
            complain(
                "warning: each row works in a directory on its machine; a row that continues on another one finds "
                "an empty one. --workspaces on shared storage keeps their files"
            )

    def agent(self) -> ReActAgent:
        """The agent."""
        config = self.options.config()
        plugins = self.options.extra_plugins()
        if self.yes:
            approve_all(config, plugins)
        agent = built(config, plugins, ())
        must_have_key(agent)
        settle_in()
        return agent

    def _home(self) -> Home:
        from react_run.batch.home import Home, find_home, name_for

        if self.resume is not None:
            return find_home(self.resume)
        if self.inputs is None:
            raise ConfigError("name the INPUTS, or - for standard input")
        if self.name is not None:
            return Home.named(self.name)
        if self.output is not None:
            return Home.named(name_for(Path(self.output)))
        return Home.named(f"{datetime.now():%Y%m%d-%H%M%S}-{uuid4().hex[:6]}")

    def _forget(self, home: Home) -> None:
        for name in ("runs", "workspaces"):
            shutil.rmtree(home.directory / name, ignore_errors=True)
        for path in (*home.directory.glob("queue.db*"), home.directory / SPOOLED):
            path.unlink(missing_ok=True)

    def _source(self, home: Home) -> Path | None:
        """The file to read; standard input is first saved in the batch's directory. ``None`` means the inputs that were
        read before.
        """
        if self.inputs == "-":
            path = home.directory / SPOOLED
            part = path.with_suffix(".part")
            with part.open("wb") as file:
                shutil.copyfileobj(sys.stdin.buffer, file)
            part.replace(path)
            return path
        return None if self.inputs is None else Path(self.inputs)

    def _queue(self, home: Home, agent: ReActAgent, source: Path | None) -> SqliteEngine:
        from react_run.batch.engine import Terms
        from react_run.batch.running import open_queue

        terms = Terms(max_cost=self.max_cost, reserve=agent.config.limits.max_cost or 0.0, rate=self.rate)
        queue = open_queue(home, agent, terms)
        if source is None:
            for key in KEPT:
                setattr(self, "inputs" if key == "input" else key, queue.get(key) or getattr(self, key, None))
            return queue
        said = {
            "input": str(source.absolute()),
            "form": self.form,
            "prompt": self.prompt,
            "id_field": self.id_field,
            "output": None if self.output is None else str(Path(self.output).absolute()),
        }
        for key, value in said.items():
            queue.set(key, value)
        return queue

    def _output(self, known: bool) -> Output:
        from react_run.batch.outputs import FileOutput

        return StandardOutput() if self.output is None else FileOutput(Path(self.output), known=known or self.fresh)

    def _written_before(self, output: Output, again: bool) -> int | bytearray:
        from react_run.batch.outputs import FileOutput

        if not isinstance(output, FileOutput):
            return 0
        if self.fresh or again:  # retried rows get new lines, so all lines are written again
            output.clear()
        return output.indices() if self.unordered else output.lines()

    def drive(
        self,
        runner: asyncio.Runner,
        agent: ReActAgent,
        queue: Any,
        source: Path | None,
        output: Output,
        written: int | bytearray,
        name: str,
    ) -> int:
        """Run the rows and write their results."""
        from react_run.batch.inputs import read_rows
        from react_run.batch.running import Batch
        from react_run.cli.batch_progress import Meter

        path = source if source is not None else Path(str(self.inputs))
        rows = read_rows(path, form=self.form, prompt=self.prompt, id_field=self.id_field, limit=self.limit)
        meter = Meter(quiet=self.quiet)
        batch = Batch(
            agent,
            rows,
            concurrency=self.jobs,
            ordered=not self.unordered,
            retries=self.retries,
            max_cost=self.max_cost,
            rate=self.rate,
            keep_going=self.keep_going,
            workspaces=self.workspaces,
            engine=queue,
            written=written,
            whole=self.limit is None,
            options=self.options.to_record(),
            say=meter.say,
        )
        from react_run.batch.running import BatchHalted

        if self.max_cost is not None and not agent.config.limits.max_cost and not self.quiet:
            meter.say(
                f"rows have no limit of their own (--set limits.max_cost=…): up to {self.jobs} may be running when the "
                "limit is reached"
            )
        try:
            progress = runner.run(self._written(batch, agent, output, meter, name))
        except BatchHalted as halted:
            if self._listener.heard:
                self._say_how_to_go_on(meter, name)
                raise Interrupted(INTERRUPTED) from None
            meter.say(f"{halted}\n{self._how_to_go_on(name)}")
            return halted.exit_status
        except asyncio.CancelledError:
            self._say_how_to_go_on(meter, name)
            raise Interrupted(INTERRUPTED) from None
        return _status(progress)

    async def _written(self, batch: Batch, agent: ReActAgent, output: Output, meter: Meter, name: str) -> Progress:
        task = asyncio.current_task()
        assert task is not None  # this is a coroutine
        async with agent:
            await batch.begin()
            self._begun = True
            if not self.quiet and not self.output:
                meter.say(f"batch {name}")
            with self._listener.listening(batch, task, meter), meter.shown(batch):
                async with aclosing(aiter(batch)) as results:  # also when the output cannot be written
                    async for result in results:
                        output.write([result])
                        meter.count(result)
            meter.sum_up(batch.ended)
            return batch.ended

    def _say_how_to_go_on(self, meter: Meter, name: str) -> None:
        meter.say(f"interrupted; {self._how_to_go_on(name)}")

    def _how_to_go_on(self, name: str) -> str:
        if self.output is not None and self.inputs != "-":
            return "the same command continues the batch"
        more = "" if self.engine == "sqlite" else f" --engine {shlex.quote(self.engine)}"
        return f"continue with: react-run batch {shlex.quote(self.options.file)} --resume {name}{more}"


def _status(progress: Progress) -> int:
    return 0 if progress.ok == progress.total else 1


class StandardOutput:
    """Writes lines to standard output, which starts empty each time."""

    def write(self, results: Sequence[Line]) -> None:
        sys.stdout.write("".join(f"{terminal_text(result.line())}\n" for result in results))
        sys.stdout.flush()

    def close(self) -> None:
        """Leave it open for others."""
