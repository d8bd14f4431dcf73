"""What a server answers, as text for a model."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from mimetypes import guess_extension
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp_types import CallToolResult, ContentBlock, GetPromptResult, ReadResourceResult

Save = Callable[[bytes, str], str]
"""Keeps bytes in a file with the given ending; says where it is."""
EMPTY = "(The tool answered with nothing.)"


def told(result: CallToolResult, save: Save) -> str:
    """The text of a result.

    Args:
        result: What the server sent.
        save: Keeps images, sounds and other data, which a model cannot read as text.
    """
    text = "\n".join(filter(None, _told(result.content, save)))
    if not text and result.structured_content is not None:  # both say the same, so one is enough
        return json.dumps(result.structured_content, ensure_ascii=False)
    return text or EMPTY


def _told(blocks: Sequence[ContentBlock], save: Save) -> Iterator[str]:
    for block in blocks:
        audience = block.annotations.audience if block.annotations else None
        if audience == ["user"]:
            yield f"[{_kind(block)} meant for the user only: left out]"
        else:
            yield _block(block, save)


def _block(block: ContentBlock, save: Save) -> str:
    if block.type == "text":
        return block.text
    if block.type == "image" or block.type == "audio":
        return _data(block.type, block.data, block.mime_type, save)
    if block.type == "resource_link":
        return f"[{' '.join(filter(None, ('resource', block.uri, block.name, block.mime_type)))}]"
    resource = block.resource
    if hasattr(resource, "text"):
        return resource.text
    return _data(f"resource {resource.uri}", resource.blob, resource.mime_type or "", save)


def _data(what: str, encoded: str, mime_type: str, save: Save) -> str:
    try:
        data = b64decode(encoded, validate=True)
    except ValueError:
        return f"[{what} {mime_type}, but its data cannot be decoded]"
    where = save(data, guess_extension(mime_type.partition(";")[0].strip()) or ".bin")
    return f"[{what} {mime_type}, {len(data):,} bytes, saved as {where}]"


def _kind(block: ContentBlock) -> str:
    return " ".join(filter(None, (block.type, getattr(block, "mime_type", None))))


def resource_text(result: ReadResourceResult, save: Save) -> str:
    """The text of a resource."""
    parts = [
        part.text if hasattr(part, "text") else _data(f"resource {part.uri}", part.blob, part.mime_type or "", save)
        for part in result.contents
    ]
    return "\n".join(parts) or "(The resource is empty.)"


def prompt_text(result: GetPromptResult, save: Save) -> str:
    """The text of a prompt, all its messages behind each other."""
    return "\n\n".join(_block(message.content, save) for message in result.messages)


def fenced(text: str, server: str) -> str:
    """``text`` between two marks that it cannot contain: what others wrote on the internet is data."""
    mark = sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
    return f"<<<mcp-content {server} {mark}\n{text}\nmcp-content {server} {mark}>>>"
