"""``react-run mcp …``: manage the MCP servers of an agent.

The toolset of kind ``mcp`` does the work, through :class:`Servers`; this module prints and asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from react_run.cli.terminal import json_text, terminal_text
from react_run.errors import ConfigError, ToolsetError
from react_run.launch.mcp_servers import mcp_toolsets, pairs, toolset_of
from react_run.launch.options import AgentOptions, built, parsed

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig

F = TypeVar("F", bound=Callable[..., Any])
Entries = Mapping[str, Mapping[str, Any]]
HELP = {"help_option_names": ["-h", "--help"]}


class Servers(Protocol):
    """The servers of one toolset, see ``react_toolsets.mcp.inspection``."""

    @property
    def names(self) -> list[str]: ...
    def end(self) -> None: ...
    def entries(self) -> tuple[dict[str, dict[str, Any]], dict[str, str]]: ...
    def locked(self) -> dict[str, dict[str, Any]] | None: ...
    def differences(self, *, anew: bool = False) -> dict[str, list[str]]: ...
    def health(self, *, remote: bool = True) -> dict[str, tuple[bool, str]]: ...
    def prompt(self, name: str, prompt: str, arguments: Mapping[str, str]) -> str: ...
    def login(self, name: str, say: Callable[[str], None]) -> None: ...


@click.group("mcp", context_settings=HELP, no_args_is_help=True)
def command() -> None:
    """Work with the MCP servers that an agent file names.

    A lock (AGENT.mcp.lock) records their tools. With a lock, a server is started only when one of its tools is called,
    and a server whose tools differ from the lock is refused.
    """


def _file_options(function: F) -> F:
    for option in reversed(
        (
            click.argument("file", metavar="AGENT.yaml", type=click.Path()),
            click.option("--env-file", metavar="FILE", help="Read variables from a .env file; the environment wins."),
            click.option("--trust", is_flag=True, help="Trust the file's directory for this command."),
        )
    ):
        function = option(function)
    return function


@command.command("lock", context_settings=HELP)
@_file_options
@click.option("-y", "--yes", is_flag=True, help="Write it without asking.")
def lock(file: str, env_file: str | None, trust: bool, yes: bool) -> int:
    """Start every server, show what is new, ask, and write AGENT.mcp.lock."""
    with _servers(file, env_file, trust) as (config, all_servers):
        entries, before, changed = _compared(all_servers)
    entries = {name: config.masker.mask_data(entry) for name, entry in entries.items()}
    if not changed and set(before) <= set(entries):
        print("nothing has changed")
        return 0
    for name, lines in changed.items():
        print(terminal_text(f"{name}: {'; '.join(lines)}"))
        print(terminal_text("\n".join(_tool_lines(entries[name], lines))))
    if not yes and not click.confirm("Lock this?", default=False, err=True):
        return 1
    path = Path(file).with_name(f"{Path(file).stem}.mcp.lock")
    text = json_text({"version": 1, "servers": entries}, indent=1)
    path.write_text(f"{text}\n", encoding="utf-8")
    count = sum(len(entry["tools"]) for entry in entries.values())
    click.echo(f"{path}: {count} tools of {len(entries)} server{'' if len(entries) == 1 else 's'}", err=True)
    return 0


def _compared(all_servers: list[Servers]) -> tuple[dict[str, Any], dict[str, Any], dict[str, list[str]]]:
    """What the servers offer, what the lock says, and the differences, by server."""
    entries: dict[str, Any] = {}
    before: dict[str, Any] = {}
    changed: dict[str, list[str]] = {}
    for servers in all_servers:
        found, failed = servers.entries()
        for name, reason in failed.items():
            raise ConfigError(f"nothing was locked, because {name} cannot be asked: {reason}")
        if twice := sorted(set(found) & set(entries)):
            raise ConfigError(f"two MCP servers have the name {twice[0]!r}: give each a name of its own")
        entries |= found
        before |= _lock_of(servers)
        changed |= servers.differences(anew=True)
    return entries, before, changed


@command.command("diff", context_settings=HELP)
@_file_options
def diff(file: str, env_file: str | None, trust: bool) -> int:
    """Show differences from the lock; the exit status is 1 if there are any."""
    with _servers(file, env_file, trust) as (_, all_servers):
        found = {name: lines for servers in all_servers for name, lines in servers.differences().items()}
    for name, lines in found.items():
        for line in lines:
            print(terminal_text(f"{name}: {line}"))
    if not found:
        click.echo("there are no differences from the lock", err=True)
    return 1 if found else 0


@command.command("tools", context_settings=HELP)
@_file_options
@click.argument("name", metavar="[SERVER]", required=False)
@click.option("--live", is_flag=True, help="Ask the servers even if there is a lock.")
@click.option("--json", "as_json", is_flag=True, help="Write one JSON object, with the schemas.")
def tools(file: str, name: str | None, env_file: str | None, trust: bool, live: bool, as_json: bool) -> int:
    """List the tools of the servers: from the lock, or from the servers when there is no lock."""
    entries: dict[str, Any] = {}
    status = 0
    with _servers(file, env_file, trust, name) as (config, all_servers):
        for servers in all_servers:
            found = None if live else servers.locked()
            if found is None:
                found, failed = servers.entries()
                for server, reason in failed.items():
                    click.echo(terminal_text(f"{server}: {reason}"), err=True)
                    status = 1
            entries |= {server: entry for server, entry in found.items() if name in (None, server)}
    if as_json:
        print(json_text(config.masker.mask_data(entries), indent=2))
        return status
    for server, entry in entries.items():
        print(terminal_text(config.masker.mask(f"{server} ({entry.get('reached_by')})")))
        print(terminal_text("\n".join(_tool_lines(entry)) or "  no tools"))
    return status


@command.command("call", context_settings=HELP)
@_file_options
@click.argument("name", metavar="SERVER")
@click.argument("tool")
@click.argument("arguments", metavar="[KEY=VALUE]…", nargs=-1)
def call(file: str, name: str, tool: str, arguments: tuple[str, ...], env_file: str | None, trust: bool) -> int:
    """Call one tool, within the permissions and limits of the agent, and print its result."""
    from react_run.cli.interrupts import drive

    given = {key: parsed(value) for key, value in pairs(arguments)}
    config = AgentOptions(file=file, env_file=env_file, trust=trust).config()
    agent = built(config)
    toolset = toolset_of(config, name)

    async def work() -> int:
        async with agent:
            observation = await agent.call(toolset.tool_name(name, tool), given)
        print(terminal_text(config.masker.mask(observation.content)))
        return 1 if observation.failed else 0

    return drive(work())


@command.command("prompt", context_settings=HELP)
@_file_options
@click.argument("name", metavar="SERVER")
@click.argument("prompt", required=False, default="")
@click.argument("arguments", metavar="[KEY=VALUE]…", nargs=-1)
def prompt(file: str, name: str, prompt: str, arguments: tuple[str, ...], env_file: str | None, trust: bool) -> int:
    """Print a prompt of a server, ready for an agent; without PROMPT, list the prompts."""
    from react_run.outcome import ToolError

    with _servers(file, env_file, trust, name) as (config, [servers]):
        try:
            text = servers.prompt(name, prompt, dict(pairs(arguments)))
        except ToolError as error:
            raise ConfigError(str(error)) from error
    print(terminal_text(config.masker.mask(text)))
    return 0


@command.command("login", context_settings=HELP)
@_file_options
@click.argument("name", metavar="SERVER")
def login(file: str, name: str, env_file: str | None, trust: bool) -> int:
    """Log in to a remote server in the browser, and save its tokens for later runs."""
    from react_run.outcome import ToolError

    with _servers(file, env_file, trust, name) as (_, [servers]):
        try:
            servers.login(name, lambda text: click.echo(text, err=True))
        except ToolError as error:
            raise ConfigError(str(error)) from error
    click.echo(f"logged in to {name}", err=True)
    return 0


@command.command("import", context_settings=HELP)
@click.argument("path", type=click.Path())
def import_(path: str) -> int:
    """Convert the servers of Claude Desktop, Cursor or VS Code (JSON) into toolsets for an agent file.

    Secrets written there literally become ${VARIABLES}, which are listed on stderr.
    """
    from react_run.components.kinds import resolve

    toolset: Any = resolve("toolsets", "mcp")
    text, variables = toolset.imported(Path(path))
    print(terminal_text(text), end="")
    for variable in variables:
        click.echo(f"set {variable}: its value is written literally in {path}", err=True)
    return 0


@contextmanager
def _servers(
    file: str, env_file: str | None, trust: bool, name: str | None = None
) -> Iterator[tuple[ReActAgentConfig, list[Servers]]]:
    """The servers in ``file``, or the toolset of the server called ``name``."""
    config = AgentOptions(file=file, env_file=env_file, trust=trust).config()
    toolsets = [toolset_of(config, name)] if name else list(mcp_toolsets(config.toolsets))
    if not toolsets:
        raise ConfigError(f"{file} names no MCP server (kind: mcp)")
    inspections = [toolset.inspection() for toolset in toolsets]
    try:
        yield config, inspections
    finally:
        for inspection in inspections:
            inspection.end()


def _lock_of(servers: Servers) -> Entries:
    try:
        return servers.locked() or {}
    except ToolsetError as error:
        click.echo(f"{error}", err=True)
        return {}


def _tool_lines(entry: Mapping[str, Any], changed: list[str] | None = None) -> Iterator[str]:
    only = None if changed is None or any("server is new" in line for line in changed) else changed
    for tool in entry["tools"]:
        if only is None or any(line.startswith(f"{tool['name']}:") for line in only):
            first = next(iter(tool.get("description", "").strip().splitlines()), "")
            yield f"  {tool['name']}" + (f": {first[:120]}" if first else "")
