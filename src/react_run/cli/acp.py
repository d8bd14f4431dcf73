"""``react-run acp FILE``: an agent in an editor that speaks the Agent Client Protocol."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from react_run.cli.options import agent_options
from react_run.errors import ConfigError
from react_run.launch.options import AgentOptions, built

if TYPE_CHECKING:
    from react_run.agent import ReActAgent


@click.command("acp", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file", metavar="AGENT.yaml", type=click.Path())
@agent_options
@click.option("--editor-servers", is_flag=True, help="Start the MCP servers that the editor names, for its sessions.")
@click.option("--no-save", is_flag=True, help="Save no journal, so that sessions cannot be continued.")
def command(file: str, editor_servers: bool, no_save: bool, **given: Any) -> int:
    """Serve an agent to an editor on standard input and output (Agent Client Protocol).

    Editors start this command; docs/acp.md says how to configure them. Answers stream, tool calls show what they
    change, and approvals are asked for in the editor.
    """
    if find_spec("acp") is None:
        raise ConfigError("the Agent Client Protocol's SDK is not installed: pip install 'react-run[acp]'")
    from react_run.cli.exit import complain, logs_to, warnings_to
    from react_run.cli.interrupts import drive
    from react_run.journal.locate import make_runs_directory, runs_directory
    from react_run.serve.acp.agent import Offered
    from react_run.serve.acp.serving import serve_editor

    options = AgentOptions(file=file, **given)
    config = options.config()  # report mistakes in the file before the editor starts waiting
    runs = None if no_save else config.trace or runs_directory()
    if runs is not None and not runs.suffix:
        make_runs_directory(runs)

    def build(session: str, toolsets: list[dict[str, Any]]) -> ReActAgent:
        return _agent_of(options, session, toolsets, runs)

    offered = Offered(
        name=config.name or Path(file).stem,
        file=Path(file),
        build=build,
        runs=runs if runs is not None and runs.is_dir() else None,
        takes_servers=editor_servers,
    )
    with logs_to(complain), warnings_to(complain):
        drive(serve_editor(offered))
    return 0


def _agent_of(options: AgentOptions, session: str, toolsets: list[dict[str, Any]], runs: Path | None) -> ReActAgent:
    """Build a separate agent for one session, with a journal that names the session."""
    from react_run.agent import ReActAgent
    from react_run.journal.recorder import Recorder
    from react_run.serve.acp.editor import Editor

    journal = () if runs is None else Recorder(path=runs, session=session, options=options.to_record())
    plugins = [Editor(), *options.extra_plugins()]
    if not toolsets:
        return built(options.config(), plugins, journal)
    return ReActAgent(options.config(), plugins=plugins, toolsets=toolsets, journal=journal)
