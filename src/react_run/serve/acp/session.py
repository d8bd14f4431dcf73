"""One conversation in an editor: turns stream, and can be cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acp.exceptions import RequestError
from acp.helpers import (
    start_tool_call,
    text_block,
    tool_content,
    update_agent_message_text,
    update_available_commands,
    update_tool_call,
    update_user_message_text,
)
from acp.schema import AvailableCommand, PromptResponse, StopReason, Usage

from react_run.errors import ReactError
from react_run.messages import TextDelta, TextDiscarded
from react_run.results import RunResult
from react_run.results import StopReason as Why
from react_run.run import ToolFinished, ToolStarted
from react_run.secrets.stream import StreamMasker
from react_run.serve.acp.commands import CommandFailed, Commands, Typed
from react_run.serve.acp.content import change_of, id_of, kind_of, locations_of, pictures_in, title_of
from react_run.serve.acp.editor import at_work

if TYPE_CHECKING:
    from acp.interfaces import Client

    from react_run.agent import ReActAgent
    from react_run.messages import Message
    from react_run.parts import Part

REASONS: dict[str, StopReason] = {
    Why.MAX_ITERATIONS: "max_turn_requests",
    Why.TIMEOUT: "max_turn_requests",
    Why.STUCK: "max_turn_requests",
    Why.OUTPUT_LIMIT: "max_tokens",
    Why.TOKEN_LIMIT: "max_tokens",
    Why.COST_LIMIT: "max_tokens",
    Why.REFUSED: "refusal",
    Why.CANCELLED: "cancelled",
}
"""The protocol's stop reason for each of ours; all others end the turn normally, and the answer says why."""
AGAIN = "\n\n*(the answer begins again)*\n\n"
LONGEST_RESULT = 20_000
"""The most characters of a tool result that are sent to the editor."""


