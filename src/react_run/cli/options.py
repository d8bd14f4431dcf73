"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
_TIMES = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}


def duration(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """Convert ``90``, ``30s``, ``10m``, ``2h`` or ``7d`` to seconds."""
    if value is None:
        return None
    text = value.strip().lower()
    factor = _TIMES.get(text[-1:])
    try:
        seconds = float(text[:-1]) * factor if factor else float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e9:
        raise click.BadParameter(f"{value!r}: write seconds, or a time such as 30s, 10m, 2h, 7d", context, parameter)
    return seconds


def named_file(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
    """Validate the file for an additional output; ``-`` is refused, because the result goes to standard output."""
    names = [name for *_, name in value] if isinstance(value, tuple) else [value]
    if "-" in names:
        text = "standard output already has the result: name a file instead of '-' (or ./- for a file of that name)"
        raise click.BadParameter(text, context, parameter)
    return value


def agent_options(function: F) -> F:
    """The options for loading an agent file: model, values, plugins, trust."""
    for option in reversed(
        (
            click.option(
                "-m",
                "--model",
                metavar="MODEL",
                shell_complete=_complete_models,
                help="Use this model instead of the file's.",
            ),
            click.option(
                "--base-url",
                metavar="URL",
                is_eager=True,
                expose_value=False,
                callback=_keep_address,
                help="Ask this OpenAI-compatible server; short for --set model.base_url=URL.",
            ),
            click.option(
                "--set",
                "sets",
                metavar="KEY=VALUE",
                multiple=True,
                callback=_with_address,
                help="Override a value in the file, such as --set limits.max_cost=0.5 (repeatable).",
            ),
            click.option(
                "-p",
                "--plugin",
                "plugins",
                metavar="NAME",
                multiple=True,
                shell_complete=_complete_plugins,
                help="Add an outermost plugin; no:NAME disables one listed in the file (repeatable).",
            ),
            click.option("--env-file", metavar="FILE", help="Read variables from a .env file; the environment wins."),
            click.option("--trust", is_flag=True, help="Trust the file's directory for this run."),
        )
    ):
        function = option(function)
    return function


def _keep_address(context: click.Context, parameter: click.Parameter, url: str | None) -> None:
    context.meta["base_url"] = url


def _with_address(context: click.Context, parameter: click.Parameter, sets: tuple[str, ...]) -> tuple[str, ...]:
    url = context.meta.get("base_url")
    return sets if url is None else (f"model.base_url={url}", *sets)


def session_options(function: F) -> F:
    """The options for continuing a conversation."""
    text = "Continue (or begin) the conversation NAME."
    named = click.option("--session", metavar="NAME", shell_complete=_complete_sessions, help=text)
    text = "Continue the last conversation with this agent."
    return click.option("-c", "--continue", "continues", is_flag=True, help=text)(named(function))


def run_argument(function: F) -> F:
    """The run argument of a command; ``None`` means the latest run."""

    def given(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
        if (value is None) != context.params.pop("last", False):
            raise click.UsageError("name a run: an id or its beginning, a journal file, or --last", context)
        engine = context.params.pop("engine", None)
        return value if engine is None else _fetched(context, engine, value)

    function = click.option(
        "--engine", metavar="URL", is_eager=True, help="Find the run in this database: postgres://…"
    )(function)
    function = click.option("--last", is_flag=True, is_eager=True, help="Use the latest run.")(function)
    return click.argument("run", metavar="RUN", required=False, callback=given, shell_complete=_complete_runs)(function)


def _fetched(context: click.Context, engine: str, run: str | None) -> str:
    """A copy of a run from a database, kept while the command runs."""
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


def _complete_models(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from react_run.models import known_ids, prices

    names = ["offline", *(f"{provider}/" for provider in known_ids.KEYS), *(prices.ids() if incomplete else ())]
    return sorted({name for name in names if name.startswith(incomplete)})


def _complete_sessions(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from react_run.journal.sessions import Session

    return [name for name in Session.names() if name.startswith(incomplete)]
