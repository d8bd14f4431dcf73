"""``react-run chat FILE``: a conversation in the terminal."""

from __future__ import annotations

from typing import Any

import click

from react_run.cli.options import agent_options, session_options
from react_run.launch.options import AgentOptions


@click.command("chat", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file", metavar="AGENT.yaml", type=click.Path())
@agent_options
@session_options
@click.option("--no-save", is_flag=True, help="Do not keep the conversation.")
@click.option("--raw", is_flag=True, help="Show answers as they are, their Markdown not rendered.")
@click.option("-v", "--verbose", count=True, help="A line per tool call and guard; -vv also steps.")
def command(
    file: str, continues: bool, session: str | None, no_save: bool, raw: bool, verbose: int, **given: Any
) -> int:
    """Talk with the agent that AGENT.yaml describes.

    The conversation is kept from turn to turn. Ctrl-C ends one answer, Ctrl-D the chat.

    \b
      /help         what there is to type        /save FILE    write the conversation (Markdown, or .json)
      /tools        the agent's tools            /model ID     go on with another model
      /reset        forget the conversation      /quit         leave
      /SERVER:NAME  ask what a prompt of an MCP server says, with key=value behind it
      @FILE         in a line: send an image, PDF or text file along
    """
    options = AgentOptions(file=file, **given)
    return talk(options, session=session, continues=continues, verbosity=verbose, no_save=no_save, raw=raw)


def talk(
    options: AgentOptions,
    *,
    session: str | None,
    continues: bool,
    verbosity: int,
    no_save: bool = False,
    raw: bool = False,
) -> int:
    """Talk until the user leaves; the exit status."""
    from react_run.cli.conversation import Conversation

    with Conversation(
        options, session=session, continues=continues, verbosity=verbosity, no_save=no_save, raw=raw
    ) as chat:
        return chat.talk()
