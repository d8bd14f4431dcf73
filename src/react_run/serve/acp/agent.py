"""The agent that an editor talks to: sessions, turns, and earlier sessions from the journals."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from acp.exceptions import RequestError
from acp.schema import (
    AgentCapabilities,
    ClientCapabilities,
    CloseSessionResponse,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    McpCapabilities,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionInfo,
    SessionListCapabilities,
    SessionResumeCapabilities,
)

from react_run import __version__
from react_run.errors import JournalError, ReactError
from react_run.journal.locate import run_files
from react_run.journal.reading import read_journal
from react_run.journal.result import result_of
from react_run.journal.summaries import Summary, summaries
from react_run.serve.acp.content import prompt_of, replayed_updates
from react_run.serve.acp.servers import toolsets_of
from react_run.serve.acp.session import Session

if TYPE_CHECKING:
    from acp.interfaces import Client

    from react_run.agent import ReActAgent
    from react_run.messages import Message

PREFIX = "acp-"
"""Prefix of the names that these sessions have in journals."""
PROTOCOL = 1
NOT_FOUND = -32002
"""The protocol's code for an unknown session: editors then begin a new one."""
LISTED = 50
"""Sessions on one page of a list."""
LONGEST_TITLE = 80


@dataclass(frozen=True, kw_only=True)
class Offered:
    """What is served to an editor.

    Args:
        name: The agent's name.
        file: The agent file, by which its sessions are found.
        build: Builds the agent of one session from its name in the journal and the toolsets that the editor brings.
        runs: The directory of the journals; ``None`` when runs are not recorded.
        takes_servers: Whether to start MCP servers that the editor names.
    """

    name: str
    file: Path
    build: Callable[[str, list[dict[str, Any]]], ReActAgent]
    runs: Path | None
    takes_servers: bool = False


