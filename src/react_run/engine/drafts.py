"""Replies that are read as they come: the draft is handed on, and withdrawn when nothing comes of it (L10)."""

from __future__ import annotations

from react_run.errors import ModelError
from react_run.hooks import notify
from react_run.messages import ModelResponse, TextDelta
from react_run.models.base import checked_response, streaming
from react_run.run import Iteration, Run
from react_run.thinking import VisibleDraft


async def stream(run: Run, iteration: Iteration) -> ModelResponse:
    """Have the request answered as a stream, handing on the draft; a draft that comes to nothing is withdrawn."""
    response: ModelResponse | None = None
    draft = VisibleDraft()
    try:
        async with streaming(run.agent.model, iteration.request) as items:
            async for item in items:
                if isinstance(item, TextDelta):
                    await _show(run, iteration, *draft.feed(item.text))
                else:
                    response = item
        if response is None:
            problem = f"{run.agent.model.name} ended its stream without a response"
            raise ModelError(problem, code="incomplete", retryable=True)  # A5b
        response = checked_response(response, run.agent.model.name)
        await _show(run, iteration, *draft.end())
    except BaseException:
        await run.withdraw(iteration)
        raise
    if response.message.tool_requests:
        await run.withdraw(iteration)
    return response


async def _show(run: Run, iteration: Iteration, was_thinking: bool, text: str) -> None:
    if was_thinking:
        await run.withdraw(iteration)
    if text:
        iteration.drafted = True
        await notify(run.hooks.react_text_delta, run, iteration, text)


async def give_up_unused(run: Run) -> None:
    """Withdraw the last draft when something else became the answer, as when a plugin ended the run (L10)."""
    for iteration in run.iterations[-1:]:
        if iteration.drafted and (iteration.response is None or iteration.response.text != run.answer):
            await run.withdraw(iteration)
