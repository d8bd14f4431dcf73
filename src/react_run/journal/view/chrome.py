"""A run in the trace format of Perfetto and chrome://tracing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from react_run.journal.view import formatting

if TYPE_CHECKING:
    from react_run.journal.iterations import ModelCall, ToolUse
    from react_run.journal.reading import Journal

Event = dict[str, Any]


def chrome_trace(journal: Journal) -> dict[str, object]:
    """The trace events of a run and its subagents, with one process per run."""
    events = [event for number, each in enumerate(_all(journal), 1) for event in _events(each, number)]
    return {"displayTimeUnit": "ms", "traceEvents": events}


def _all(journal: Journal) -> Iterator[Journal]:
    yield journal
    for child in journal.below:
        yield from _all(child)


def _events(journal: Journal, process: int) -> Iterator[Event]:
    name = f"{formatting.name(journal)} {journal.run_id[:12]}"
    yield {"name": "process_name", "ph": "M", "pid": process, "tid": 0, "args": {"name": name}}
    yield {"name": "thread_name", "ph": "M", "pid": process, "tid": 0, "args": {"name": "iterations and model"}}
    end = journal.own[-1]["time"]
    iterations = journal.iterations
    for iteration, after in zip(iterations, [*(found.started_at for found in iterations[1:]), end], strict=False):
        yield _span(
            f"iteration {iteration.number}", "iteration", iteration.started_at, after - iteration.started_at, process, 0
        )
        for call in iteration.model_calls:
            yield from _model_call(call, process)
        for use in iteration.tools:
            yield from _tool_use(use, process)
        for record in iteration.guards:
            yield {
                **_at(record["guard"], "guard", record["time"], process, 0),
                "ph": "i",
                "s": "p",
                "args": {"detail": record["detail"]},
            }


def _model_call(call: ModelCall, process: int) -> Iterator[Event]:
    if call.end is None:
        return
    details: dict[str, object] = {"call": call.number, "messages": len(call.messages)}
    if call.response is not None:
        details |= {"finish_reason": call.response["finish_reason"], **call.response["usage"]}
    elif call.error is not None:
        details["error"] = formatting.error(call.error["error"])
    span = _span("model call", "model", call.request["time"], call.end["seconds"], process, 0)
    yield {**span, "args": details}


def _tool_use(use: ToolUse, process: int) -> Iterator[Event]:
    if use.span is None:
        return
    began, ended = use.span
    details = {"arguments": use.arguments, "executed": use.executed, "failed": use.failed, "iteration": use.iteration}
    span = _span(use.name, "tool", began, ended - began, process, use.position + 1)
    yield {**span, "args": details}


def _at(name: str, category: str, time: float, process: int, thread: int) -> Event:
    return {"name": name, "cat": category, "pid": process, "tid": thread, "ts": round(time * 1e6)}


def _span(name: str, category: str, start: float, length: float, process: int, thread: int) -> Event:
    return {**_at(name, category, start, process, thread), "ph": "X", "dur": max(1, round(length * 1e6))}
