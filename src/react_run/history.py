"""Conversations that come from outside: made valid before a model sees them (behaviours L5, L6, H2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from uuid import uuid4

from react_run.messages import Message

NO_RESULT = "[no result was recorded for this call]"


def repaired(messages: Iterable[Message]) -> list[Message]:
    """The conversation with every call answered once and every result belonging to a call.

    A missing result gets a neutral placeholder, an orphan result is dropped, repeated or empty ids are replaced, empty
    turns are left out. Results that stand in another order are put behind their calls.
    """
    source = list(messages)
    used: set[str] = set()
    out: list[Message] = []
    for index, message in enumerate(source):
        if message.role == "tool":
            continue  # taken up with its call, or an orphan
        if not message.tool_requests:
            if message.content or message.extra:
                out.append(message)
            continue
        results = {m.tool_request_id: m for m in _following_results(source, index)}
        answers, requests = [], []
        for request in message.tool_requests:
            result = results.get(request.id)
            fresh = request.id if request.id and request.id not in used else f"call_{uuid4().hex[:16]}"
            used.add(fresh)
            requests.append(replace(request, id=fresh))
            answers.append(
                Message(role="tool", content=NO_RESULT, tool_request_id=fresh)
                if result is None
                else replace(result, tool_request_id=fresh)
            )
        out += [replace(message, tool_requests=tuple(requests)), *answers]
    return out


def _following_results(messages: list[Message], index: int) -> Iterator[Message]:
    for message in messages[index + 1 :]:
        if message.role == "assistant":
            return
        if message.role == "tool":
            yield message


def opening(system_prompt: str, guides: Iterable[str], incoming: Iterable[Message]) -> list[Message]:
    """The messages a run starts with, before the user's prompt.

    System messages of the incoming conversation stay first, except our own of an earlier turn; then the system prompt
    with its guide texts; then the conversation (behaviours L6, G1).
    """
    text = "\n\n".join(part for part in (system_prompt, *guides) if part)
    conversation = repaired(incoming)
    theirs = [
        message
        for message in conversation
        if message.role == "system" and not (system_prompt and message.text.startswith(system_prompt))
    ]
    ours = [Message(role="system", content=text)] if text else []
    return [*theirs, *ours, *(message for message in conversation if message.role != "system")]
