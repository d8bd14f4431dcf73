"""Merges a streamed reply into the body that a request without streaming would have returned (behaviour L10)."""

from __future__ import annotations

import json
from collections.abc import Mapping

from react_run.messages import encodable
from react_run.models.coerce import as_identifier, as_index, as_mapping, as_mappings, as_text


class Draft:
    """Merges the chunks of one streamed chat completion, wherever their boundaries are."""

    def __init__(self) -> None:
        self._body: dict[str, object] = {}
        self._usage: dict[str, object] = {}
        self._content: list[list[str] | Mapping[str, object]] = []
        self._calls = _Calls()
        self._message: dict[str, object] = {}
        self._finish: object = None
        self._held = ""

    @property
    def finished(self) -> bool:
        """Whether a finish reason has arrived: what follows can only add usage."""
        return bool(self._finish)

    def feed(self, chunk: object) -> str:
        """Merge one chunk and return the text it adds to the draft."""
        data = as_mapping(chunk)
        for key in ("id", "model"):
            if data.get(key):
                self._body[key] = data[key]
        if usage := data.get("usage"):
            _overlay(self._usage, as_mapping(usage))
        return "".join(
            [self._feed_choice(choice) for choice in as_mappings(data.get("choices")) if not choice.get("index")]
        )

    def body(self) -> dict[str, object]:
        """The chat completion built from the chunks."""
        message = dict(self._message)
        message["content"] = [
            {"type": "text", "text": "".join(part)} if isinstance(part, list) else part for part in self._content
        ]
        message["tool_calls"] = self._calls.whole()
        if "thinking_blocks" in message:  # the index only distinguished the pieces
            blocks = as_mappings(message["thinking_blocks"])
            message["thinking_blocks"] = [{k: v for k, v in block.items() if k != "index"} for block in blocks]
        choice = {"index": 0, "message": message, "finish_reason": self._finish}
        return {**self._body, "choices": [choice], "usage": self._usage or None}

    def _feed_choice(self, choice: Mapping[str, object]) -> str:
        self._finish = choice.get("finish_reason") or self._finish
        delta = as_mapping(choice.get("delta"))
        if not delta and not self._content and not self._calls:
            delta = as_mapping(choice.get("message"))
        added = ""
        for key, value in delta.items():
            if key == "content":
                added = self._feed_content(value)
            elif key == "tool_calls":
                for call in as_mappings(value):
                    self._calls.feed(call)
            elif key == "function_call" and value:
                self._calls.feed({"index": 0, "function": value})
            elif key != "role":
                _merge(self._message, key, value)
        return self._visible(added) if added else ""

    def _feed_content(self, value: object) -> str:
        if isinstance(value, str):
            self._add_text(value)
            return value
        added = ""
        for part in as_mappings(value):
            found = part.get("text")
            found = found if isinstance(found, str) else ""
            added += found
            if not is_text_part(part):
                self._content.append(part)
            else:
                self._add_text(found)
        return added

    def _add_text(self, text: str) -> None:
        if self._content and isinstance(last := self._content[-1], list):
            last.append(text)
        else:
            self._content.append([text])

    def _visible(self, added: str) -> str:
        """``added`` without a trailing character of which only the first half has arrived."""
        whole = self._held + added
        half = "\ud800" <= whole[-1] <= "\udbff"
        self._held = whole[-1] if half else ""
        return encodable(whole[:-1] if half else whole)


def is_text_part(part: Mapping[str, object]) -> bool:
    """Whether a content part is plain text, as opposed to an image, thinking or something unknown."""
    return part.get("type", "text") in ("text", "output_text") and part.keys() <= {"type", "text"}


class _Call:
    def __init__(self, position: int | None) -> None:
        self.position = position
        self.id: object = ""
        self.name = ""
        self.pieces: list[str] = []
        self.rest: dict[str, object] = {}

    @property
    def complete(self) -> bool:
        """Whether the arguments so far are a complete JSON object, so that another name must begin another call."""
        try:
            return isinstance(json.loads("".join(self.pieces)), dict)
        except (ValueError, RecursionError):
            return False


