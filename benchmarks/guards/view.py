"""What the policy model can see of a request: beginning and end of long texts, as a reader with limited attention."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from react_run import ModelRequest

HEAD, TAIL = 4_000, 1_500
EXPECTED = {
    "fetch": re.compile(r"page \d+: number \d+|PAGE \d+: NUMBER \d+|\d+-[\w-]+\.(?:txt|json)"),
    "load": re.compile(r"page \d+: number \d+"),
    "add": re.compile(r'"total"'),
    "convert": re.compile(r'"summary"'),
    "search": re.compile(r'"summary"'),
    "pay": re.compile(r"receipt R\d+"),
    "write_note": re.compile(r"written"),
    "read_note": re.compile(r"note says"),
    "job_status": re.compile(r"\d+ %|result \d+"),
}
"""How the results of tools look when they are what was asked for."""
OTHERS = frozenset({"archive", "read_result", "search_result", "activate_tool_skill"})
"""Tools whose results may look like anything."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """One result as the model reads it."""

    tool: str
    arguments: Mapping[str, object]
    text: str


@dataclass(frozen=True, kw_only=True)
class View:
    """The request, read."""

    prompt: str
    results: list[Result]
    remarks: list[str]
    tools: frozenset[str]
    replies: int
    last_iteration: list[Result]
    reminders: int
    """How often the model could know that it did something wrong, iterations counted once (:class:`Memory`)."""

    def of(self, *tools: str) -> list[Result]:
        """The results of some tools."""
        return [result for result in self.results if result.tool in tools]

    def all_text(self) -> str:
        """Everything read."""
        return "\n".join([*(result.text for result in self.results), *self.remarks])


class Memory:
    """What a model can know of its own mistakes, whatever the words in which it is told.

    A result is not what was asked for, or it is what an earlier call has brought already; or somebody speaks up after a
    reply that asked for nothing.
    """

    def __init__(self) -> None:
        self.reminders = 0
        self._reminded_in = -1
        self._brought: dict[tuple[str, str], str] = {}

    def result(self, tool: str, arguments: Mapping[str, object], text: str, reply: int) -> None:
        """Take in a result of the calls of a reply."""
        call = (tool, repr(sorted(arguments.items())))
        before = self._brought.setdefault(call, text)
        is_known = before is not text and bool(before) and before in text
        pattern = EXPECTED.get(tool)
        is_odd = tool not in OTHERS if pattern is None else pattern.search(text) is None
        if (is_known or is_odd) and self._reminded_in != reply:
            self.reminders += 1
            self._reminded_in = reply

    def remark(self) -> None:
        """Take in that somebody speaks up."""
        self.reminders += 1


def glimpse(text: str) -> str:
    """What is taken in of a text."""
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n…\n{text[-TAIL:]}"


def look(request: ModelRequest) -> View:
    """Read a request."""
    asked: dict[str, tuple[str, Mapping[str, object]]] = {}
    results: list[Result] = []
    remarks: list[str] = []
    prompt, replies, memory = "", 0, Memory()
    last_iteration: list[Result] = []
    for message in request.messages:
        text = glimpse(message.text)
        if message.role == "assistant":
            replies += 1
            last_iteration = []
            for call in message.tool_requests:
                asked[call.id] = call.name, call.arguments if isinstance(call.arguments, dict) else {}
        elif message.role == "tool":
            tool, arguments = asked[message.tool_request_id or ""]
            results.append(Result(tool=tool, arguments=arguments, text=text))
            memory.result(tool, arguments, text, replies)
            last_iteration.append(results[-1])
        elif message.role == "user":
            if prompt:
                remarks.append(text)
                memory.remark()
            prompt = prompt or text
    return View(
        prompt=prompt,
        results=results,
        remarks=remarks,
        tools=frozenset(tool.name for tool in request.tools),
        replies=replies,
        last_iteration=last_iteration,
        reminders=memory.reminders,
    )
