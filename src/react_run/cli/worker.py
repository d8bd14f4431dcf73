"""``react-run worker AGENT.yaml…``: process rows of batches that other processes or machines started."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from react_run.cli.batch import ENGINE_HELP
from react_run.cli.engines import is_embedded
from react_run.cli.options import agent_options
from react_run.launch.options import AgentOptions

if TYPE_CHECKING:
    from react_run.agent import ReActAgent
    from react_run.batch.engine import Engine
    from react_run.batch.worker import Worker

_LOOK_AGAIN = 1.0


@click.command("worker", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("files", metavar="AGENT.yaml…", nargs=-1, required=True, type=click.Path())
@click.option("--engine", metavar="URL", default="sqlite", help=ENGINE_HELP)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1),
    default=8,
    show_default=True,
    help="Number of rows processed at once, per agent.",
)
@click.option(
    "--retries", type=click.IntRange(0), default=2, show_default=True, help="Retries after a failure of the provider."
)
@click.option(
    "--workspaces", metavar="DIR", type=click.Path(), help="Directory in which each row gets a directory of its own."
)
@click.option("--once", is_flag=True, help="Exit when there is nothing left to do.")
@agent_options
@click.option("--yes", is_flag=True, help="Approve every tool call that needs approval.")
def command(files: tuple[str, ...], engine: str, yes: bool, **given: Any) -> int:
    """Process rows of batches that run these agents, until Ctrl-C.

    A worker takes rows only from batches that were started with the same agent: the same values, toolsets and
    plugins. The first Ctrl-C lets the rows in progress finish, the second stops them.
    """
    from react_run.cli.exit import INTERRUPTED, Interrupted, complain, logs_to, settle_in
    from react_run.launch.keys import must_have_key
    from react_run.launch.options import approve_all, built

    names = ("model", "sets", "plugins", "env_file", "trust")
    shared = {name: given.pop(name) for name in names}
    if not is_embedded(engine) and len(files) > 1:
        from react_run.cli.worker_processes import one_process_each

        return one_process_each(click.get_current_context(), files)
    agents = []
    for file in files:
        options = AgentOptions(file=file, **shared)
        config, plugins = options.config(), options.extra_plugins()
        if yes:
            approve_all(config, plugins)
        agents.append(built(config, plugins, ()))
        must_have_key(agents[-1])  # else it takes rows from workers that have one, and fails them
    settle_in()
    with logs_to(complain), asyncio.Runner() as runner:
        try:
            runner.run(_all(agents, engine, given))
        except asyncio.CancelledError:
            raise Interrupted(INTERRUPTED) from None
    return 0


async def _all(agents: list[ReActAgent], engine: str, given: dict[str, Any]) -> None:
    serving = [_Serving(agent, engine, **given) for agent in agents]
    task = asyncio.current_task()
    assert task is not None  # this is a coroutine
    with _listening(serving, task):
        await asyncio.gather(*(one.serve() for one in serving))


@contextmanager
def _listening(serving: list[_Serving], task: asyncio.Task[Any]) -> Iterator[None]:
    loop, heard = asyncio.get_running_loop(), 0

    def listen() -> None:
        nonlocal heard
        heard += 1
        if heard == 1:
            _say("no more rows will start; waiting for rows in progress (Ctrl-C again stops them)")
            for one in serving:
                one.stop()
        elif heard == 2:
            task.cancel()
        else:
            os._exit(130)

    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # not POSIX
            loop.add_signal_handler(number, listen)
    yield


class _Serving:
    """One agent, for all batches that run it."""

    def __init__(
        self, agent: ReActAgent, engine: str, *, jobs: int, retries: int, workspaces: str | None, once: bool
    ) -> None:
        self.agent, self.engine, self.jobs, self.retries, self.once = agent, engine, jobs, retries, once
        self.workspaces = None if workspaces is None else Path(workspaces)
        self.worker: Worker | None = None
        self.stopped = False

    def stop(self) -> None:
        self.stopped = True
        if self.worker is not None:
            self.worker.stop()

    async def serve(self) -> None:
        async with self.agent:
            while not self.stopped:
                found = False
                async for name, engine in self._engines():
                    found = True
                    await self._work(name, engine)
                    if self.stopped:
                        return
                if self.once and (not found or not is_embedded(self.engine)):
                    return
                if not found:
                    await asyncio.sleep(_LOOK_AGAIN)

    async def _engines(self) -> Any:
        """The batches that have rows for this agent."""
        if not is_embedded(self.engine):
            from react_run.batch.catalogue import version_of
            from react_run.batch.postgres import PostgresEngine

            yield (
                "all batches of this agent",
                PostgresEngine(self.engine, version=version_of(self.agent), jobs=self.jobs),
            )
            return
        from react_run.batch.home import homes
        from react_run.batch.identity import agent_changes, agent_record
        from react_run.batch.sqlite import SqliteEngine

        now = agent_record(self.agent)
        for home in homes():
            engine = SqliteEngine(home)
            before, progress = engine.get("agent"), engine.progress_now()
            left = progress.done < progress.total and not progress.stopped
            if before is not None and left and home.holder() and not agent_changes(before, now):
                yield home.name, engine
            else:
                await engine.close()

    async def _work(self, name: str, engine: Engine) -> None:
        from react_run.batch.gate import Gate
        from react_run.batch.row_run import RowRunner
        from react_run.batch.running import workspaces_for
        from react_run.batch.worker import Worker

        gate = Gate(self.jobs)
        runner = RowRunner(self.agent, plugins=[gate], workspaces=self.workspaces or workspaces_for(self.agent, engine))
        self.worker = Worker(engine, runner, gate, retries=self.retries, say=_say)
        _say(f"{self.worker.name} works on {name}")
        try:
            await engine.begin(self.worker.name)
            await self.worker.run(stay=not is_embedded(self.engine) and not self.once)
        finally:
            await engine.close()


def _say(text: str) -> None:
    from react_run.cli.exit import complain

    complain(text)
