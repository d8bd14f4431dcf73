"""Adapts wrappers at the iteration level: around each model call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from react_run.chat import ChatCompletionRequest, ChatCompletionResponse
from react_run.hookspecs import hookimpl
from react_run.messages import ModelResponse
from react_run.wrappers.bases import RequestPreprocessor, ResponsePostprocessor
from react_run.wrappers.calling import Adapter, awaited, wrong
from react_run.wrappers.outbox import Outbox
from react_run.wrappers.shapes import Shapes

if TYPE_CHECKING:
    from react_run.run import Iteration, Run

Proceed = Callable[[], Awaitable[ModelResponse]]


class AroundModelCall(Adapter):
    """A plugin that applies a preprocessor, a postprocessor, or a wrapper that is both, to each model call.

    Outer layers see the unchanged request, so if they repeat the call, it is preprocessed again, but not twice.
    """

    def __init__(self, before: RequestPreprocessor | None, after: ResponsePostprocessor | None) -> None:
        super().__init__(before or after)
        self.before, self.after = before, after

    @hookimpl
    async def react_model_call(self, run: Run, iteration: Iteration, proceed: Proceed) -> ModelResponse:
        shapes = run.state(Shapes)
        given = iteration.request
        try:
            shapes.prompt = shapes.of_request(given, run.agent.model)
            if self.before is not None:
                shapes.prompt = await preprocessed(self.before, run, shapes.prompt)
                iteration.request = shapes.taken_request(shapes.prompt, given)
            response = await proceed()
        finally:
            iteration.request = given
        return response if self.after is None else await self._after(self.after, run, iteration, response)

    async def _after(
        self, wrapper: ResponsePostprocessor, run: Run, iteration: Iteration, response: ModelResponse
    ) -> ModelResponse:
        shapes = run.state(Shapes)
        assert shapes.prompt is not None  # set before there was a response
        chat = await postprocessed(wrapper, run, shapes.prompt, shapes.of_response(response))
        taken = shapes.taken_response(chat, response)
        if taken.text != response.text:
            await iteration.withdraw()
        return taken


async def preprocessed(wrapper: RequestPreprocessor, run: Run, chat: ChatCompletionRequest) -> ChatCompletionRequest:
    """The request that ``wrapper`` returns."""
    made = await awaited(wrapper.preprocess(run.agent, run, chat, run.agent.model))
    if not isinstance(made, ChatCompletionRequest):
        raise wrong(wrapper, "preprocess", made, "the request")
    return made


async def postprocessed(
    wrapper: ResponsePostprocessor, run: Run, prompt: ChatCompletionRequest, chat: ChatCompletionResponse
) -> ChatCompletionResponse:
    """The response that ``wrapper`` returns for ``prompt``; its additional messages go to the outbox."""
    own = chat.model_copy(deep=True)  # changes in place take effect only if it is returned
    made = await awaited(wrapper.postprocess(run.agent, run, prompt, own, run.agent.model))
    if made is None:
        return chat
    if isinstance(made, ChatCompletionResponse):
        return made
    if not isinstance(made, (list, tuple)):
        raise wrong(wrapper, "postprocess", made, "a response, a list of messages, or None")
    run.state(Outbox).put(made)
    return chat