class Session:
    """A conversation with an agent in one directory.

    Args:
        name: The session's id, also used in the journals of its runs.
        agent: The agent, used by this session alone.
        workspace: The directory that the editor has open.
        connection: The editor.
        takes_forms: Whether the editor can show a form.
    """

    def __init__(self, name: str, agent: ReActAgent, workspace: Path, connection: Client, *, takes_forms: bool) -> None:
        self.id, self.agent, self.workspace = name, agent, workspace
        self.connection, self.takes_forms = connection, takes_forms
        self.messages: list[Message] = []
        self._turn: asyncio.Task[RunResult | None] | None = None
        self._commands = Commands(agent, workspace)
        self._announced: list[AvailableCommand] = []
        self._announcing: asyncio.Task[None] | None = None

    async def send(self, update: Any) -> None:
        """Send an update to the editor."""
        await self.connection.session_update(session_id=self.id, update=update)

    def announce(self) -> None:
        """Schedule an update if the available commands have changed; by then the editor knows the session."""
        self._announcing = asyncio.ensure_future(self._announce(self._announcing))

    async def _announce(self, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.wait((before,))
        available = await self._commands.available()
        if available != self._announced:
            self._announced = available
            await self.send(update_available_commands(available))

    async def prompt(self, parts: Sequence[str | Part]) -> PromptResponse:
        """Run one turn.

        Raises:
            RequestError: Another turn is in flight, the prompt is empty, or the model failed.
        """
        if self._turn is not None:
            raise RequestError(-32600, "the previous turn has not ended: cancel it first")
        at_work.set(self)
        self._turn = asyncio.ensure_future(self._run_turn(parts))
        try:
            result = await self._turn
        except asyncio.CancelledError:
            if (task := asyncio.current_task()) is not None and task.cancelling():
                await self.cancel()
                raise
            return PromptResponse(stop_reason="cancelled")
        except ReactError as error:
            raise RequestError(-32603, self.agent.config.masker.mask(str(error))) from error
        finally:
            self._turn = None
            self.announce()  # the turn may have started a server
        if result is None:
            return PromptResponse(stop_reason="end_turn")
        self.messages = list(result.messages)
        return PromptResponse(stop_reason=REASONS.get(result.stop_reason, "end_turn"), usage=_usage(result))

    async def cancel(self) -> None:
        """Cancel the turn in flight, and wait until it has ended."""
        if self._turn is not None and not self._turn.done():
            self._turn.cancel()
            await asyncio.wait((self._turn,))

    async def close(self) -> None:
        """Cancel the turn in flight and close the agent."""
        await self.cancel()
        if self._announcing is not None:
            self._announcing.cancel()
            await asyncio.gather(self._announcing, return_exceptions=True)
        await self.agent.__aexit__()

    async def _run_turn(self, parts: Sequence[str | Part]) -> RunResult | None:
        """Run one turn; ``None`` when a command was answered without the model."""
        texts = [part for part in parts if isinstance(part, str)]
        prompt: Any = "\n\n".join(texts) if len(texts) == len(parts) else list(parts)
        if (typed := self._commands.typed(prompt)) is not None:
            prompt = await self._prompt_text(typed)
            if not prompt:
                return None
        said = _SentText(self)
        async for event in self.agent.stream(prompt, self.messages, workspace=self.workspace):
            if isinstance(event, RunResult):
                await said.ended(event)
                return event
            async for update in self._updates(event, said):
                await self.send(update)
        raise AssertionError("a stream ends with its result")

    async def _prompt_text(self, typed: Typed) -> str:
        """The text of a server's prompt, shown as the user's message; empty when there is nothing to ask the model."""
        masker = self.agent.config.masker
        try:
            text = await self._commands.text_of(typed)
        except CommandFailed as error:
            await self.send(update_agent_message_text(str(error)))
            return ""
        if not typed.prompt or not text.strip():
            await self.send(update_agent_message_text(masker.mask(text) or "(This prompt is empty.)"))
            return ""
        await self.send(update_user_message_text(masker.mask(text)))
        return text

    async def _updates(self, event: Any, said: _SentText) -> AsyncIterator[Any]:
        masker = self.agent.config.masker
        if isinstance(event, TextDelta):
            await said.add(event.text)
        elif isinstance(event, TextDiscarded):
            await said.discarded()
        elif isinstance(event, ToolStarted):
            await said.paused()
            call = event.call
            yield start_tool_call(
                id_of(call),
                masker.mask(title_of(call.name, call.arguments)),
                kind=kind_of(call.tool, call.name),
                status="in_progress",
                content=change_of(call.name, call.arguments, self.workspace, masker),
                locations=locations_of(call.arguments, self.workspace),
                raw_input=masker.mask_data(dict(call.arguments)),
            )
        elif isinstance(event, ToolFinished):
            text = masker.mask(event.observation.content)
            shown = (
                text if len(text) <= LONGEST_RESULT else f"{text[:LONGEST_RESULT]}\n[{len(text):,} characters in all]"
            )
            failed = event.observation.failed
            keeps_change = kind_of(event.call.tool, event.call.name) == "edit" and not failed
            content = [tool_content(text_block(shown)), *pictures_in(event.observation.parts)]
            yield update_tool_call(
                id_of(event.call),
                title=masker.mask(title_of(event.call.name, event.call.arguments)),
                status="failed" if failed else "completed",
                content=None if keeps_change else content,
            )


class _SentText:
    """Keeps track of how much of the answer has been sent to the editor."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._masked = StreamMasker(session.agent.config.masker)
        self._text = self._sent = ""

    async def add(self, text: str) -> None:
        self._text += text
        await self._send(self._masked.add(text))

    async def paused(self) -> None:
        """Send what was held back, because a tool call follows; the text after it starts afresh."""
        await self._send(self._masked.rest())
        self._text = self._sent = ""

    async def discarded(self) -> None:
        """Tell the editor that the answer starts over; text that was sent cannot be taken back."""
        self._masked.rest()
        if self._sent.strip():
            await self._send(AGAIN)
        self._text = self._sent = ""

    async def ended(self, result: RunResult) -> None:
        """Send the final answer, unless it was streamed already."""
        await self._send(self._masked.rest())
        if result.answer.strip() and self._text.strip() != result.answer.strip():
            gap = "\n\n" if self._sent.strip() else ""
            await self._send(gap + self._session.agent.config.masker.mask(result.answer))

    async def _send(self, text: str) -> None:
        if text:
            self._sent += text
            await self._session.send(update_agent_message_text(text))


def _usage(result: RunResult) -> Usage | None:
    usage = result.usage
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    return Usage(
        total_tokens=usage.input_tokens + usage.output_tokens,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cached_read_tokens=usage.cached_tokens,
        thought_tokens=usage.reasoning_tokens,
    )
