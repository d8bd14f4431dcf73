"""Shrinks conversations that outgrow the model's context: older results move out, then older iterations are summarised
(S7).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from react_run.engine.context import BYTES_PER_TOKEN, Gauge, MovedOut, size_in_bytes
from react_run.engine.iteration import call_model
from react_run.engine.state import EngineState
from react_run.errors import ModelError
from react_run.hooks import late
from react_run.hookspecs import hookimpl
from react_run.messages import Message, MessageView, ModelResponse
from react_run.policies.conversation import Conversation, Mover
from react_run.policies.order import Policy
from react_run.policies.summary import outline, question
from react_run.run import Iteration

if TYPE_CHECKING:
    from react_run.run import Run

Proceed = Callable[[], Awaitable[ModelResponse]]


class Compaction(Policy):
    """Frees up context before it overflows, and once after an overflow.

    The system prompt, the user's messages and the last iterations stay verbatim, and every call keeps its result.
    """

    kind: ClassVar[str] = "compaction"
    inside: ClassVar[Mapping[str, str]] = {
        "reply_checks": "what is judged is the reply to a request that fits",
    }

    above: float = Field(default=0.75, gt=0, le=1)
    """The share of the model's context window above which compaction starts."""
    down_to: float = Field(default=0.5, gt=0, le=1)
    """The share of the window that may remain in use after it."""
    keep_iterations: int = Field(default=3, ge=1)
    """How many of the last iterations stay verbatim."""

    def is_needed(self, run: Run, iteration: Iteration) -> bool:
        """Whether a request is too large to be sent as it is."""
        gauge, window = run.state(Gauge), run.agent.model.context_window
        if gauge.busy:
            return False
        if gauge.own < 0:
            gauge.own = len(run.messages)
        if not window:
            return False
        state = run.state(EngineState)
        gauge.correct(state.input_tokens)
        state.input_tokens = None
        return gauge.measure(iteration.request) > window * self.above

    @hookimpl
    @late(unless=is_needed, errors=ModelError)
    async def react_model_call(self, run: Run, iteration: Iteration, proceed: Proceed) -> ModelResponse:
        gauge, window = run.state(Gauge), run.agent.model.context_window
        if self.is_needed(run, iteration):
            await self._make_room(run, iteration, gauge, (window or 0) * self.down_to)
        try:
            return await proceed()
        except ModelError as error:
            if error.code != "context_overflow" or gauge.busy:
                raise
            used = gauge.measure(iteration.request)
            await self._make_room(run, iteration, gauge, (min(window, used) if window else used) * self.down_to)
            return await proceed()

    async def _make_room(self, run: Run, iteration: Iteration, gauge: Gauge, tokens: float) -> None:
        before = gauge.measure(iteration.request)
        room = int(tokens / gauge.factor) * BYTES_PER_TOKEN
        beyond = list(iteration.request.messages[len(run.messages) :])
        conversation = Conversation.of(run.messages, gauge.own)
        mover = Mover(run)
        conversation.move_out(mover, keep=self.keep_iterations)
        if size_in_bytes(conversation.messages) > room:
            older = conversation.older(self.keep_iterations)
            if older:
                summary = await self._summary(run, iteration, gauge, older, room)
                lasting = [message.text for message in older if mover.lasts(message)]
                conversation.replace_older(self.keep_iterations, "\n\n".join([summary, *lasting]))
            for keep in (1, 0):
                if size_in_bytes(conversation.messages) > room:
                    conversation.move_out(mover, keep=keep)
        messages = conversation.messages
        run.state(MovedOut).compare(run.messages, messages)
        run.messages = messages
        gauge.own = len(conversation.start)
        gauge.reset()
        view = [*run.messages, *beyond] if beyond else MessageView(run.messages)
        iteration.request = replace(iteration.request, messages=view)
        after = gauge.measure(iteration.request)
        run.note(self.guard, f"about {before:,.0f} tokens reduced to {after:,.0f}")

    async def _summary(self, run: Run, iteration: Iteration, gauge: Gauge, older: list[Message], room: int) -> str:
        asked = question(older, room)
        request = replace(iteration.request, messages=asked, tools=(), tool_choice=None, output_schema=None)
        asking = Iteration(run, number=iteration.number, request=request)
        gauge.busy = True
        try:
            response = await call_model(run, asking)
        except ModelError as error:
            run.note(self.guard, f"no summary: {error}")
            return outline(older)
        finally:
            gauge.busy = False
        await asking.withdraw()
        return response.text.strip() or outline(older)
