"""The conversation so far: the question being answered, and what its tool calls returned."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from react_run.messages import Message

Calls = dict[str, list[str]]
"""Results in order, by :func:`call_key`."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One turn: the user's words, the calls made for them with their results, and what the turn before found."""

    question: str
    calls: Calls
    earlier: str | None = None
    results: list[str] = field(default_factory=list)


def call_key(name: str, arguments: Mapping[str, object] | str) -> str:
    """What makes two calls the same: the tool and its arguments, whatever their order."""
    if isinstance(arguments, str):
        return f"{name} {arguments}"
    return f"{name} {json.dumps(arguments, sort_keys=True, default=str)}"


def conversation_of(messages: Sequence[Message]) -> Conversation:
    """Read the last turn. A turn begins with a user message that is the first or follows an answer.

    User messages after tool results are remarks of the runtime within the turn, not questions.
    """
    start = _start_of_turn(messages)
    calls, results = _calls(messages[start:] if start else list(messages))
    question = messages[start].text if messages else ""
    return Conversation(question, calls, _earlier(messages, start), results)


def _start_of_turn(messages: Sequence[Message]) -> int:
    start = 0
    answered = True
    for index, message in enumerate(messages):
        if message.role == "user" and answered:
            start, answered = index, False
        elif message.role == "assistant" and not message.tool_requests:
            answered = True
    return start


def _calls(messages: Sequence[Message]) -> tuple[Calls, list[str]]:
    keys: dict[str, str] = {}
    calls: Calls = {}
    results: list[str] = []
    for message in messages:
        for request in message.tool_requests:
            keys[request.id] = call_key(request.name, request.arguments)
        if message.role == "tool" and message.tool_request_id in keys:
            calls.setdefault(keys[message.tool_request_id], []).append(message.text)
            results.append(message.text)
    return calls, results


def _earlier(messages: Sequence[Message], start: int) -> str | None:
    """The last result of the turn before, for ``that`` and ``it`` to refer to."""
    for index in range(start - 1, -1, -1):
        if messages[index].role == "user":
            return None
        if messages[index].role == "tool":
            return messages[index].text
    return None
