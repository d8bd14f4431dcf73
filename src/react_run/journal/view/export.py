"""A run as one document: Markdown for people, JSON for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from react_run.journal.view import formatting

if TYPE_CHECKING:
    from react_run.journal.reading import Journal
    from react_run.messages import Message


def journal_as_data(journal: Journal) -> dict[str, object]:
    """The run as one JSON object: prompt, answer, usage, conversation in OpenAI's format, and results of calls."""
    from react_run.models.stored import message_to_dict

    header, footer = journal.header, journal.footer or {}
    return {
        "run_id": journal.run_id,
        "agent": {name: header["agent"][name] for name in ("name", "description", "file", "digest")},
        "model": header["model"],
        "started": header["started"],
        "seconds": round(journal.stats.seconds, 3),
        "prompt": header["prompt"],
        "status": formatting.status(journal),
        "success": formatting.succeeded(journal),
        "answer": footer.get("answer", ""),
        "usage": journal.stats.usage.to_dict(),
        "messages": [message_to_dict(message) for message in journal.messages],
        "tool_calls": [
            {
                "iteration": use.iteration,
                "id": use.id,
                "name": use.name,
                "arguments": use.arguments,
                "result": use.content,
                "outcome": use.outcome,
                "executed": use.executed,
                "seconds": use.seconds,
            }
            for iteration in journal.iterations
            for use in iteration.tools
        ],
        "runs_below": [journal_as_data(child) for child in journal.below],
    }


def as_markdown(journal: Journal) -> str:
    """The conversation of the run, including tool calls."""
    return "\n".join([*_markdown(journal), ""])


def _markdown(journal: Journal) -> Iterator[str]:
    header = journal.header
    yield f"# {formatting.name(journal)}: {formatting.one_line(header['prompt'])[:80]}"
    yield ""
    yield f"- run `{journal.run_id}`, {formatting.moment(header['time'])}, model `{header['model']}`"
    yield f"- {formatting.status(journal)}: {formatting.totals(journal.stats)}"
    for message in journal.messages:
        if message.role != "system":
            yield from _message(message)


def _message(message: Message) -> Iterator[str]:
    title = {"user": "User", "assistant": "Assistant", "tool": "Result"}[message.role]
    yield f"\n## {title}\n"
    if message.role == "tool":
        yield from fenced(message.text)
    elif message.text.strip():
        yield message.text.strip()
    if files := formatting.carried(message):
        yield f"\nAttached: {files}"
    for request in message.tool_requests:
        arguments = request.arguments
        yield f"\nCalls `{request.name}`:\n"
        yield from fenced(
            arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False, indent=2), "json"
        )


def fenced(text: str, language: str = "") -> Iterator[str]:
    """``text`` as a code block whose fence is longer than any in the text."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    yield f"{fence}{language}"
    yield text.rstrip("\n")
    yield fence
