"""What a server offers: its tools as data, however we came to know them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from react_toolsets.mcp.troubles import McpTrouble

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import Tool

MAX_PAGES = 100
"""Pages of a list that are read; a server that goes on after that never ends."""


@dataclass(frozen=True, kw_only=True)
class Listed:
    """One tool as its server describes it.

    Args:
        unusable: Why no model can be offered it, as was found when it was locked; it is not what the server says.
    """

    name: str
    title: str = ""
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=dict)
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)
    unusable: str = ""

    @cached_property
    def digest(self) -> str:
        """SHA-256 over all of it, the order of keys aside: what a lock holds a server to."""
        text = json.dumps(self.to_data(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def to_data(self) -> dict[str, Any]:
        """As it stands in a lock; what is empty is left out."""
        data = {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": dict(self.input_schema),
            "outputSchema": self.output_schema,
            "annotations": dict(self.annotations),
        }
        return {key: value for key, value in data.items() if value or key in ("name", "inputSchema")}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Listed:
        """The tool that stands in a lock."""
        return cls(
            name=data["name"],
            title=data.get("title", ""),
            description=data.get("description", ""),
            input_schema=data["inputSchema"],
            output_schema=data.get("outputSchema"),
            annotations=data.get("annotations", {}),
            unusable=data.get("unusable", ""),
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """The schema of its arguments: some servers leave out that it is an object, which is understood."""
        return {"type": "object", **self.input_schema}

    @classmethod
    def from_tool(cls, tool: Tool) -> Listed:
        """The tool that a server sent."""
        hints = tool.annotations.model_dump(by_alias=True, exclude_none=True) if tool.annotations else {}
        return cls(
            name=tool.name,
            title=tool.title or "",
            description=tool.description or "",
            input_schema=tool.input_schema,
            output_schema=tool.output_schema,
            annotations=hints,
        )


@dataclass(frozen=True, kw_only=True)
class Listing:
    """All that is known of a server without asking it again."""

    server: str = ""
    version: str = ""
    protocol: str = ""
    instructions: str = ""
    tools: tuple[Listed, ...] = ()

    @cached_property
    def by_name(self) -> Mapping[str, Listed]:
        """The tools by the names that the server gave them."""
        return {tool.name: tool for tool in self.tools}


async def live_listing(client: Client) -> Listing:
    """Ask a connected server for everything.

    Raises:
        McpTrouble: Its list never ends (``server_protocol``).
    """
    info = client.server_info
    return Listing(
        server=info.name if info else "",
        version=info.version if info else "",
        protocol=client.protocol_version,
        instructions=client.instructions or "",
        tools=tuple(await _tools(client)) if client.server_capabilities.tools is not None else (),
    )


async def _tools(client: Client) -> list[Listed]:
    tools: dict[str, Listed] = {}
    cursor, seen = None, set[str]()
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            tools.setdefault(tool.name, Listed.from_tool(tool))
        cursor = page.next_cursor
        if not cursor:
            return list(tools.values())
        if cursor in seen:
            raise McpTrouble("its list of tools goes round in circles", code="server_protocol")
        seen.add(cursor)
    raise McpTrouble(f"its list of tools has more than {MAX_PAGES} pages", code="server_protocol")
