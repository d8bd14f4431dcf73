"""What sensors say about the calls of a round, and what becomes of it (behaviour G2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from react_run.hooks import ask_all
from react_run.outcome import Outcome, Signal

if TYPE_CHECKING:
    from react_run.run import Iteration, Run, ToolCall


async def sense(run: Run, iteration: Iteration) -> dict[ToolCall, str]:
    """Ask every sensor about every executed call, in request order; what is to be appended to each observation.

    A blocking signal makes its call a retryable failure at once, so that policies judge it as one.
    """
    texts: dict[ToolCall, str] = {}
    for call in iteration.calls:
        if not call.executed or call.observation is None:
            continue
        answers = await ask_all(run.hooks.react_sense, run, call, call.observation)
        signals = [signal for answer in answers for signal in _flat(answer)]
        if not signals:
            continue
        blocks = [signal for signal in signals if signal.severity == "block"]
        if blocks:
            call.opaque = False
            outcome = Outcome.retryable("sensor_blocked", "; ".join(signal.message for signal in blocks))
            call.observation = replace(call.observation, outcome=outcome)
            run.note("sensor_block", f"{call.name}: {outcome.message}")
        texts[call] = "\n".join(map(describe, signals))
    return texts


def _flat(answer: Signal | Iterable[Signal]) -> Iterable[Signal]:
    return (answer,) if isinstance(answer, Signal) else answer


def describe(signal: Signal) -> str:
    """A signal as the model reads it: severity, location, message, and what to do."""
    where = f" {signal.location}:" if signal.location else ""
    hint = f"\n  Hint: {signal.hint}" if signal.hint else ""
    return f"[{signal.severity}]{where} {signal.message}{hint}"
