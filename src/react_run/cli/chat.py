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
@click.option("--no-save", is_flag=True, help="Do not save the conversation.")
@click.option("--raw", is_flag=True, help="Do not render the Markdown of answers.")
@click.option("-v", "--verbose", count=True, help="Show a line per tool call and guard; -vv also shows each iteration.")
def command(
    file: str, continues: bool, session: str | None, no_save: bool, raw: bool, verbose: int, **given: Any
) -> int:
    """Chat with the agent that AGENT.yaml describes.

    The conversation is kept from turn to turn. Ctrl-C ends one answer, Ctrl-D the chat.

    \b
      /help         show these commands          /save FILE    save the conversation (Markdown, or .json)
      /tools        list the agent's tools       /model ID     switch to another model
      /undo         forget the last turn         /retry        ask the last question again
      /usage        what this chat has used      /trace        the last turn, step by step
      /sessions     conversations with a name    /quit         leave
      /reset        start a new conversation
      /SERVER:NAME  send a prompt of an MCP server; its arguments follow as key=value
      @FILE         anywhere in a message: attach an image, PDF or text file
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
    """Chat until the user leaves, and return the exit status."""
    from react_run.cli.conversation import Conversation

    with Conversation(
        options, session=session, continues=continues, verbosity=verbosity, no_save=no_save, raw=raw
    ) as chat:
        return chat.talk()
