"""The loop: think, call tools, observe, repeat until the model answers.

It is the last plugin of every agent, and hooks are its only interface. Everything that judges, limits, repairs or
remembers is a plugin around it.
"""

from __future__ import annotations

import asyncio

from react_run.engine.drafts import give_up_unused, stream
from react_run.engine.events import check_cancelled
from react_run.engine.execution import execute
from react_run.engine.iteration import (
    call_model,
    names_of,
    new_request,
    number_request,
    prepare,
    record,
    run_calls,
    settle,
)
from react_run.engine.state import EngineState
from react_run.engine.usage import priced, spend
from react_run.engine.workers import OutOfTime, ask_one
from react_run.engine.worst_case import spend_failed, worst_case
from react_run.errors import ModelError
from react_run.hooks import Implementation, notify
from react_run.hookspecs import hookimpl
from react_run.layers import ask
from react_run.messages import Message, MessageView, ModelResponse, Usage
from react_run.models.base import checked_response
from react_run.outcome import Observation, Verdict
from react_run.run import Iteration, Run, RunResult, StopReason, ToolCall
from react_run.support.render import render

MAX_ITERATIONS_REACHED = "Maximum iterations reached before the model gave an answer."
NOT_ACCEPTED = "This answer is not accepted, and no reason was given. Look at the task again, and give a new answer."


class Loop:
    """The built-in behaviour: what happens when no plugin answers first."""

    @hookimpl(trylast=True)
    async def react_run(self, run: Run) -> RunResult:
        while run.outcome.stop_reason is None:
            if len(run.iterations) >= run.max_iterations:
                run.stop(StopReason.MAX_ITERATIONS, MAX_ITERATIONS_REACHED)  # L2
                break
            await iterate(run)
        await give_up_unused(run)
        return run.result()

    @hookimpl(trylast=True)
    async def react_iteration(self, run: Run, iteration: Iteration) -> Iteration:
        if iteration.response is not None:  # a plugin repeats it
            if run.outcome.stop_reason is not None:
                return iteration
            iteration.again(MessageView(run.messages))
        response = await call_model(run, iteration)
        if run.outcome.stop_reason is not None:
            return iteration
        prepare(run, iteration, response)
        try:
            if iteration.calls:
                await run_calls(run, iteration)
                await settle(run, iteration)
        finally:
            record(run, iteration)
        if not iteration.calls:
            await propose(run, iteration, response)  # L1
        return iteration

    @hookimpl(trylast=True)
    async def react_model_call(self, run: Run, iteration: Iteration) -> ModelResponse:
        state = run.state(EngineState)
        request = number_request(iteration, state)
        iteration.offered = frozenset() if request.tool_choice == "none" else names_of(request.tools)
        try:
            if state.hooks.react_text_delta:
                response = await stream(run, iteration)
            else:
                response = checked_response(await run.agent.model.complete(request), run.agent.model)
        except ModelError as error:
            spend_failed(run, request, error)  # H3
            raise
        except asyncio.CancelledError:
            spend(run, Usage(), worst_case(run, request))
            raise
        response = priced(run, response)
        spend(run, response.usage)  # L8
        state.model_name, state.input_tokens = response.model or run.agent.model.name, response.usage.input_tokens
        return response

    @hookimpl(trylast=True)
    async def react_tool_call(self, run: Run, call: ToolCall) -> Observation:
        return await execute(call)


async def iterate(run: Run) -> None:
    """One iteration, with its events."""
    check_cancelled(run)
    hooks = run.state(EngineState).hooks
    iteration = Iteration(run, number=len(run.iterations) + 1, request=new_request(run))
    run.iterations.append(iteration)
    if hooks.react_iteration_started:
        await notify(hooks.react_iteration_started, run, iteration)
    await ask(hooks.react_iteration, run, iteration)
    if iteration.skipped:
        run.iterations.remove(iteration)  # an iteration is one model call, and this one was not made (L2)
    if hooks.react_iteration_finished:
        await notify(hooks.react_iteration_finished, run, iteration)


async def propose(run: Run, iteration: Iteration, response: ModelResponse) -> None:
    """Check an answer; the feedback of a refusal goes back to the model verbatim (G3)."""
    refusals = []
    checks = run.state(EngineState).hooks.react_check_answer
    if checks:
        verdicts = [await _verdict(run, impl, response.text) for impl in checks]
        refusals = [verdict for verdict in verdicts if verdict is not None and not verdict.accepted]
    if not refusals:
        cut = response.finish_reason == "length"  # S5: kept, but not a success
        return run.stop(StopReason.OUTPUT_LIMIT if cut else StopReason.COMPLETED, response.text)
    feedback = "\n\n".join(verdict.feedback for verdict in refusals)
    iteration.feedback = render(feedback if feedback.strip() else NOT_ACCEPTED)
    iteration.final = any(verdict.final for verdict in refusals)
    run.messages.append(Message(role="user", content=iteration.feedback))
    await iteration.withdraw()
    return None


async def _verdict(run: Run, impl: Implementation, answer: str) -> Verdict | None:
    try:
        return await ask_one(impl, run, answer)  # type: ignore[no-any-return]  # its type was checked
    except OutOfTime as error:
        text = f"The check {impl.plugin_name} could not be carried out, so nothing is accepted: {error}"
        run.note("check_failed", text)
        return Verdict(accepted=False, feedback=text, final=True)
