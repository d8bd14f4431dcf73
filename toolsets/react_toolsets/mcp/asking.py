"""Turns a server's question to the user into a question of the run that called the server."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from react_run import Answer, Question, ToolCall

if TYPE_CHECKING:
    from contextvars import Context

    from mcp_types import ElicitRequestParams, ElicitResult

_SECRET = re.compile(r"passw|passphrase|secret|token|api.?key|credential|private.?key|\bpin\b|cvv", re.IGNORECASE)
DONE, DECLINED = "done", "no"


@dataclass(frozen=True)
class Asker:
    """Asks the user on behalf of one call; created on the run's event loop, used on the host's thread."""

    call: ToolCall
    server: str
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    context: Context = field(default_factory=copy_context)

    async def __call__(self, params: ElicitRequestParams) -> ElicitResult:
        """The user's answer; declined if there is no user, or if the form asks for secrets."""
        from mcp_types import ElicitResult

        if params.mode == "url":
            said = await self._ask(self._page(params.url, params.message))
            return ElicitResult(action="accept" if said is not None and said.value == DONE else "decline")
        schema = params.requested_schema
        if secret := next((name for name, part in _fields(schema) if _SECRET.search(f"{name} {part}")), ""):
            text = f"the MCP server {self.server} asked for {secret}, which looks like a secret: it was refused"
            self.call.run.note("mcp_secret_refused", text)
            return ElicitResult(action="decline")
        said = await self._ask(Question(f"The MCP server {self.server} asks: {params.message}", schema=schema))
        if said is None or not isinstance(said.value, Mapping):
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content={**_defaults(schema), **said.value})

    def _page(self, url: str, message: str) -> Question:
        text = f"The MCP server {self.server} asks you to visit {url}\n{message}\nHave you done so?"
        return Question(text, choices=(DONE, DECLINED), default=DECLINED)

    async def _ask(self, question: Question) -> Answer | None:
        asking = self.context.copy().run(asyncio.run_coroutine_threadsafe, self.call.run.ask(question), self.loop)
        return await asyncio.wrap_future(asking)


def _fields(schema: Mapping[str, Any]) -> list[tuple[str, str]]:
    parts = schema.get("properties", {})
    return [(name, f"{part.get('title', '')} {part.get('description', '')}") for name, part in parts.items()]


def _defaults(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part["default"] for name, part in schema.get("properties", {}).items() if "default" in part}
