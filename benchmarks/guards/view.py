"""What the policy model can see of a request: beginning and end of long texts, as a reader with limited attention."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from react_run import ModelRequest

HEAD, TAIL = 4_000, 1_500
REMINDERS = re.compile(
    r"^Error|You already ran|repeating yourself|was cut off|reply was empty|call tools any more|are not available|"
    r'"status": ?"error"|^Answer '
)
"""What tells the model that it did something wrong."""


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
    """How often the model was told that it did something wrong, iterations counted once."""

    def of(self, *tools: str) -> list[Result]:
        """The results of some tools."""
        return [result for result in self.results if result.tool in tools]

    def all_text(self) -> str:
        """Everything read."""
        return "\n".join([*(result.text for result in self.results), *self.remarks])


def glimpse(text: str) -> str:
    """What is taken in of a text."""
    return text if len(text) <= HEAD + TAIL else f"{text[:HEAD]}\n…\n{text[-TAIL:]}"


def look(request: ModelRequest) -> View:
    """Read a request."""
    asked: dict[str, tuple[str, Mapping[str, object]]] = {}
    results: list[Result] = []
    remarks: list[str] = []
    prompt, replies, reminders, reminded_in = "", 0, 0, -1
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
            last_iteration.append(results[-1])
        elif message.role == "user":
            if prompt:
                remarks.append(text)
            prompt = prompt or text
        if message.role != "system" and REMINDERS.search(text):
            reminders += message.role == "user" or reminded_in != replies
            reminded_in = replies
    return View(
        prompt=prompt,
        results=results,
        remarks=remarks,
        tools=frozenset(tool.name for tool in request.tools),
        replies=replies,
        last_iteration=last_iteration,
        reminders=reminders,
    )
