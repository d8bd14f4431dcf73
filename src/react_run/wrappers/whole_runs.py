"""Adapts wrappers at the loop level: around the whole run, including its policies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from react_run.chat import ChatCompletionRequest, ChatCompletionResponse
from react_run.engine.iteration import new_request
from react_run.errors import ModelError
from react_run.hookspecs import hookimpl
from react_run.models.stored import message_from_dict
from react_run.results import RunResult, StopReason
from react_run.wrappers.bases import RequestPreprocessor, ResponsePostprocessor
from react_run.wrappers.calling import Adapter
from react_run.wrappers.model_calls import postprocessed, preprocessed
from react_run.wrappers.shapes import Shapes

if TYPE_CHECKING:
    from react_run.messages import ModelRequest
    from react_run.run import Iteration, Run

Proceed = Callable[[], Awaitable[RunResult]]


class RunOverrides:
    """The changes by a run's preprocessors that apply to all its model calls."""

    def __init__(self) -> None:
        self.prompt: ChatCompletionRequest | None = None
        self.settings: Mapping[str, object] = {}
        self.withdrawn: set[str] = set()


class ApplyRunOverrides:
    """A plugin that applies the preprocessors' changes to each model call."""

    kind: ClassVar[str] = "wrapper_settings"

    @hookimpl(tryfirst=True)
    def react_model_call(self, run: Run, iteration: Iteration) -> None:
        standing, request = run.state(RunOverrides), iteration.request
        if standing.settings:
            request = replace(request, settings={**standing.settings, **request.settings})
        if standing.withdrawn:
            request = replace(request, tools=tuple(t for t in request.tools if t.name not in standing.withdrawn))
        iteration.request = request


class AroundRun(Adapter):
    """A plugin that applies a preprocessor, a postprocessor, or a wrapper that is both, to each run.

    It is outside the policies, so that it sees how a run ended, whatever ended it.
    """

    def __init__(self, before: RequestPreprocessor | None, after: ResponsePostprocessor | None) -> None:
        super().__init__(before or after)
        self.before, self.after = before, after

    @hookimpl(tryfirst=True)
    async def react_run(self, run: Run, proceed: Proceed) -> RunResult:
        shapes, standing = run.state(Shapes), run.state(RunOverrides)
        given = replace(new_request(run), settings=standing.settings)
        standing.prompt = shapes.of_request(given, run.agent.model)
        if self.before is not None:
            standing.prompt = await preprocessed(self.before, run, standing.prompt)
            _take_over(run, shapes.taken_request(standing.prompt, given), given)
        try:
            result = await proceed()
        except Exception as error:
            if self.after is not None:
                await self._after(self.after, run, _failed(run, error), error)
            raise
        return result if self.after is None else await self._after(self.after, run, result)

    async def _after(
        self, wrapper: ResponsePostprocessor, run: Run, result: RunResult, error: Exception | None = None
    ) -> RunResult:
        response = result.response
        fields = response.choices[0].provider_specific_fields
        if error is not None and fields is not None:
            fields["error"] = str(error)
        prompt = run.state(RunOverrides).prompt
        assert prompt is not None  # set before the run
        text = _text_of(await postprocessed(wrapper, run, prompt, response))
        return result if text == result.answer else await _answered(run, result, text)


def _take_over(run: Run, request: ModelRequest, given: ModelRequest) -> None:
    """Apply the preprocessed request to the start of ``run``."""
    if request is given:
        return
    standing = run.state(RunOverrides)
    standing.settings = request.settings
    if request.messages is not given.messages:
        run.messages = list(request.messages)
    standing.withdrawn |= {tool.name for tool in given.tools} - {tool.name for tool in request.tools}
    run.offered_tools = request.tools
    for name in standing.withdrawn:
        run.all_tools.pop(name, None)


def _failed(run: Run, error: Exception) -> RunResult:
    """The result of a run that ends with ``error``."""
    if isinstance(error, ModelError):
        run.stop(StopReason.MODEL_ERROR)
    result = run.result()
    return result if run.outcome.stop_reason is not None else replace(result, stop_reason="error")


def _text_of(response: ChatCompletionResponse) -> str:
    return message_from_dict(response.choices[0].message.model_dump(exclude_none=True)).text


async def _answered(run: Run, result: RunResult, text: str) -> RunResult:
    """``result`` with another answer, which also replaces the one in the conversation."""
    last = run.messages[-1] if run.messages else None
    if last is not None and last.role == "assistant" and last.text == result.answer:
        run.messages[-1] = replace(last, content=text)
    run.outcome.answer = text
    if run.iterations:
        await run.iterations[-1].withdraw()
    return replace(result, answer=text, success=result.success and bool(text.strip()))
