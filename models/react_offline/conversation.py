"""The conversation so far: the current question, and the results of its tool calls."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from react_run.messages import Message, ToolRequest
from react_run.support import dataclass

Calls = dict[str, list[str]]
"""Results in order, by :func:`call_key`."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One turn of a conversation.

    ``question`` is the user's text, ``calls`` has the calls made for it with their results. ``earlier`` is the last
    result of the previous turn. If that turn ended with a question to the user, ``asked`` is the user's text in it, and
    ``asking`` is the question.
    """

    question: str
    calls: Calls
    earlier: str | None = None
    asked: str = ""
    asking: str = ""


def call_key(name: str, arguments: Mapping[str, object] | str) -> str:
    """A key that identifies a call: the tool and its arguments in any order."""
    if isinstance(arguments, str):
        return f"{name} {arguments}"
    return f"{name} {json.dumps(arguments, sort_keys=True, default=str)}"


def conversation_of(messages: Sequence[Message], call: int = 1) -> Conversation:
    """Parse the last turn, of which this is the ``call``-th model call.

    A turn begins with a user message that is the first, or follows an answer. User messages after tool results are
    remarks of the runtime within the turn, and so is the feedback of a check after an answer. Therefore the number of
    earlier model calls says how many replies belong to the turn.
    """
    starts, replies = _starts_of_turns(messages)
    if not starts:
        return Conversation("", {})
    before_it = replies - (call - 1)
    which = next((number for number, (_, before) in enumerate(starts) if before == before_it), len(starts) - 1)
    start, _ = starts[which]
    calls = _calls(messages[start:] if start else list(messages))
    before = messages[starts[which - 1][0] : start] if which else []
    earlier = next((message.text for message in reversed(before) if message.role == "tool"), None)
    asking = before[-1].text if before and "?" in before[-1].text else ""
    return Conversation(messages[start].text, calls, earlier, before[0].text if asking else "", asking)


def _starts_of_turns(messages: Sequence[Message]) -> tuple[list[tuple[int, int]], int]:
    """The positions where turns may begin, each with the number of earlier replies; and the number of all replies."""
    starts: list[tuple[int, int]] = []
    replies = 0
    answered = True
    for index, message in enumerate(messages):
        if message.role == "user" and answered:
            starts.append((index, replies))
            answered = False
        elif message.role == "assistant":
            replies += 1
            answered = answered or not message.tool_requests
    return starts, replies


def _calls(messages: Sequence[Message]) -> Calls:
    requests: dict[str, ToolRequest] = {}
    calls: Calls = {}
    for message in messages:
        requests.update({request.id: request for request in message.tool_requests})
        request = requests.get(message.tool_request_id or "") if message.role == "tool" else None
        if request:
            calls.setdefault(call_key(request.name, request.arguments), []).append(message.text)
    return calls
