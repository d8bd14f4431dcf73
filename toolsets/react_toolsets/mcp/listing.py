"""The tools that a server offers, as data, whether they come from the server or from a lock."""

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
"""The most pages of a list that are read, in case a server never ends the list."""


@dataclass(frozen=True, kw_only=True)
class Listed:
    """A tool as its server describes it.

    Args:
        unusable: Why the tool cannot be offered to a model, as found by ``lock``; not part of the server's description.
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
        """SHA-256 of the description, independent of the order of keys; the lock compares it."""
        text = json.dumps(self.to_data(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    def to_data(self) -> dict[str, Any]:
        """The tool as data for a lock, without empty fields."""
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
        """The tool from the data in a lock."""
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
        """The schema of the arguments, with the type that some servers leave out."""
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
    """What is known about a server without asking it again."""

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
    """Ask a connected server for its name, instructions and tools.

    Raises:
        McpTrouble: Its list of tools does not end (``server_protocol``).
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
            raise McpTrouble("its list of tools is circular", code="server_protocol")
        seen.add(cursor)
    raise McpTrouble(f"its list of tools has more than {MAX_PAGES} pages", code="server_protocol")
