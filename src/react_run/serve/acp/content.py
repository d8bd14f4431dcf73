"""Translates between the protocol and the runtime: prompts, tool calls, and earlier turns."""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from acp import RequestError
from acp.helpers import (
    image_block,
    start_tool_call,
    text_block,
    tool_content,
    tool_diff_content,
    update_agent_message_text,
    update_user_message_text,
)
from acp.schema import (
    BlobResourceContents,
    ContentToolCallContent,
    EmbeddedResourceContentBlock,
    FileEditToolCallContent,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    ToolCallLocation,
    ToolKind,
)

from react_run.parts import ImagePart, Part, attachment
from react_run.support.files import Folder

if TYPE_CHECKING:
    from react_run.messages import Message
    from react_run.run import ToolCall
    from react_run.secrets import Masker
    from react_run.tools.tool import Tool

LONGEST_TITLE = 100
LARGEST_DIFF = 256 * 1024
"""The largest file, in bytes, that a diff is shown for."""


def prompt_of(blocks: Iterable[object]) -> list[str | Part]:
    """Convert what a person typed and attached in an editor into parts of a prompt.

    Raises:
        RequestError: A block cannot be read.
    """
    return [part for block in blocks for part in _parts(block)]


def _parts(block: object) -> Iterator[str | Part]:
    if isinstance(block, TextContentBlock):
        yield block.text
    elif isinstance(block, ImageContentBlock):
        yield _attached(block.data, _file_name(block.uri or ""), image=True)
    elif isinstance(block, ResourceContentBlock):
        yield f"[{block.name}]({_path_or(block.uri)})"
    elif isinstance(block, EmbeddedResourceContentBlock):
        found = block.resource
        if isinstance(found, BlobResourceContents):
            yield _attached(found.blob, _file_name(found.uri))
        else:
            yield attachment(found.text.encode("utf-8", "replace"), _path_or(found.uri), "text/plain")
    else:
        raise RequestError.invalid_params({"message": f"this agent does not take {getattr(block, 'type', block)!r}"})


def _attached(data: str, name: str, *, image: bool = False) -> Part:
    try:
        content = b64decode(data, validate=True)
        return ImagePart(content, name=name) if image else attachment(content, name)
    except (ValueError, binascii.Error) as error:
        raise RequestError.invalid_params({"message": str(error)}) from error


def _path_or(uri: str) -> str:
    """The path of a ``file:`` address; any other address unchanged."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else uri


def _file_name(uri: str) -> str:
    return Path(_path_or(uri)).name


def id_of(call: ToolCall) -> str:
    """An id for a call that is unique in the session; providers reuse theirs in every turn."""
    return f"{call.run.id[:8]}-{call.request.id}"


def kind_of(tool: Tool | None, name: str) -> ToolKind:
    """The kind of a call, which decides the icon that the editor shows."""
    if tool is None:
        return "other"
    if tool.runs_programs:
        return "execute"
    if tool.read_only is not True:
        return "edit" if _edits(name) else "other"
    if tool.network:
        return "fetch"
    if tool.bookkeeping:
        return "think"
    return "search" if name.startswith(("find_", "search_", "list_")) else "read"


def _edits(name: str) -> bool:
    return name.endswith(("write_file", "edit_file"))


def title_of(name: str, arguments: Mapping[str, object]) -> str:
    """One line about a call: the tool's name and its first argument that is a text."""
    said = next((value for value in arguments.values() if isinstance(value, str) and value.strip()), "")
    line = " ".join(f"{name} {said}".split())
    return line if len(line) <= LONGEST_TITLE else f"{line[: LONGEST_TITLE - 1]}…"


def locations_of(arguments: Mapping[str, object], workspace: Path) -> list[ToolCallLocation] | None:
    """The file that a call is about, for an editor that follows along."""
    path = arguments.get("path")
    if not isinstance(path, str) or not path.strip() or "\0" in path:
        return None
    return [ToolCallLocation(path=str(workspace / path))]


def change_of(
    name: str, arguments: Mapping[str, object], workspace: Path, masker: Masker
) -> list[FileEditToolCallContent] | None:
    """The diff of a call that would change a file, before it runs; ``None`` if it cannot be computed."""
    path, content, old, new = (arguments.get(key) for key in ("path", "content", "old_text", "new_text"))
    if not isinstance(path, str) or not _edits(name):
        return None
    whole = str(workspace / path)
    if isinstance(content, str):
        before = _text_at(workspace, path)
        return [tool_diff_content(whole, masker.mask(content), None if before is None else masker.mask(before))]
    if isinstance(old, str) and isinstance(new, str):
        return [tool_diff_content(whole, masker.mask(new), masker.mask(old))]
    return None


def pictures_in(parts: Iterable[Part]) -> Iterator[ContentToolCallContent]:
    """The images of a result, for an editor to show."""
    for part in parts:
        if isinstance(part, ImagePart):
            yield tool_content(image_block(b64encode(part.data).decode(), part.media_type))


def _text_at(workspace: Path, path: str) -> str | None:
    try:
        return Folder(workspace).read(path, LARGEST_DIFF).decode("utf-8")
    except Exception:  # missing, too large, or outside the workspace
        return None


def replayed_updates(messages: Sequence[Message], tools: Mapping[str, Tool], masker: Masker) -> Iterator[Any]:
    """The earlier turns of a conversation, as the updates that the editor received when they happened."""
    results = {message.tool_request_id: message.text for message in messages if message.role == "tool"}
    for number, message in enumerate(messages):
        if message.role == "user" and message.text.strip():
            yield update_user_message_text(masker.mask(message.text))
        elif message.role == "assistant":
            if message.said.strip():
                yield update_agent_message_text(masker.mask(message.said))
            for request in message.tool_requests:
                arguments = request.arguments if isinstance(request.arguments, Mapping) else {}
                yield start_tool_call(
                    f"earlier-{number}-{request.id}",
                    masker.mask(title_of(request.name, arguments)),
                    kind=kind_of(tools.get(request.name), request.name),
                    status="completed",
                    content=[tool_content(text_block(masker.mask(results.get(request.id, ""))))],
                    raw_input=masker.mask_data(dict(arguments)),
                )
