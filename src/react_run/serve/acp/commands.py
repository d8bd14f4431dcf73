"""Slash commands in an editor: the prompts of the agent's MCP servers."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp.schema import AvailableCommand, AvailableCommandInput, UnstructuredCommandInput

from react_run.errors import ReactError
from react_run.launch.mcp_servers import pairs, servers_of
from react_run.outcome import ToolError

if TYPE_CHECKING:
    from react_run.agent import ReActAgent

_COMMAND = re.compile(r"/([a-z0-9-]{1,20}):(\S*)\s*(.*)", re.DOTALL)
LONGEST_DESCRIPTION = 200


class CommandFailed(Exception):
    """A command failed; the message is for the person who typed it."""


@dataclass(frozen=True)
class Typed:
    """A command as typed; ``prompt`` is empty when only a server's name was given."""

    server: str
    prompt: str
    rest: str


class Commands:
    """The commands of one session.

    A server that is not running is not started just to list its prompts. Its bare name is a command that starts it.

    Args:
        agent: The session's agent.
        workspace: Where its servers run.
    """

    def __init__(self, agent: ReActAgent, workspace: Path) -> None:
        self._masker = agent.config.masker
        self._workspace = workspace
        self._servers = servers_of(agent.toolset.toolsets)

    def typed(self, parts: object) -> Typed | None:
        """The command in a prompt, or ``None``: other text may begin with a slash, too."""
        found = _COMMAND.fullmatch(parts) if isinstance(parts, str) else None
        return Typed(*found.groups()) if found is not None and found[1] in self._servers else None

    async def available(self) -> list[AvailableCommand]:
        """List the commands available now; servers that fail to answer are left out."""
        found: list[AvailableCommand] = []
        for name in self._servers:
            inspection = self._inspection(name)
            if not inspection.is_running(name):
                found.append(_command(f"{name}:", f"List the prompts of the MCP server {name}, which starts it"))
                continue
            try:
                prompts = await inspection.prompts(name)
            except (ToolError, ReactError):
                continue
            for prompt in prompts:
                if not re.search(r"\s", prompt.name):  # else it could not be typed
                    about = self._line(prompt.description) or f"A prompt of the MCP server {name}"
                    found.append(_command(f"{name}:{prompt.name}", about, self._line(prompt.arguments)))
        return found

    async def text_of(self, typed: Typed) -> str:
        """The text of the prompt, or the list of the server's prompts.

        Raises:
            CommandFailed: The server does not start or answer, or the arguments are malformed.
        """
        try:
            given = dict(pairs(shlex.split(typed.rest)))
            text: str = await self._inspection(typed.server).said_by(typed.server, typed.prompt, given)
        except (ToolError, ReactError, ValueError) as error:
            raise CommandFailed(self._masker.mask(str(error))) from error
        return text

    def _inspection(self, server: str) -> Any:
        return self._servers[server].inspection(self._workspace)

    def _line(self, text: str) -> str:
        line = " ".join(self._masker.mask(text).split())
        return line if len(line) <= LONGEST_DESCRIPTION else f"{line[: LONGEST_DESCRIPTION - 1]}…"


def _command(name: str, description: str, hint: str = "") -> AvailableCommand:
    given = AvailableCommandInput(root=UnstructuredCommandInput(hint=hint)) if hint else None
    return AvailableCommand(name=name, description=description, input=given)
