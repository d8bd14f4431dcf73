"""Replies that are no answer: refused, empty, or cut by the token limit (behaviours S3, S5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from react_run.hookspecs import hookimpl
from react_run.messages import Message, MessageView, ModelResponse, ToolChoice
from react_run.policies.order import Policy
from react_run.results import StopReason

if TYPE_CHECKING:
    from react_run.run import Iteration, Run

Proceed = Callable[[], Awaitable[ModelResponse]]

REFUSALS = frozenset({"refusal", "content_filter"})
EMPTY = "Your reply was empty. Call the tool you need next, or answer in text."
EMPTY_AGAIN = "Your reply was empty again. Answer in text now, from what is above, and say what is missing."
CONTINUE = "Your reply was cut off. Continue exactly where it stopped, without repeating anything."
NO_ANSWER = "The model gave no answer, although it was asked again."
NO_ROOM = "The model used its whole output limit before it wrote an answer."
REFUSED = "The model refused to answer."


class Replies(Policy):
    """Ends a run whose model refuses, asks again after an empty reply, and has a cut answer continued.

    These calls count in ``usage.requests``, not as iterations.
    """

    kind: ClassVar[str] = "replies"
    guard: ClassVar[str] = "replies"

    empty_replies: int = Field(default=2, ge=0)
    """How often to ask again after an empty reply; the last time, when it is not the first, without tools."""
    continuations: int = Field(default=1, ge=0)
    """How often to have a cut answer continued."""

    @hookimpl
    async def react_model_call(self, run: Run, iteration: Iteration, proceed: Proceed) -> ModelResponse:
        response = await proceed()
        if run.stop_reason is not None:
            return response
        if response.finish_reason not in REFUSALS:
            if response.message.tool_requests:
                return response
            if is_empty(response):
                response = await self._ask_again(run, iteration, proceed, response)
            elif response.finish_reason == "length":
                response = await self._continue(run, iteration, proceed, response)
        if response.finish_reason in REFUSALS and run.stop_reason is None:
            self._refuse(run, response)
        return response

    def _refuse(self, run: Run, response: ModelResponse) -> None:
        run.note(self.guard, f"refused: {response.finish_reason}")
        run.messages.append(Message(role="assistant", content=response.text.strip() or REFUSED))
        run.stop(StopReason.REFUSED, run.messages[-1].text)

    async def _ask_again(
        self, run: Run, iteration: Iteration, proceed: Proceed, response: ModelResponse
    ) -> ModelResponse:
        for again in range(1, self.empty_replies + 1):
            without_tools = again == self.empty_replies > 1
            run.note(self.guard, "empty reply: asked again" + (" without tools" if without_tools else ""))
            run.messages.append(Message(role="user", content=EMPTY if again == 1 else EMPTY_AGAIN))
            request = replace(iteration.request, messages=MessageView(run.messages))
            iteration.request = replace(request, tools=(), tool_choice=None) if without_tools else request
            response = await proceed()
            if without_tools and response.message.tool_requests:
                response = replace(response, message=Message(role="assistant", content=response.message.content))
            if run.stop_reason is not None or response.finish_reason in REFUSALS or not is_empty(response):
                return response
        if self.empty_replies:
            if response.finish_reason == "length":
                run.stop(StopReason.OUTPUT_LIMIT, NO_ROOM)
            else:
                run.stop(StopReason.EMPTY_REPLY, NO_ANSWER)
        return response

    async def _continue(
        self, run: Run, iteration: Iteration, proceed: Proceed, response: ModelResponse
    ) -> ModelResponse:
        asked = iteration.request
        for _ in range(self.continuations):
            if response.finish_reason != "length":
                break
            run.note(self.guard, "cut answer: continued")
            shown = iteration.drafted
            so_far = [Message(role="assistant", content=response.text), Message(role="user", content=CONTINUE)]
            choice: ToolChoice | None = "none" if asked.tools else None
            iteration.request = replace(asked, messages=[*asked.messages, *so_far], tool_choice=choice)
            more = await proceed()
            if not shown:  # the first part was withdrawn, and what follows it is no answer by itself
                await run.withdraw(iteration)
            if run.stop_reason is not None:
                break
            message = replace(response.message, content=response.text + more.text)
            usage = response.usage + more.usage
            response = replace(more, message=message, usage=usage, finish_reason=more.finish_reason)
        iteration.request = asked
        return response


def is_empty(response: ModelResponse) -> bool:
    """Whether a reply has neither text nor calls; reasoning alone is not text."""
    return not response.message.tool_requests and not response.text.strip()
