"""Makes conversations from outside valid before a model sees them (behaviours L5, L6, H2)."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from react_run.errors import ConfigError
from react_run.messages import Message, ToolRequest
from react_run.support.render import NO_OUTPUT
from react_run.tools.request_ids import fresh_ids

NO_RESULT = "[no result was recorded for this call]"


def repaired(messages: Iterable[Message]) -> list[Message]:
    """The conversation with every call answered once and every result belonging to a call.

    A missing result gets a neutral placeholder, an orphan result is dropped, repeated or empty ids are replaced, empty
    turns are left out. Results in another order are moved after their calls; results with the same id keep their order.

    Raises:
        ConfigError: A message has an unknown role.
    """
    source = list(messages)
    used: set[str] = set()
    out: list[Message] = []
    for index, message in enumerate(source):
        if message.role not in _ROLES:
            raise ConfigError(f"a message needs a role: system, user, assistant or tool, not {message.role!r}")
        if message.role == "tool":
            continue  # either already added with its call, or an orphan
        if message.role != "assistant" or not message.tool_requests:
            if message.extra or not message.blank:
                out.append(replace(message, tool_requests=()) if message.tool_requests else message)
            continue
        answers, requests = [], []
        results = _paired(message.tool_requests, _following_results(source, index))
        for request, result in zip(message.tool_requests, results, strict=True):
            fresh = request.id if request.id and request.id not in used else next(fresh_ids((), None))
            used.add(fresh)
            requests.append(replace(request, id=fresh))
            answers.append(
                Message(role="tool", content=NO_RESULT, tool_request_id=fresh)
                if result is None
                else replace(result, content=NO_OUTPUT if result.blank else result.content, tool_request_id=fresh)
            )
        out += [replace(message, tool_requests=tuple(requests)), *answers]
    return out


_ROLES = ("system", "user", "assistant", "tool")


def _paired(requests: Sequence[ToolRequest], results: Iterable[Message]) -> list[Message | None]:
    """Match results to requests by id; results whose id is missing or taken go, in order, to the remaining requests."""
    ids = {request.id for request in requests}
    by_id: defaultdict[str, deque[Message]] = defaultdict(deque)
    for result in results:
        by_id[result.tool_request_id or ""].append(result)
    paired = [by_id[request.id].popleft() if by_id[request.id] else None for request in requests]
    spare = iter([result for id_, more in by_id.items() if id_ in ids or not id_ for result in more])
    return [next(spare, None) if result is None else result for result in paired]


def _following_results(messages: list[Message], index: int) -> Iterator[Message]:
    for message in messages[index + 1 :]:
        if message.role == "assistant":
            return
        if message.role == "tool":
            yield message


def opening(system_prompt: str, guides: Iterable[str], incoming: Iterable[Message]) -> list[Message]:
    """The messages a run starts with, before the user's prompt.

    System messages of the incoming conversation stay first, except our own of an earlier turn; then the system prompt
    with its guide texts, each of which begins with a heading; then the conversation (behaviours L6, G1).
    """
    guides = [guide for guide in guides if guide]
    text = "\n\n".join([system_prompt, *guides] if system_prompt else guides)
    conversation = repaired(incoming)
    theirs = [
        message
        for message in conversation
        if message.role == "system" and not _is_ours(message.text, system_prompt, guides)
    ]
    ours = [Message(role="system", content=text)] if text else []
    return [*theirs, *ours, *(message for message in conversation if message.role != "system")]


def _is_ours(text: str, system_prompt: str, guides: Sequence[str]) -> bool:
    """Whether a system message is our own from an earlier turn: it begins the same way, but its guides may have
    changed.
    """
    if system_prompt:
        return text == system_prompt or text.startswith(f"{system_prompt}\n\n#")
    return bool(guides) and text.partition("\n")[0] == guides[0].partition("\n")[0]
