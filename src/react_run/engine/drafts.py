"""Streams replies: the draft is passed on, and withdrawn if it does not become the reply (L10)."""

from __future__ import annotations

from react_run.engine.iteration import for_model
from react_run.engine.state import EngineState
from react_run.errors import ModelError
from react_run.hooks import notify
from react_run.messages import ModelResponse, TextDelta
from react_run.models.base import checked_response, streaming
from react_run.run import Iteration, Run
from react_run.support.visible_draft import VisibleDraft


async def stream(run: Run, iteration: Iteration) -> ModelResponse:
    """Stream the answer to the request and pass on the draft; withdraw the draft if it fails."""
    response: ModelResponse | None = None
    draft = VisibleDraft()
    try:
        async with streaming(run.agent.model, for_model(iteration)) as items:
            async for item in items:
                if isinstance(item, TextDelta):
                    await _show(run, iteration, *draft.feed(item.text))
                else:
                    response = item
        if response is None:
            problem = f"{run.agent.model.name} ended its stream without a response"
            raise ModelError(problem, code="incomplete", retryable=True)  # A5b
        response = checked_response(response, run.agent.model)
        await _show(run, iteration, *draft.end())
    except BaseException:
        await withdraw(iteration)
        raise
    if response.message.tool_requests:
        await withdraw(iteration)
    return response


async def withdraw(iteration: Iteration) -> None:
    """Withdraw the draft that was streamed in ``iteration``, if there is one."""
    if iteration.drafted:
        iteration.drafted = False
        run = iteration.run
        await notify(run.state(EngineState).hooks.react_text_discarded, run, iteration)


async def _show(run: Run, iteration: Iteration, was_thinking: bool, text: str) -> None:
    if was_thinking:
        await withdraw(iteration)
    if text:
        iteration.drafted = True
        await notify(run.state(EngineState).hooks.react_text_delta, run, iteration, text)


async def give_up_unused(run: Run) -> None:
    """Withdraw the last draft if something else became the answer, for example because a plugin ended the run (L10)."""
    for iteration in run.iterations[-1:]:
        if iteration.drafted and (iteration.response is None or iteration.response.text != run.outcome.answer):
            await withdraw(iteration)
