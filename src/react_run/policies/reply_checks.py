"""Handles replies that are not answers: refused, empty, a call written as text, or truncated (behaviours S3, S5)."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import Field

from react_run.hooks import late
from react_run.hookspecs import hookimpl
from react_run.messages import Message, MessageView, ModelResponse, ToolChoice
from react_run.policies.order import Policy
from react_run.policies.safe import safe_handling
from react_run.results import StopReason

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig
    from react_run.run import Iteration, Run

Proceed = Callable[[], Awaitable[ModelResponse]]

REFUSALS = frozenset({"refusal", "content_filter"})
EMPTY = "Your reply was empty. Call the tool you need next, or answer in text."
EMPTY_AGAIN = "Your reply was empty again. Answer in text now, from what is above, and say what is missing."
NO_CALL = (
    "That was not a call: it stood in the text of your reply, so nothing ran. Use the tool interface to call a tool, "
    "or answer in plain text."
)
NO_CALL_AGAIN = "That was not a call either. Answer in plain text now, from what is above, and say what is missing."
CONTINUE = "Your reply was cut off. Continue exactly where it stopped, without repeating anything."
NO_ANSWER = "The model gave no answer, although it was asked again."
NO_ROOM = "The model used its whole output limit before it wrote an answer."
REFUSED = "The model refused to answer."
_MARKUP = re.compile(
    r"<(tool_calls?|function_calls?|invoke|function=|tool_use|\|tool)|\[TOOL_CALLS?\]|<\|python_tag\|>|[{\[`]",
    re.IGNORECASE,
)
"""How a text begins if it may be a bare call."""
_FENCED = re.compile(r"```\w*+[^\S\n]*+\n(.*?)\n?```", re.DOTALL)


def needs_more(run: Run, iteration: Iteration, response: ModelResponse) -> bool:
    """Whether a reply may be anything but a whole answer or calls."""
    if run.outcome.stop_reason is not None or response.finish_reason in REFUSALS:
        return run.outcome.stop_reason is None
    if response.message.tool_requests:
        return False
    text = response.text.strip()
    return not text or response.finish_reason == "length" or _may_be_a_call(text)


class ReplyChecks(Policy):
    """Ends a run whose model refuses, asks again after an empty reply, and has a truncated answer continued.

    A call written as text counts as empty: it is never run. These model calls count in ``usage.requests``, not as
    iterations.
    """

    kind: ClassVar[str] = "reply_checks"
    inside: ClassVar[Mapping[str, str]] = {
        "budget_warnings": "what judges an iteration surrounds what judges its model calls",
    }

    empty_replies: int = Field(default=2, ge=0)
    """How often to ask again after an empty reply; the last time, unless it is also the first, without tools."""
    continuations: int = Field(default=1, ge=0)
    """How often to have a truncated answer continued."""

    @classmethod
    def for_agent(cls, config: ReActAgentConfig, plugins: Sequence[object]) -> Self | None:
        return cls() if safe_handling(config) else cls(empty_replies=0, continuations=0)

    @hookimpl
    @late(when=needs_more)
    async def react_model_call(self, run: Run, iteration: Iteration, proceed: Proceed) -> ModelResponse:
        response = await proceed()
        if response.finish_reason not in REFUSALS:
            if is_empty(response) or await called_in_text(run, response.message):
                response = await self._ask_again(run, iteration, proceed, response)
            elif response.finish_reason == "length":
                response = await self._continue(run, iteration, proceed, response)
        if response.finish_reason in REFUSALS and run.outcome.stop_reason is None:
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
            written = not is_empty(response)
            what = "a call written as text" if written else "empty reply"
            run.note(self.guard, f"{what}: asked again" + (" without tools" if without_tools else ""))
            questions = (NO_CALL, NO_CALL_AGAIN) if written else (EMPTY, EMPTY_AGAIN)
            if written:
                run.messages.append(response.message)
            run.messages.append(Message(role="user", content=questions[again > 1]))
            request = replace(iteration.request, messages=MessageView(run.messages))
            iteration.request = replace(request, tools=(), tool_choice=None) if without_tools else request
            await iteration.withdraw()
            response = await proceed()
            if without_tools and response.message.tool_requests:
                response = replace(response, message=Message(role="assistant", content=response.message.content))
            if run.outcome.stop_reason is not None or response.finish_reason in REFUSALS:
                return response
            if not is_empty(response) and not await called_in_text(run, response.message):
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
            so_far = [Message(role="assistant", content=response.message.text), Message(role="user", content=CONTINUE)]
            choice: ToolChoice | None = "none" if asked.tools else None
            iteration.request = replace(asked, messages=[*asked.messages, *so_far], tool_choice=choice)
            run.outcome.unverified_answer = response.text  # in case something ends the run before the rest arrives
            more = await proceed()
            if not shown:  # the first part was withdrawn, and the rest is not an answer by itself
                await iteration.withdraw()
            if run.outcome.stop_reason is not None:
                break
            run.outcome.unverified_answer = None
            if more.message.tool_requests:  # no continuation: the first part stays truncated
                response = replace(response, usage=response.usage + more.usage)
                break
            message = replace(response.message, content=response.message.text + more.message.text)
            usage = response.usage + more.usage
            response = replace(more, message=message, usage=usage, finish_reason=more.finish_reason)
        iteration.request = asked
        return response


def is_empty(response: ModelResponse) -> bool:
    """Whether a reply has neither text nor calls; reasoning alone is not text."""
    return not response.message.tool_requests and not response.text.strip()


def _may_be_a_call(text: str) -> bool:
    return _MARKUP.match(text) is not None and text[-1] in "]})>`"


async def called_in_text(run: Run, message: Message) -> bool:
    """Whether a reply is just the markup of a call to an existing tool, which the server should have parsed (S3).

    JSON that the agent was told to answer with is not a call.
    """
    text = message.said.strip()
    if message.tool_requests or not _may_be_a_call(text):
        return False  # the usual case
    if text[0] in "<[" and not text.startswith("[{"):
        return any(re.search(rf"\b{re.escape(name)}\b", text) for name in run.all_tools)
    source = fence[1] if (fence := _FENCED.fullmatch(text)) is not None else text
    try:
        json.loads(source)
    except (ValueError, RecursionError):
        return False
    from react_run.models.text_calls import read_calls

    found = read_calls(source, run.all_tools).calls
    if not found or not all(call.name in run.all_tools for call in found):
        return False
    forms = [check for check in run.agent.config.checks if check.kind == "json_schema"]
    return not forms or not all([(await check.check(run, message.said)).accepted for check in forms])
