"""A :class:`ToolCallWrapper` as a plugin: around each tool call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from inspect import isawaitable
from typing import TYPE_CHECKING

from pydantic import BaseModel

from react_run.execution import describe, interpret
from react_run.hookspecs import hookimpl
from react_run.outcome import Observation
from react_run.render import render
from react_run.wrappers.bases import ToolCallResult, ToolCallWrapper, ToolSkipResult
from react_run.wrappers.calling import Adapter, wrong
from react_run.wrappers.outbox import Outbox
from react_run.wrappers.tool_input import Inputs, fields_of

if TYPE_CHECKING:
    from react_run.run import Run, ToolCall

Proceed = Callable[[], Awaitable[Observation]]


class AroundToolCall(Adapter):
    """The plugin that asks one wrapper about each tool call."""

    wrapper: ToolCallWrapper

    @hookimpl
    async def react_tool_call(self, run: Run, call: ToolCall, proceed: Proceed) -> Observation:
        inputs = run.state(Inputs)
        outermost = call not in inputs
        given = inputs.of(call)
        if given is None:
            return await proceed()
        try:
            return await self._around(run, call, proceed, given, inputs)
        finally:
            if outermost:
                inputs.forget(call)

    async def _around(
        self, run: Run, call: ToolCall, proceed: Proceed, given: BaseModel, inputs: Inputs
    ) -> Observation:
        wrapper, agent, name = self.wrapper, run.agent, call.name
        before = fields_of(given)
        made = wrapper.preprocess(agent, run, name, given)
        if isawaitable(made):
            made = await made
        if isinstance(made, ToolSkipResult):
            assert call.tool is not None  # there are arguments
            return interpret(call, call.tool, made.output)
        if not isinstance(made, BaseModel):
            raise wrong(wrapper, "preprocess", made, "the tool's input or a ToolSkipResult")
        if fields_of(made) != before:
            inputs.change(call, made, before)
        observation = await proceed()
        if call.error is not None and observation.failed:
            observation = await self._on_error(run, call, made, observation, call.error)
        done = wrapper.postprocess(agent, run, name, made, observation.content)
        if isawaitable(done):
            done = await done
        if done is None:
            return observation
        if not isinstance(done, ToolCallResult):
            raise wrong(wrapper, "postprocess", done, "a ToolCallResult, or None")
        if done.messages:
            run.state(Outbox).put(done.messages, call.position)
        return observation if done.output == observation.content else _replaced(call, observation, done.output)

    async def _on_error(
        self, run: Run, call: ToolCall, given: BaseModel, observation: Observation, error: BaseException
    ) -> Observation:
        answer = self.wrapper.on_error(run.agent, run, call.name, given, error)
        if isawaitable(answer):
            answer = await answer
        if answer is None:
            return observation
        assert call.tool is not None  # as above
        call.error = None
        run.note(self.kind, f"{call.name}: handled {describe(error)}")
        return interpret(call, call.tool, answer)


def _replaced(call: ToolCall, observation: Observation, output: object) -> Observation:
    """``observation`` with another text, which its toolset gets to interpret when it stands for a result."""
    assert call.tool is not None  # it has passed a wrapper
    outcome = observation.outcome
    if call.error is None and (call.executed or not observation.failed):
        outcome = interpret(call, call.tool, output).outcome or outcome
    return replace(observation, content=render(output), outcome=outcome, raw=None)
