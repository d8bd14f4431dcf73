"""``react-run serve AGENT.yaml…``: agents for every OpenAI client, and a page to watch them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from react_run.cli.options import agent_options, duration

if TYPE_CHECKING:
    from react_run.serve.options import ServeOptions

NEEDED = ("prometheus_client", "starlette", "uvicorn")
"""The packages of the extra ``serve``."""
_SIZES = {"kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000}


def _size(context: click.Context, parameter: click.Parameter, value: str) -> int:
    text = value.strip().lower()
    for unit, factor in _SIZES.items():
        if text.endswith(unit) and text[: -len(unit)].strip().isdigit():
            return int(text[: -len(unit)]) * factor
    if text.isdigit():
        return int(text)
    raise click.BadParameter(f"{value!r}: write a number of bytes, such as 10MB", context, parameter)


@click.command("serve", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("files", metavar="AGENT.yaml…", nargs=-1, required=True, type=click.Path())
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65_535), help="Port; 0 picks a free one."
)
@click.option("--token-file", metavar="FILE", help="Tokens that clients must send: one per line, or NAME TOKEN.")
@click.option(
    "--allow-host", "allow_hosts", metavar="NAME", multiple=True, help="Accept requests for this host name as well."
)
@click.option(
    "--allow-origin", "allow_origins", metavar="URL", multiple=True, help="Accept requests from pages of this origin."
)
@click.option(
    "--max-runs", default=16, show_default=True, type=click.IntRange(1), help="Maximum number of runs at the same time."
)
@click.option("--queue", default=64, show_default=True, type=click.IntRange(0), help="Maximum number of waiting runs.")
@click.option("--max-body", default="10MB", show_default=True, callback=_size, help="Maximum size of a request.")
@click.option("--run-timeout", metavar="TIME", callback=duration, help="Maximum duration of a run, such as 10m.")
@click.option(
    "--grace",
    default="30s",
    show_default=True,
    callback=duration,
    help="How long runs may take to finish after SIGTERM.",
)
@click.option("--on-disconnect", type=click.Choice(["cancel", "finish"]), default="cancel", show_default=True)
@click.option("--drafts", type=click.Choice(["reasoning", "content", "none"]), default="reasoning", show_default=True)
@click.option(
    "--client-tools",
    type=click.Choice(["refuse", "ignore"]),
    default="refuse",
    show_default=True,
    help="What to do with tools in requests.",
)
@click.option(
    "--allow-override",
    metavar="KEY",
    multiple=True,
    type=click.Choice(["model", "max_cost", "max_iterations"]),
    help="Let requests set this key: model, max_cost or max_iterations (repeatable).",
)
@click.option(
    "--workspaces",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Directory in which each session gets a directory.",
)
@click.option("--title-model", metavar="MODEL", help="Model for the side requests of chat clients, such as titles.")
@click.option(
    "--park-after",
    default="10m",
    show_default=True,
    callback=duration,
    help="Park a run that has waited for a person this long.",
)
@click.option("--no-page", "page", flag_value=False, default=True, help="Serve only the APIs.")
@click.option("--no-save", "save", flag_value=False, default=True, help="Delete journals when the server ends.")
@click.option("--mcp", is_flag=True, help="Serve one agent as an MCP server instead, on standard input and output.")
@click.option("--tools", is_flag=True, help="With --mcp: serve its tools one by one, instead of the whole agent.")
@click.option(
    "--http", metavar="[HOST:PORT]", is_flag=False, flag_value="127.0.0.1:8765", help="With --mcp: serve over HTTP."
)
@click.option(
    "--token-env", metavar="VAR", help="With --mcp --http: the variable that holds the token clients must send."
)
@click.option("--resume", is_flag=True, help="Continue runs that were interrupted when the server ended.")
@agent_options
def command(files: tuple[str, ...], token_file: str | None, **given: Any) -> int:
    """Serve agents to OpenAI clients, with a web page to watch them.

    \b
      react-run serve agents/calculator.yaml
      curl localhost:8000/v1/chat/completions -d '{"model": "calculator",
        "messages": [{"role": "user", "content": "15*23"}]}'

    Agents are models by name. SIGTERM and Ctrl-C shut down cleanly; SIGHUP reloads the files.
    """
    from react_run.launch.options import AgentOptions
    from react_run.serve.options import ServeOptions, tokens_from

    reading = {name: given.pop(name) for name in ("model", "sets", "plugins", "env_file")}
    mcp = {name: given.pop(name) for name in ("mcp", "tools", "http", "token_env")}
    if any(mcp.values()):
        from react_run.cli.serve_mcp import serve_mcp

        return serve_mcp([AgentOptions(file=file, trust=given["trust"], **reading) for file in files], **mcp)
    options = ServeOptions(tokens=tokens_from(token_file), **given)
    options.check()
    agents = [AgentOptions(file=file, trust=options.trust, **reading) for file in files]
    return run_server(options, agents)


def run_server(options: ServeOptions, agents: list[Any], *, opened: bool = False) -> int:
    """Serve until a signal arrives, and return the exit status.

    Args:
        options: The options of the server.
        agents: How to load each agent file.
        opened: Whether to open the page in a browser.

    Raises:
        ConfigError: The server cannot start.
    """
    import asyncio
    import webbrowser
    from contextlib import ExitStack
    from tempfile import TemporaryDirectory

    from react_run.cli.exit import complain, logs_to, settle_in
    from react_run.errors import ConfigError
    from react_run.journal.locate import make_runs_directory, runs_directory

    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise ConfigError(f"the server needs {', '.join(missing)}: pip install 'react-run[serve]'")
    from react_run.serve.agents import sharing_a_workspace
    from react_run.serve.server import Server, address_of, listener
    from react_run.serve.service import Service

    with ExitStack() as stack:
        found = stack.enter_context(listener(options))
        directory = runs_directory()
        if not options.save:
            directory = Path(stack.enter_context(TemporaryDirectory(prefix="react-run-")))
        make_runs_directory(directory)
        service = Service(options, agents, directory)
        service.agents.load()
        sharing = sharing_a_workspace(service.agents)
        if sharing and options.max_runs > 1 and options.workspaces is None and not options.trust:
            raise ConfigError(
                f"{', '.join(sharing)}: concurrent runs would change the same files. Give --workspaces DIR "
                "(a directory for each session), --max-runs 1, or --trust to let them share the working directory"
            )
        stack.enter_context(logs_to(complain))
        settle_in()

        async def serve() -> int:
            def ready() -> None:
                print(_opening(address_of(found), service), flush=True)
                if opened:
                    webbrowser.open(address_of(found))

            return await Server(service, found, complain).run(ready)

        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            return runner.run(serve())


def _opening(address: str, service: Any) -> str:
    names = ", ".join(service.agents.names) or "no agents"
    token = "a token is required" if service.options.tokens else "no token is required"
    return f"serving {names} on {address} ({token})"


def _loop_factory() -> Any:
    """The fastest event loop available; ``None`` means Python's own."""
    try:
        import uvloop
    except ImportError:  # not available on this system
        return None
    return uvloop.new_event_loop