class EditorAgent:
    """The agent's side of the protocol.

    Args:
        offered: The agent to serve.
    """

    def __init__(self, offered: Offered) -> None:
        self.offered = offered
        self.sessions: dict[str, Session] = {}
        self._connection: Client | None = None
        self._takes_forms = False

    def on_connect(self, connection: Client) -> None:
        """Keep the connection to the editor."""
        self._connection = connection

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: ClientCapabilities | None = None,
        client_info: Implementation | None = None,
        **_: Any,
    ) -> InitializeResponse:
        """Tell the editor what this agent supports."""
        forms = getattr(client_capabilities, "elicitation", None)
        self._takes_forms = getattr(forms, "form", None) is not None
        keeps = self.offered.runs is not None
        takes = self.offered.takes_servers
        return InitializeResponse(
            protocol_version=PROTOCOL,
            agent_info=Implementation(name="react-run", title=self.offered.name, version=__version__),
            agent_capabilities=AgentCapabilities(
                load_session=keeps,
                prompt_capabilities=PromptCapabilities(image=True, audio=False, embedded_context=True),
                mcp_capabilities=McpCapabilities(http=takes, sse=takes),
                session_capabilities=SessionCapabilities(
                    list=SessionListCapabilities() if keeps else None,
                    resume=SessionResumeCapabilities() if keeps else None,
                    close=SessionCloseCapabilities(),
                ),
            ),
            auth_methods=[],
        )

    async def new_session(self, cwd: str, mcp_servers: list[Any] | None = None, **_: Any) -> NewSessionResponse:
        """Begin a conversation in a directory."""
        session = await self._session(uuid4().hex, cwd, mcp_servers)
        return NewSessionResponse(session_id=session.id)

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: list[Any] | None = None, **_: Any
    ) -> LoadSessionResponse:
        """Continue a conversation, and send its earlier turns to the editor again."""
        session = await self._earlier(cwd, session_id, mcp_servers)
        tools = {tool.name: tool for tool in session.agent.tools}
        for update in replayed_updates(session.messages, tools, session.agent.config.masker):
            await session.send(update)
        return LoadSessionResponse()

    async def resume_session(
        self, session_id: str, cwd: str, mcp_servers: list[Any] | None = None, **_: Any
    ) -> ResumeSessionResponse:
        """Continue a conversation that the editor still shows."""
        await self._earlier(cwd, session_id, mcp_servers)
        return ResumeSessionResponse()

    async def list_sessions(self, cwd: str | None = None, cursor: str | None = None, **_: Any) -> ListSessionsResponse:
        """List the conversations found in the journals, latest first."""
        start = int(cursor) if cursor and cursor.isdigit() else 0
        found = await asyncio.to_thread(lambda: list(self._kept(cwd)))
        page = found[start : start + LISTED]
        more = str(start + LISTED) if len(found) > start + LISTED else None
        return ListSessionsResponse(sessions=page, next_cursor=more)

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        """Take a turn."""
        return await self._open_session(session_id).prompt(prompt_of(prompt))

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Cancel the turn that is in flight."""
        if session_id in self.sessions:
            await self.sessions[session_id].cancel()

    async def close_session(self, session_id: str, **_: Any) -> CloseSessionResponse:
        """End a conversation; the journal keeps it."""
        await self._open_session(session_id).close()
        self.sessions.pop(session_id, None)
        return CloseSessionResponse()

    async def close(self) -> None:
        """End all conversations, because the editor has disconnected."""
        await asyncio.gather(*(session.close() for session in self.sessions.values()), return_exceptions=True)

    def _open_session(self, session_id: str) -> Session:
        if session_id not in self.sessions:
            raise RequestError(NOT_FOUND, f"there is no session {session_id!r}")
        return self.sessions[session_id]

    async def _session(self, session_id: str, cwd: str, servers: list[Any] | None) -> Session:
        workspace = Path(cwd)
        if not workspace.is_absolute() or not await asyncio.to_thread(workspace.is_dir):
            raise RequestError(-32602, f"cwd {cwd!r} is not a directory: give its full path")
        if servers and not self.offered.takes_servers:
            raise RequestError(
                -32602, "this agent does not start the editor's servers: run it with --editor-servers to allow that"
            )
        assert self._connection is not None  # the editor that connected asks for this session
        try:
            agent = await asyncio.to_thread(self.offered.build, PREFIX + session_id, toolsets_of(servers or ()))
            agent.workspace = workspace
            session = Session(session_id, agent, workspace, self._connection, takes_forms=self._takes_forms)
        except ReactError as error:
            raise RequestError(-32603, str(error)) from error
        self.sessions[session_id] = session
        session.announce()
        return session

    async def _earlier(self, cwd: str, session_id: str, servers: list[Any] | None) -> Session:
        if session_id in self.sessions:
            return self.sessions[session_id]
        messages = await asyncio.to_thread(self._messages, session_id)
        if messages is None:
            raise RequestError(NOT_FOUND, f"the journal has no session {session_id!r} of {self.offered.name}")
        session = await self._session(session_id, cwd, servers)
        session.messages = messages
        return session

    def _runs(self) -> Iterator[Summary]:
        """The runs of this agent's sessions, latest first."""
        if self.offered.runs is None:
            return
        file = str(self.offered.file.absolute())
        for summary in summaries(run_files(self.offered.runs)):
            session = summary.header.get("session")
            if isinstance(session, str) and session.startswith(PREFIX) and summary.header["agent"]["file"] == file:
                yield summary

    def _kept(self, cwd: str | None) -> Iterator[SessionInfo]:
        seen: set[str] = set()
        for summary in self._runs():
            header = summary.header
            session_id = header["session"].removeprefix(PREFIX)
            if session_id in seen or (cwd is not None and header["workspace"] != cwd):
                continue
            seen.add(session_id)
            yield SessionInfo(
                session_id=session_id,
                cwd=header["workspace"],
                title=_title(header),
                updated_at=datetime.fromtimestamp(summary.last["time"], UTC).isoformat(timespec="seconds"),
            )

    def _messages(self, session_id: str) -> list[Message] | None:
        """The conversation after the last turn that finished; ``None`` when there is no such session."""
        begun = False
        for summary in self._runs():
            if summary.header["session"] != PREFIX + session_id:
                continue
            begun = True
            try:
                return list(result_of(read_journal(summary.path)).messages)
            except JournalError:  # cancelled, or damaged: use the turn before it
                continue
        return [] if begun else None


def _title(header: dict[str, Any]) -> str:
    """The first thing the user said, on one line."""
    said = (message.get("content") for message in header["incoming"] if message.get("role") == "user")
    first = next((text for text in said if isinstance(text, str)), header["prompt"])
    line = " ".join(str(first).split()) or "(no text)"
    return line if len(line) <= LONGEST_TITLE else f"{line[: LONGEST_TITLE - 1]}…"
