"""The prompts that a server offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from react_toolsets.mcp.listing import MAX_PAGES
from react_toolsets.mcp.troubles import McpTrouble

if TYPE_CHECKING:
    from mcp import Client


@dataclass(frozen=True)
class Offered:
    """A prompt of a server.

    ``arguments`` shows how to write them after the name: ``who=… [tone=…]``.
    """

    name: str
    arguments: str
    description: str

    def __str__(self) -> str:
        return f"{self.name} {self.arguments}".rstrip() + (f": {self.description}" if self.description else "")


async def prompts(client: Client) -> list[Offered]:
    """All prompts of a server."""
    if client.server_capabilities.prompts is None:
        return []
    found, cursor = [], None
    for _ in range(MAX_PAGES):
        page = await client.list_prompts(cursor=cursor)
        found += [Offered(prompt.name, _arguments(prompt), prompt.description or "") for prompt in page.prompts]
        cursor = page.next_cursor
        if not cursor:
            return found
    raise McpTrouble(f"the list of prompts has more than {MAX_PAGES} pages", code="server_protocol")


def _arguments(prompt: Any) -> str:
    return " ".join(
        f"{argument.name}=…" if argument.required else f"[{argument.name}=…]" for argument in prompt.arguments or ()
    )