class _Calls:
    """Tool calls in pieces: grouped by index, without one by id, without either the last open call."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []

    def __bool__(self) -> bool:
        return bool(self._calls)

    def feed(self, piece: Mapping[str, object]) -> None:
        function = as_mapping(piece.get("function"))
        name = as_text(function.get("name"))
        call = self._find(as_index(piece.get("index")), as_identifier(piece.get("id")), name)
        call.id = call.id or piece.get("id") or ""
        call.name = call.name or name
        arguments = function.get("arguments")
        if arguments is not None:
            call.pieces.append(arguments if isinstance(arguments, str) else value_as_json(arguments))
        for key, value in piece.items():
            if key not in ("id", "index", "type", "function"):
                _merge(call.rest, key, value)

    def whole(self) -> list[dict[str, object]]:
        """The calls in the order of their index, or of arrival; one that never got a name or arguments is left out."""
        order = sorted(
            range(len(self._calls)),
            key=lambda i: (i if (position := self._calls[i].position) is None else position, i),
        )
        found = (self._calls[i] for i in order)
        return [
            {**call.rest, "id": call.id, "function": {"name": call.name, "arguments": "".join(call.pieces)}}
            for call in found
            if call.name or "".join(call.pieces).strip()
        ]

    def _find(self, position: int | None, call_id: str, name: str) -> _Call:
        call = self._candidate(position, call_id)
        if call is None or self._starts_another(call, call_id, name):
            call = _Call(position)
            self._calls.append(call)
        return call

    def _candidate(self, position: int | None, call_id: str) -> _Call | None:
        backwards = reversed(self._calls)
        if position is not None:
            return next((call for call in backwards if call.position == position), None)
        if call_id:
            return next((call for call in backwards if as_identifier(call.id) == call_id), None)
        return self._calls[-1] if self._calls else None

    @staticmethod
    def _starts_another(call: _Call, call_id: str, name: str) -> bool:
        """Some servers give every call the index 0, some give none: then a name marks the beginning of the next
        call.
        """
        if not name or not call.name:
            return False
        if call_id and as_identifier(call.id):
            return call_id != as_identifier(call.id)
        return call.complete


def value_as_json(value: object) -> str:
    """``value`` as JSON text, or as Python text if JSON cannot represent it."""
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return "(unreadable)"


def _overlay(usage: dict[str, object], update: Mapping[str, object]) -> None:
    """Overwrite with every value of ``update`` that is not null (behaviour H3)."""
    usage.update((key, value) for key, value in update.items() if value is not None)


def _merge(into: dict[str, object], key: str, value: object) -> None:
    """Merge a delta of a field that is kept verbatim: texts are joined, lists and objects merged."""
    if value is None:
        return
    old = into.get(key)
    if isinstance(old, str) and isinstance(value, str):
        into[key] = old if key in ("type", "format", "id") else old + value
    elif isinstance(old, dict) and isinstance(value, dict):
        for inner, piece in value.items():
            _merge(old, inner, piece)
    elif isinstance(old, list) and isinstance(value, list):
        for item in value:
            _merge_item(old, item)
    elif isinstance(value, dict):
        into[key] = {}
        _merge(into, key, value)
    elif isinstance(value, list):
        into[key] = []
        _merge(into, key, value)
    else:
        into[key] = value


def _merge_item(blocks: list[object], item: object) -> None:
    """Continue the last block if ``item`` is its next piece: same type and index, and not yet signed."""
    last = blocks[-1] if blocks else None
    if isinstance(last, dict) and isinstance(item, dict) and _continues(last, item):
        for key, value in item.items():
            _merge(last, key, value)
    else:
        blocks.append(dict(item) if isinstance(item, dict) else item)


def _continues(last: Mapping[str, object], item: Mapping[str, object]) -> bool:
    if last.get("type") != item.get("type") or last.get("index") != item.get("index"):
        return False
    if "redacted" in as_text(last.get("type")) or "encrypted" in as_text(last.get("type")):
        return False
    return not last.get("signature")
