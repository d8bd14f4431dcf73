"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def agent_options(function: F) -> F:
    """The options that say how an agent file is read: model, values, plugins, trust."""
    for option in reversed(
        (
            click.option("-m", "--model", metavar="MODEL", help="Use this model instead of the file's."),
            click.option(
                "--set",
                "sets",
                metavar="KEY=VALUE",
                multiple=True,
                help="Set a value of the file, by its path: --set limits.max_cost=0.5 (repeatable).",
            ),
            click.option(
                "-p",
                "--plugin",
                "plugins",
                metavar="NAME",
                multiple=True,
                shell_complete=_complete_plugins,
                help="Add a plugin, outermost; no:NAME leaves one of the file out (repeatable).",
            ),
            click.option("--env-file", metavar="FILE", help="Read variables from a .env file; the environment wins."),
            click.option("--trust", is_flag=True, help="Trust the file's directory for this run."),
        )
    ):
        function = option(function)
    return function


def run_argument(function: F) -> F:
    """The run that a command is about; the command gets ``None`` for the last one."""

    def given(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
        if (value is None) != context.params.pop("last", False):
            raise click.UsageError("name a run: an id or its beginning, a journal file, or --last", context)
        engine = context.params.pop("engine", None)
        return value if engine is None else _fetched(context, engine, value)

    function = click.option(
        "--engine", metavar="URL", is_eager=True, help="Look for the run in this database: postgres://…"
    )(function)
    function = click.option("--last", is_flag=True, is_eager=True, help="The last run.")(function)
    return click.argument("run", metavar="RUN", required=False, callback=given, shell_complete=_complete_runs)(function)


def _fetched(context: click.Context, engine: str, run: str | None) -> str:
    """A copy of a run that a database keeps; its store is that of the command."""
    from react_run.cli.engines import must_be_known
    from react_run.journal.shipped_store import PostgresStore

    must_be_known(engine)
    context.obj = store = PostgresStore(engine)
    return str(store.find(run))


def _complete_runs(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from react_run.journal.locate import run_files

    return [path.stem for path in run_files() if path.stem.startswith(incomplete)]


def _complete_plugins(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from react_run.components.kinds import installed

    names = [*installed("plugins")]
    return [name for name in (*names, *(f"no:{name}" for name in names)) if name.startswith(incomplete)]
