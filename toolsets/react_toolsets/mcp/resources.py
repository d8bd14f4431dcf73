"""Listing and reading a server's resources (``resources: true``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from react_toolsets.mcp.listing import MAX_PAGES
from react_toolsets.mcp.troubles import McpTrouble

if TYPE_CHECKING:
    from mcp import Client

LIST: dict[str, Any] = {
    "name": "list_resources",
    "description": "List the resources of the server {name}, with their URIs, names and types.",
    "parameters": {"type": "object", "properties": {}, "additionalProperties": False},
}
READ: dict[str, Any] = {
    "name": "read_resource",
    "description": "Read a resource of the server {name}.",
    "parameters": {
        "type": "object",
        "properties": {"uri": {"type": "string", "description": "Its URI, as list_resources gives it."}},
        "required": ["uri"],
        "additionalProperties": False,
    },
}


async def resources(client: Client) -> str:
    """The resources and resource templates as text, one per line."""
    if client.server_capabilities.resources is None:
        return "The server has no resources."
    lines, cursor = [], None
    for _ in range(MAX_PAGES):
        page = await client.list_resources(cursor=cursor)
        lines += [_line(item.uri, item.name, item.mime_type, item.description) for item in page.resources]
        cursor = page.next_cursor
        if not cursor:
            break
    else:
        raise McpTrouble(f"the list of resources has more than {MAX_PAGES} pages", code="server_protocol")
    templates = (await client.list_resource_templates()).resource_templates
    lines += [_line(item.uri_template, item.name, item.mime_type, item.description) for item in templates]
    return "\n".join(lines) or "The server has no resources."


def _line(uri: object, name: str, mime_type: str | None, description: str | None) -> str:
    about = f": {' '.join(description.split())[:200]}" if description else ""
    return f"{uri} ({', '.join(filter(None, (name, mime_type)))}){about}"
