"""``react-run serve --mcp AGENT.yaml``: the agent as a tool of editors, assistants and other agents."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec

import click

from react_run.errors import ConfigError
from react_run.launch.options import AgentOptions, built


def serve_mcp(
    options: Sequence[AgentOptions], *, mcp: bool, tools: bool, http: str | None, token_env: str | None
) -> int:
    """Serve until the client disconnects or a signal arrives, and return the exit status.

    Raises:
        ConfigError,
        UsageError: The options contradict each other, or the agent cannot be built.
    """
    if not mcp:
        raise click.UsageError("--tools, --http and --token-env need --mcp")
    if len(options) != 1:
        raise click.UsageError("--mcp serves one agent: name one file")
    if find_spec("mcp") is None:
        raise ConfigError("the MCP SDK is not installed: pip install 'react-run[mcp]'")
    from react_run.cli.exit import complain, logs_to
    from react_run.cli.interrupts import drive
    from react_run.journal.locate import runs_directory
    from react_run.serve.mcp_api import Client, Offered
    from react_run.serve.mcp_serving import Address, serve_on_stdio, serve_over_http

    address = Address.parsed(http, token_env) if http else None
    if token_env and address is None:
        raise click.UsageError(
            "--token-env needs --http: on standard input, the only client is the one that started this server"
        )
    agent = built(options[0].config(), [Client(), *options[0].extra_plugins()], runs_directory())
    offered = Offered(agent, one_by_one=tools)
    with logs_to(complain):
        if address is None:
            drive(serve_on_stdio(offered))
        else:
            drive(serve_over_http(offered, address, lambda url: complain(f"serving {offered.name} on {url}")))
    return 0
