"""Asks sensors about the calls of an iteration, and applies their signals (behaviour G2)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from react_run.engine.state import EngineState
from react_run.engine.workers import OutOfTime, ask_one
from react_run.hooks import Implementation
from react_run.outcome import Outcome, Signal, ToolError
from react_run.support.dataclasses import dataclass
from react_run.support.render import render
from react_run.support.threads import in_thread

if TYPE_CHECKING:
    from react_run.run import Iteration, Run, ToolCall

CODE = "sensor_blocked"
"""The code of a call that a sensor objects to."""
FAILED = "sensor_failed"
"""The guard noted when a sensor could not look."""
NOTES = {"changed": "sensor_patch", "unfit": "sensor_unpatched"}
"""The notes for a patch that was applied, and for one that was not."""
SHOWN = 4_000
"""Maximum characters of a message, hint or patch for the model."""


@dataclass(frozen=True, kw_only=True)
class DeliveredSignal:
    """A signal and the fate of its patch: ``changed`` says what it changed, ``unfit`` why it was not applied."""

    signal: Signal
    changed: str = ""
    unfit: str = ""

    @property
    def blocks(self) -> bool:
        """Whether the signal prevents the call from being a success."""
        return self.signal.severity == "block" and not self.changed


class SeenWarnings:
    """The warnings already given in a run, each with its iteration."""

    def __init__(self) -> None:
        self.iterations: dict[str, int] = {}


async def sense(run: Run, iteration: Iteration) -> dict[ToolCall, str]:
    """Ask every sensor about every executed call, in request order, and return the text to append to each observation.

    A patch that fits is applied at once, and clears its signal. Any other blocking signal makes its call a retryable
    failure, so that policies treat it as one.
    """
    texts: dict[ToolCall, str] = {}
    for call in iteration.calls:
        if not call.executed or call.observation is None:
            continue
        heard = await _heard(run, call)
        if not heard:
            continue
        iteration.changed |= any(one.changed for one in heard)
        _block(run, call, [one.signal for one in heard if one.blocks])
        if text := _signals_text(run, iteration.number, heard):
            texts[call] = render(text)
    return texts


async def _heard(run: Run, call: ToolCall) -> list[DeliveredSignal]:
    """The signals of every sensor about ``call``, with patches applied; the call notes which sensors object and which
    do not (F1b).
    """
    heard: list[DeliveredSignal] = []
    passed: set[object] = set()
    for impl in run.state(EngineState).hooks.react_sense:
        signals = await _signals(run, call, impl)
        said = [
            await _patched(run, call, signal) if signal.patch else DeliveredSignal(signal=signal) for signal in signals
        ]
        blocks = [(impl.plugin_name, one.signal.scope or one.signal.location) for one in said if one.blocks]
        call.blocks += tuple(blocks)
        if not blocks and all(one.signal.looked for one in said):
            passed.add(impl.plugin_name)
        heard += said
    call.passed = frozenset(passed)
    return heard


async def _signals(run: Run, call: ToolCall, impl: Implementation) -> list[Signal]:
    try:
        answer = await ask_one(impl, run, call, call.observation)
    except OutOfTime as error:
        run.note(FAILED, f"{impl.plugin_name} after {call.name}: {error}")
        return [not_looked(f"{impl.plugin_name} could not be carried out: {error}")]
    return [] if answer is None else list(_flat(answer))


def not_looked(why: str) -> Signal:
    """The signal of a sensor that could not look: the model is told, and the call has not passed the sensor."""
    return Signal(severity="warn", message=f"this was not checked: {why}", looked=False)


def _flat(answer: Signal | Iterable[Signal]) -> Iterable[Signal]:
    return (answer,) if isinstance(answer, Signal) else answer


async def _patched(run: Run, call: ToolCall, signal: Signal) -> DeliveredSignal:
    from react_run.support.files import Folder
    from react_run.workspace.patches import apply_patch

    async def patch() -> dict[str, str]:
        try:
            files = await in_thread(lambda: apply_patch(Folder(run.workspace), signal.patch))
        except ToolError as error:
            return {"unfit": str(error)}
        return {"changed": ", ".join(map(str, files))}

    done = await run.recorded(f"patch after {call.name}", patch)
    for guard, detail in done.items():
        run.note(NOTES[guard], f"{call.name}: {detail}")
    return DeliveredSignal(signal=signal, **done)


def _block(run: Run, call: ToolCall, blocks: Sequence[Signal]) -> None:
    if not blocks:
        return
    call.opaque = False
    outcome = Outcome.retryable(CODE, "; ".join(_short(signal.message) for signal in blocks), of_call=True)
    call.observation = replace(call.result, outcome=outcome)
    run.note("sensor_block", f"{call.name}: {outcome.message}")


def _signals_text(run: Run, number: int, heard: Iterable[DeliveredSignal]) -> str:
    """Format all signals about one call for the model; warnings it has already seen are counted, not repeated."""
    iterations = run.state(SeenWarnings).iterations
    texts, standing = [], 0
    for one in heard:
        text = describe_signal(one)
        if one.signal.severity == "block" or one.changed:
            texts.append(text)
        elif text not in iterations:
            iterations[text] = number
            texts.append(text)
        else:
            standing += iterations[text] < number
    if standing:
        texts.append(f"[still standing, as told before: {standing} warning{'s' if standing > 1 else ''}]")
    return "\n".join(texts)


def describe_signal(heard: DeliveredSignal) -> str:
    """Format a signal for the model: severity, location, message, what to do, and the fate of its patch."""
    signal = heard.signal
    where = f" {signal.location}:" if signal.location else ""
    if heard.changed:
        done = f"Changed for you: {heard.changed}. Read it before you go on."
        return f"[corrected]{where} {_short(signal.message)}\n  {done}"
    text = f"[{signal.severity}]{where} {_short(signal.message)}"
    if signal.hint:
        text += f"\n  Hint: {_short(signal.hint)}"
    if heard.unfit:
        text += f"\n  This change was suggested, but could not be made ({heard.unfit}):\n{_short(signal.patch)}"
    return text


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}\n[{len(text) - SHOWN:,} more characters]"
