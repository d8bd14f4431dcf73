"""Implements what runs, iterations and calls offer to plugins: :class:`react_run.run.Engine`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

from react_run.engine.asking import put
from react_run.engine.current import current_call
from react_run.engine.drafts import withdraw
from react_run.engine.events import send_event
from react_run.engine.execution import execute, refusal, report
from react_run.engine.result import result_of
from react_run.engine.state import EngineState
from react_run.engine.timer import Pauses

if TYPE_CHECKING:
    from react_run.outcome import Observation
    from react_run.questions import Answer, Question
    from react_run.results import RunResult
    from react_run.run import Iteration, Run, ToolCall

T = TypeVar("T")


class Services:
    """Implements the methods of :mod:`react_run.run`; one object serves all runs."""

    def note(self, run: Run, guard: str, detail: str) -> None:
        """Report that a guard fired."""
        send_event(run, run.state(EngineState).hooks.react_guard_fired, guard, detail)

    @contextmanager
    def paused(self, run: Run, call: ToolCall | None) -> Iterator[None]:
        """Pause the timeouts of ``run``, of its current call, and of the parent runs and calls."""
        call = current_call(run) if call is None else call
        state = run.state(EngineState)
        clocks = [state.pauses] if call is None else [state.pauses, state.call_pauses.setdefault(call, Pauses())]
        for pauses in clocks:
            pauses.begin()
        try:
            with nullcontext() if run.parent is None else self.paused(run.parent, state.parent_call):
                yield
        finally:
            for pauses in clocks:
                pauses.end()

    def report(self, call: ToolCall, done: float | None, total: float | None, message: str) -> None:
        """Report the progress of a tool."""
        report(call, done, total, message)

    def result(self, run: Run) -> RunResult:
        """The result so far."""
        return result_of(run)

    def at_end(self, run: Run, give_back: Callable[[], Awaitable[None]]) -> None:
        """Register a cleanup."""
        run.state(EngineState).endings.append(give_back)

    async def ask(self, run: Run, question: Question) -> Answer | None:
        """Ask a person."""
        return await put(run, question)

    async def recorded(self, run: Run, what: str, find: Callable[[], Awaitable[T]]) -> T:
        """Observe something, or take it from a recording."""
        state = run.state(EngineState)
        known = None if state.recall is None else state.recall(what)
        value: T = await find() if known is None else known[0]  # type: ignore[assignment]  # it was recorded as such
        if state.remember is not None:
            state.remember(what, value)
        return value

    async def withdraw(self, iteration: Iteration) -> None:
        """Withdraw a draft."""
        await withdraw(iteration)

    def refusal(self, call: ToolCall) -> Coroutine[Any, Any, Observation | None]:
        """Ask every plugin for its permission."""
        return refusal(call)

    def execute(self, call: ToolCall) -> Coroutine[Any, Any, Observation]:
        """Run the tool of ``call``, if every plugin permits."""
        return execute(call)
