"""The loop: think, call tools, observe, repeat until the model answers.

It is the last plugin of every agent, and has no other door than the hooks. Everything that judges, limits, repairs or
remembers is a plugin around it.
"""

from __future__ import annotations

import asyncio
from functools import lru_cache
from typing import TYPE_CHECKING

from react_run.engine.drafts import give_up_unused, stream
from react_run.engine.iteration import judge, perform
from react_run.engine.workers import OutOfTime, ask_one
from react_run.errors import ModelError
from react_run.hooks import Implementation, ask, notify
from react_run.hookspecs import hookimpl
from react_run.messages import Message, MessageView, ModelResponse, Usage
from react_run.models.base import checked_response
from react_run.outcome import Observation, Verdict
from react_run.run import Iteration, Run, RunResult, StopReason, ToolCall, with_request
from react_run.support.render import render

if TYPE_CHECKING:
    from react_run.messages import ModelRequest
    from react_run.tools.tool import Tool

MAX_ITERATIONS_REACHED = "Maximum iterations reached before the model gave an answer."
NOT_ACCEPTED = "This answer is not accepted, and no reason was given. Look at the task again, and answer anew."
_NOTHING_GENERATED = frozenset({"auth", "quota", "context_overflow", "invalid_request", "not_found", "no_tools"})
LONGEST_REPLY = 4_096
"""Tokens that a reply is taken to have had when neither its length nor a limit is known."""
_FAILED_CALL = Usage(input_tokens=0, output_tokens=0, cost=0.0)


class Loop:
    """The built-in behaviour: what happens when no plugin answers first."""

    @hookimpl(trylast=True)
    async def react_run(self, run: Run) -> RunResult:
        while run.stop_reason is None:
            if len(run.iterations) >= run.max_iterations:
                run.stop(StopReason.MAX_ITERATIONS, MAX_ITERATIONS_REACHED)  # L2
                break
            await iterate(run)
        await give_up_unused(run)
        return run.result()

    @hookimpl(trylast=True)
    async def react_iteration(self, run: Run, iteration: Iteration) -> Iteration:
        if iteration.response is not None:  # a plugin has it done once more
            if run.stop_reason is not None:
                return iteration
            iteration.again(MessageView(run.messages))
        response = await run.call_model(iteration)
        if run.stop_reason is not None:
            return iteration
        run.prepare(iteration, response)
        try:
            if iteration.calls:
                await perform(run, iteration)
                await judge(run, iteration)
        finally:
            run.record(iteration)
        if not iteration.calls:
            await propose(run, iteration, response)  # L1
        return iteration

    @hookimpl(trylast=True)
    async def react_model_call(self, run: Run, iteration: Iteration) -> ModelResponse:
        run.model_calls += 1
        request = with_request(iteration, run.model_calls)
        iteration.offered = frozenset() if request.tool_choice == "none" else _names_of(request.tools)
        try:
            if run.hooks.react_text_delta:
                response = await stream(run, iteration)
            else:
                response = checked_response(await run.agent.model.complete(request), run.agent.model.name)
        except ModelError as error:
            if error.status is not None or not error.reached or error.code in _NOTHING_GENERATED:
                run.spend(_FAILED_CALL)  # H3: refused, or never reached: it used nothing
            else:
                run.spend(Usage(), worst_case(run, request))
            raise
        except asyncio.CancelledError:
            run.spend(Usage(), worst_case(run, request))
            raise
        response = run.priced(response)
        run.spend(response.usage)  # L8
        run.model_name = response.model or run.agent.model.name
        return response

    @hookimpl(trylast=True)
    async def react_tool_call(self, run: Run, call: ToolCall) -> Observation:
        return await call.execute()


async def iterate(run: Run) -> None:
    """One iteration, with its events."""
    run.check_cancelled()
    iteration = Iteration(number=len(run.iterations) + 1, request=run.request())
    run.iterations.append(iteration)
    if run.hooks.react_iteration_started:
        await notify(run.hooks.react_iteration_started, run, iteration)
    await ask(run.hooks.react_iteration, run, iteration)
    if run.hooks.react_iteration_finished:
        await notify(run.hooks.react_iteration_finished, run, iteration)


async def propose(run: Run, iteration: Iteration, response: ModelResponse) -> None:
    """Have an answer checked; a refusal goes back to the model verbatim (G3)."""
    refusals = []
    if run.hooks.react_check_answer:
        verdicts = [await _verdict(run, impl, response.text) for impl in run.hooks.react_check_answer]
        refusals = [verdict for verdict in verdicts if verdict is not None and not verdict.accepted]
    if not refusals:
        cut = response.finish_reason == "length"  # S5: kept, and no success
        return run.stop(StopReason.OUTPUT_LIMIT if cut else StopReason.COMPLETED, response.text)
    feedback = "\n\n".join(verdict.feedback for verdict in refusals)
    iteration.feedback = render(feedback if feedback.strip() else NOT_ACCEPTED)
    iteration.final = any(verdict.final for verdict in refusals)
    run.messages.append(Message(role="user", content=iteration.feedback))
    await run.withdraw(iteration)
    return None


async def _verdict(run: Run, impl: Implementation, answer: str) -> Verdict | None:
    try:
        return await ask_one(impl, run, answer)  # type: ignore[no-any-return]  # its type was checked
    except OutOfTime as error:
        text = f"The check {impl.plugin_name} could not be carried out, so nothing is accepted: {error}"
        run.note("check_failed", text)
        return Verdict(accepted=False, feedback=text, final=True)


@lru_cache(maxsize=256)
def _names_of(tools: tuple[Tool, ...]) -> frozenset[str]:
    return frozenset(tool.name for tool in tools)


def worst_case(run: Run, request: ModelRequest) -> Usage:
    """The most that a model call can have used when nobody knows: the request, and as long a reply as was allowed."""
    from react_run.models.prices import cost_of
    from react_run.policies.context import Gauge

    asked = round(Gauge().measure(request))
    limit = request.settings.get("max_tokens", getattr(run.agent.model, "max_tokens", None))
    most = limit if isinstance(limit, int) else LONGEST_REPLY
    usage = Usage(input_tokens=asked, output_tokens=most, cost=None)
    cost = run.price(run.agent.model.name, usage) if run.price is not None else None
    if cost is None:
        cost = cost_of(run.agent.model.name, usage)
    return Usage(input_tokens=asked, output_tokens=most, cost=cost or 0.0)
