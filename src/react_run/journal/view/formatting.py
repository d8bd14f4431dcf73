"""Formats journal data for people: seconds, tokens, cost, arguments, status."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from react_run.journal.values import Record, usage_from_data
from react_run.support.display import usd

if TYPE_CHECKING:
    from react_run.journal.iterations import Iteration, ModelCall, ToolUse
    from react_run.journal.reading import Journal
    from react_run.journal.stats import RunStats
    from react_run.messages import Message, Usage


def seconds(value: float | None) -> str:
    """Format a duration."""
    if value is None:
        return "unfinished"
    if value >= 90:
        return f"{int(value // 60)} min {value % 60:.0f} s"
    return f"{value:.2f} s" if value < 10 else f"{value:.1f} s"


def tokens(value: int | None) -> str:
    """Format a number of tokens."""
    return "tokens n/a" if value is None else f"{value:,} tokens"


def cost(value: float | None) -> str:
    """Format USD; an amount too small to show is not shown as zero."""
    return "cost n/a" if value is None else usd(value)


def moment(value: float) -> str:
    """Format a time, in UTC."""
    return datetime.fromtimestamp(value, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def plural(number: int, noun: str) -> str:
    """Format a number with its noun: ``2 iterations``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def one_line(text: str) -> str:
    """``text`` on one line."""
    return " ".join(text.split())


def arguments(value: object) -> str:
    """Format arguments, as a model sent them, on one line."""
    return one_line(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def status(journal: Journal) -> str:
    """How a run ended."""
    return status_of(journal.footer)


def status_of(footer: Record | None) -> str:
    """How a run ended, by its footer; ``None`` if there is none."""
    if footer is None:
        return "unfinished"
    if footer["status"] == "finished":
        return str(footer["stop_reason"])
    return "interrupted" if footer["error"]["type"] in ("CancelledError", "KeyboardInterrupt") else "failed"


def succeeded(journal: Journal) -> bool:
    """Whether a run succeeded."""
    return journal.footer is not None and bool(journal.footer["success"])


def name(journal: Journal) -> str:
    """The name of a run's agent."""
    return name_of(journal.header)


def name_of(header: Record) -> str:
    """The name of the agent in a header."""
    agent = header["agent"]
    file = str(agent["file"] or "").replace("\\", "/").rpartition("/")[2]
    return str(agent["name"] or file or "agent")


def usage_of(iteration: Iteration) -> Usage | None:
    """The usage of an iteration's model calls; ``None`` if none of them has a reply."""
    used = [usage_from_data(call.response["usage"]) for call in iteration.model_calls if call.response]
    total = None
    for usage in used:
        total = usage if total is None else total + usage
    return total


def totals(stats: RunStats) -> str:
    """The usage of a run, on one line."""
    return " · ".join(
        (
            plural(stats.iterations, "iteration"),
            calls(stats.model_calls, stats.model_calls_below, "model call"),
            calls(stats.tool_calls, stats.tool_calls_below, "tool call"),
            tokens(stats.usage.total_tokens),
            cost(stats.usage.cost),
            seconds(stats.seconds),
        )
    )


def calls(own: int, below: int, noun: str) -> str:
    """``9 model calls (6 by subagents)``."""
    return f"{plural(own + below, noun)}{f' ({below:,} by subagents)' if below else ''}"


def model_call(call: ModelCall) -> str:
    """One model call: duration, usage, and how it ended."""
    parts = [f"model call {call.number}"]
    if call.end is not None:
        parts.append(seconds(call.end["seconds"]))
    if call.response is not None:
        usage = usage_from_data(call.response["usage"])
        parts += [tokens(usage.total_tokens), *([cost(usage.cost)] if usage.cost is not None else [])]
        parts.append(str(call.response["finish_reason"]))
    elif call.error is not None:
        parts.append(error(call.error["error"]))
    else:
        parts.append("unanswered")
    return " · ".join(parts)


def error(data: Record) -> str:
    """Format an error with its class."""
    return one_line(f"{data['type']}: {data['message']}".removesuffix(": "))


def progress(record: Record) -> str:
    """Format a progress report: ``3/10 reading``."""
    number = "" if "done" not in record else f"{record['done']:g}"
    number += f"/{record['total']:g}" if number and "total" in record else ""
    return one_line(f"{number} {record.get('message', '')}")


def tool_use(use: ToolUse) -> list[str]:
    """Facts about a call besides its result."""
    said = [seconds(use.taken)]
    if use.progress is not None and use.content is None:
        said.append(progress(use.progress))
    if not use.executed:
        said.append("not executed")
    if len(use.attempts) > 1:
        said.append(plural(len(use.attempts), "attempt"))
    if use.outcome is not None:
        said.append(str(use.outcome.get("code") or use.outcome["disposition"]))
    if use.judged is not None and "spilled_to" in use.judged:
        said.append(f"saved in {use.judged['spilled_to']}")
    return said


def carried(message: Message) -> str:
    """The images and files in a message, on one line."""
    if isinstance(message.content, str):
        return ""
    from react_run.parts import Part

    return ", ".join(part.label for part in message.content if isinstance(part, Part))


def attached(journal: Journal) -> str:
    """The images and files attached to the prompt, on one line."""
    return ", ".join(journal.attachment(said).label for said in journal.header.get("attachments", ()))


_STEPS = {"done": "✓", "doing": "▸"}


def plan(journal: Journal) -> list[str]:
    """The model's final todo list, one line per step."""
    steps = (journal.footer or {}).get("plan", ())
    return [f"{_STEPS.get(step['status'], '·')} {one_line(step['step'])}" for step in steps]
