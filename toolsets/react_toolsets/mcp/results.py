"""Converts a server's results for the model: text, images and PDFs."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from mimetypes import guess_extension
from typing import TYPE_CHECKING, Any

from react_run import attachment

if TYPE_CHECKING:
    from mcp_types import CallToolResult, ContentBlock, GetPromptResult, ReadResourceResult

Save = Callable[[bytes, str], str]
"""Saves bytes in a file with the given suffix, and returns its path."""
EMPTY = "(The tool answered with nothing.)"


@dataclass
class Told:
    """A result as the model gets it.

    Args:
        save: Saves images, audio and other data; the text names the path.
    """

    save: Save
    text: str = ""
    parts: list[Any] = field(default_factory=list)
    """Images and PDFs, for models that read them."""

    @classmethod
    def of_result(cls, result: CallToolResult, save: Save) -> Told:
        """The result of a tool."""
        told = cls(save)
        told.text = "\n".join(filter(None, map(told._part_for_model, result.content)))
        if not told.text and result.structured_content is not None:  # both have the same content
            told.text = json.dumps(result.structured_content, ensure_ascii=False)
        told.text = told.text or EMPTY
        return told

    @classmethod
    def of_resource(cls, result: ReadResourceResult, save: Save) -> Told:
        """The content of a resource."""
        told = cls(save)
        texts = [
            part.text if hasattr(part, "text") else told._data(f"resource {part.uri}", part.blob, part.mime_type or "")
            for part in result.contents
        ]
        told.text = "\n".join(texts) or "(The resource is empty.)"
        return told

    @classmethod
    def of_prompt(cls, result: GetPromptResult, save: Save) -> Told:
        """The messages of a prompt, joined."""
        told = cls(save)
        told.text = "\n\n".join(told._block(message.content) for message in result.messages)
        return told

    def _part_for_model(self, block: ContentBlock) -> str:
        audience = block.annotations.audience if block.annotations else None
        if audience == ["user"]:
            return f"[{_kind(block)} meant for the user only: left out]"
        return self._block(block)

    def _block(self, block: ContentBlock) -> str:
        if block.type == "text":
            return block.text
        if block.type == "image" or block.type == "audio":
            return self._data(block.type, block.data, block.mime_type)
        if block.type == "resource_link":
            return f"[{' '.join(filter(None, ('resource', block.uri, block.name, block.mime_type)))}]"
        resource = block.resource
        if hasattr(resource, "text"):
            return resource.text
        return self._data(f"resource {resource.uri}", resource.blob, resource.mime_type or "")

    def _data(self, what: str, encoded: str, mime_type: str) -> str:
        try:
            data = b64decode(encoded, validate=True)
        except ValueError:
            return f"[{what} {mime_type}, but its data cannot be decoded]"
        where = self.save(data, guess_extension(mime_type.partition(";")[0].strip()) or ".bin")
        with suppress(ValueError):  # models do not read audio and other image types
            part = attachment(data, media_type=mime_type)
            if not part.media_type.startswith("text/"):
                self.parts.append(part.saved(where))
        return f"[{what} {mime_type}, {len(data):,} bytes, saved as {where}]"


def _kind(block: ContentBlock) -> str:
    return " ".join(filter(None, (block.type, getattr(block, "mime_type", None))))


def fenced(text: str, server: str) -> str:
    """``text`` between two marks that it cannot contain, because text by third parties is data."""
    mark = sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
    return f"<<<mcp-content {server} {mark}\n{text}\nmcp-content {server} {mark}>>>"
