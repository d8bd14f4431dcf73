"""Adapts a :class:`ToolCallWrapper`: around each tool call."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from react_run.engine.execution import describe_error, interpret_output
from react_run.hookspecs import hookimpl
from react_run.outcome import Disposition, Observation, ToolError
from react_run.support.render import render
from react_run.wrappers.bases import ToolCallResult, ToolCallWrapper, ToolSkipResult
from react_run.wrappers.calling import Adapter, awaited, wrong
from react_run.wrappers.outbox import Outbox
from react_run.wrappers.tool_input import Input, Inputs

if TYPE_CHECKING:
    from react_run.run import Run, ToolCall
    from react_run.tools.tool import Tool

Proceed = Callable[[], Awaitable[Observation]]


class AroundToolCall(Adapter):
    """A plugin that applies one wrapper to each tool call."""

    wrapper: ToolCallWrapper

    @cached_property
    def _wants_failures(self) -> bool:
        """Whether the postprocessor has a parameter ``failed``, and so gets refusals and failures, too."""
        return "failed" in inspect.signature(self.wrapper.postprocess).parameters

    @hookimpl
    async def react_tool_call(self, run: Run, call: ToolCall, proceed: Proceed) -> Observation:
        inputs = run.state(Inputs)
        known = inputs.known.get(call)
        given = known if known is not None and known.arguments == call.arguments else inputs.enter(call)
        if given is None:
            return await proceed()
        try:
            before, model = given.snapshot(), given.model
            returned = self.wrapper.preprocess(run.agent, run, call.name, model)
            if returned is not model:  # usually it is unchanged, which is fast
                made: BaseModel | ToolSkipResult = await awaited(returned)
                if isinstance(made, ToolSkipResult):
                    return await call.refusal() or interpret_output(call, given.tool, made.output)
                if not isinstance(made, BaseModel):
                    raise wrong(self.wrapper, "preprocess", made, "the tool's input or a ToolSkipResult")
                model = made
            if model is not given.model or given.snapshot() != before:
                given = inputs.change(call, given, model)
            return await self._after(run, call, given, await proceed())
        finally:
            if known is None:
                inputs.known.pop(call, None)

    async def _after(self, run: Run, call: ToolCall, given: Input, observation: Observation) -> Observation:
        if call.error is not None and observation.failed:
            observation = await self._on_error(run, call, given, observation, call.error)
        told: dict[str, Any] = {"failed": observation.failed} if self._wants_failures else {}
        if (observation.failed or call.repeated) and not told:
            return observation  # refusals, failures and repeated results are not new results
        returned = self.wrapper.postprocess(run.agent, run, call.name, given.model, observation.content, **told)
        done: ToolCallResult | None = returned if isinstance(returned, ToolCallResult) else await awaited(returned)
        if done is None:
            return observation
        if not isinstance(done, ToolCallResult):
            raise wrong(self.wrapper, "postprocess", done, "a ToolCallResult, or None")
        if done.messages:
            run.state(Outbox).put(done.messages, call.position)
        if done.output == observation.content:
            return observation
        return _replaced(call, given.tool, observation, done.output)

    async def _on_error(
        self, run: Run, call: ToolCall, given: Input, observation: Observation, error: BaseException
    ) -> Observation:
        if isinstance(error, ToolError) and error.disposition is not Disposition.RETRYABLE_ERROR:
            return observation  # the tool's own verdict: a question, an end, or nothing found
        answer = await awaited(self.wrapper.on_error(run.agent, run, call.name, given.model, error))
        if answer is None:
            return observation
        call.error = None
        run.note(self.kind, f"{call.name}: handled {describe_error(error)}")
        return interpret_output(call, given.tool, answer)


def _replaced(call: ToolCall, tool: Tool, observation: Observation, output: object) -> Observation:
    """Replace the text of ``observation``; if it is a result, its toolset interprets the new text."""
    outcome = observation.outcome
    if call.error is None and (call.executed or not observation.failed):
        outcome = interpret_output(call, tool, output).outcome or outcome
    return replace(observation, content=render(output), outcome=outcome, raw=None)
