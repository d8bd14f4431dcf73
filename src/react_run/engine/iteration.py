"""Carries out an iteration: the request, the reply, its calls, their judgement by plugins, and the history.

:mod:`react_run.loop` calls these functions in the order in which they appear here.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from time import perf_counter, time
from typing import TYPE_CHECKING

from react_run.engine.concurrency import gather_ordered
from react_run.engine.current import handled
from react_run.engine.execution import interpreter, refused
from react_run.engine.sensors import sense
from react_run.engine.standing import Standing
from react_run.engine.state import EngineState
from react_run.hooks import ask_all, notify
from react_run.layers import ask
from react_run.messages import (
    Message,
    MessageList,
    MessageView,
    ModelRequest,
    ModelResponse,
    ToolChoice,
    ToolRequest,
    content_with,
)
from react_run.outcome import Observation
from react_run.results import ReActStep
from react_run.run import Iteration, Run, ToolCall
from react_run.support.maker import maker
from react_run.support.render import escape
from react_run.tools.arguments.preparation import Prepared
from react_run.tools.naming import valid_tool_name
from react_run.tools.request_ids import numbered_id

if TYPE_CHECKING:
    from react_run.tools.tool import Tool

CUT_OFF = "this call was cut off by the output token limit and did not run. Send it again, shorter or in parts."
NOT_OFFERED = "{tool} did not run: it is not offered now. Use the tools that are offered, or answer without them."
CANCELLED = "the run was interrupted before this call finished"
NOT_STARTED = "the run was interrupted before this call was started."
_DRESSED = re.compile(
    r"\s*(?:(?:functions?|tools?|default_api|namespace)[.:/])?([\w.-]+?)(?::\d+|\(\))?\s*(?:<\|.*)?", re.DOTALL
)
_MOST_LISTS = 256
_request, _message, _step = maker(ModelRequest), maker(Message), maker(ReActStep)

# -- the request and its reply ----------------------------------------------------------------------------------------


def new_request(
    run: Run, *, tools: tuple[Tool, ...] | None = None, tool_choice: ToolChoice | None = None
) -> ModelRequest:
    """A request over the conversation so far, offering ``tools`` (default: what the run offers now)."""
    state = run.state(EngineState)
    if type(run.messages) is not MessageList:  # a list of a plugin's own, or the first
        run.messages = MessageList(run.messages)
    return _request(
        messages=MessageView(run.messages),
        tools=run.offered_tools if tools is None else tools,
        tool_choice=tool_choice,
        settings=state.settings,
        run_id=run.id,
        call=state.model_calls + 1,
        output_schema=state.output_schema,
    )


async def call_model(run: Run, iteration: Iteration) -> ModelResponse:
    """Get the answer to ``iteration.request`` through the ``react_model_call`` layer."""
    hooks = run.state(EngineState).hooks
    if hooks.react_model_call_started:
        await notify(hooks.react_model_call_started, run, iteration)
    response: ModelResponse = await ask(hooks.react_model_call, run, iteration)
    iteration.response = response
    if hooks.react_model_call_finished:
        await notify(hooks.react_model_call_finished, run, iteration, response)
    return response


def number_request(iteration: Iteration, state: EngineState) -> ModelRequest:
    """Return ``iteration.request`` numbered as the next model call of the run, in a form that the model can read."""
    state.model_calls += 1
    if iteration.request.call != state.model_calls:
        iteration.request = replace(iteration.request, call=state.model_calls)
    return for_model(iteration) if state.carries_parts else iteration.request


def for_model(iteration: Iteration) -> ModelRequest:
    """Return ``iteration.request`` with notes in place of attachments that the model cannot read."""
    run = iteration.run
    if not run.state(EngineState).carries_parts:
        return iteration.request
    from react_run.models.wire_parts import readable

    return readable(iteration.request, run.agent.model)


_names: dict[int, tuple[tuple[Tool, ...], frozenset[str]]] = {}
"""Lists of tools by their identity, each with its names: hashing ten thousand tools takes longer than an iteration."""


def names_of(tools: tuple[Tool, ...]) -> frozenset[str]:
    """The names of the tools that a request offers."""
    known = _names.get(id(tools))
    if known is None or known[0] is not tools:
        if len(_names) >= _MOST_LISTS:
            _names.clear()
        known = _names[id(tools)] = tools, frozenset(tool.name for tool in tools)
    return known[1]


# -- the calls that the reply requests --------------------------------------------------------------------------------


def prepare(run: Run, iteration: Iteration, response: ModelResponse) -> None:
    """Turn the requests of a reply into calls (behaviours A5, A5b, A6)."""
    asked = response.message.tool_requests
    if not asked:
        return
    cut = response.finish_reason == "length"
    requests = _with_own_ids(run, _undressed(run, asked))
    if requests is not asked:
        iteration.response = replace(response, message=replace(response.message, tool_requests=requests))
    for position, request in enumerate(requests):
        tool = run.all_tools.get(request.name)
        if cut:
            prepared = Prepared(arguments={}, problem=CUT_OFF, code="cut_off")
        elif tool is None:
            names = [tool.name for tool in run.offered_tools]
            prepared = Prepared(arguments={}, problem=unknown_tool(request.name, names), code="unknown_tool")
        else:
            prepared = tool.prepare(request.arguments)
            if iteration.offered is not None and request.name not in iteration.offered:
                problem = NOT_OFFERED.format(tool=request.name)
                prepared = replace(prepared, problem=problem, code="tool_not_disclosed")
        refusal = refused(prepared.problem, code=prepared.code) if prepared.problem else None
        call = ToolCall(run, request, tool, prepared, prepared.own_arguments(), refusal, position)
        call.opaque = tool is None or interpreter(tool) is None
        iteration.calls.append(call)


def _undressed(run: Run, requests: tuple[ToolRequest, ...]) -> tuple[ToolRequest, ...]:
    """Correct tool names in ``requests`` if the model put blanks, a prefix or punctuation around them."""
    for request in requests:
        if request.name not in run.all_tools:
            return tuple(_meant(run, request) for request in requests)
    return requests  # the usual case


def _meant(run: Run, request: ToolRequest) -> ToolRequest:
    dressed = _DRESSED.fullmatch(request.name)
    bare = dressed[1] if dressed else request.name
    name = next((name for name in (bare, valid_tool_name(bare)) if name in run.all_tools), request.name)
    return replace(request, name=name)


def _with_own_ids(run: Run, requests: tuple[ToolRequest, ...]) -> tuple[ToolRequest, ...]:
    """Give a new id to each request whose id is missing or taken (L5); the ids are the same in every replay."""
    state = run.state(EngineState)
    known = state.request_ids
    if known is None:
        asked = (request.id for message in run.messages for request in message.tool_requests)
        known = state.request_ids = dict.fromkeys(asked)
    if len(requests) == 1 and (only := requests[0].id) and only not in known:
        known[only] = None  # the usual case
        return requests
    ids = [request.id for request in requests]
    if all(ids) and known.keys().isdisjoint(ids) and len(set(ids)) == len(ids):
        known.update(dict.fromkeys(ids))
        return requests
    renamed = []
    for request in requests:
        number, fresh = len(known), request.id
        while not fresh or fresh in known:
            number += 1
            fresh = numbered_id(number)
        known[fresh] = None
        renamed.append(request if fresh == request.id else replace(request, id=fresh))
    return tuple(renamed)


_ALIKE = 0.7
"""How like another tool's name one must be (difflib's ratio) to be suggested."""


def _word_by_word(name: str, other: str) -> bool:
    """Whether each word is like its counterpart: `edit_file` is not `read_file`, which does something else."""
    from difflib import SequenceMatcher

    words, others = name.casefold().split("_"), other.casefold().split("_")
    pairs = zip(words, others, strict=False)
    return len(words) != len(others) or all(SequenceMatcher(None, *pair).ratio() >= _ALIKE for pair in pairs)


def unknown_tool(name: str, names: list[str]) -> str:
    """The result for a tool that does not exist (behaviour A6)."""
    from difflib import get_close_matches

    name = escape(" ".join(name.split()))
    shown = ", ".join(names[:40]) + (f" and {len(names) - 40} more" if len(names) > 40 else "")
    close = [other for other in get_close_matches(name, names, cutoff=_ALIKE) if _word_by_word(name, other)]
    hint = f" Did you mean '{close[0]}'?" if close else ""
    return f"unknown tool '{name[:80]}'. Available tools: {shown or 'none'}.{hint}"


def run_calls(run: Run, iteration: Iteration) -> Awaitable[object]:
    """Handle all calls of a reply concurrently (L3); those that are not parallel-safe one at a time, in order (L4)."""
    if len(iteration.calls) == 1:
        return handle(run, iteration.calls[0])
    jobs: list[Callable[[], Awaitable[object]]] = []
    serial: list[Callable[[], Awaitable[object]]] = []
    for call in iteration.calls:
        job = partial(handle, run, call)
        if call.tool is None or not call.tool.serial:
            jobs.append(job)
        else:
            if not serial:
                jobs.append(partial(gather_ordered, serial, 1))
            serial.append(job)
    return gather_ordered(jobs, run.agent.config.limits.parallel_tools)


async def handle(run: Run, call: ToolCall) -> None:
    """Handle one call, up to its observation, through the ``react_tool_call`` layer."""
    hooks = run.state(EngineState).hooks
    token = handled.set(call)
    try:
        if hooks.react_tool_call_started:
            await notify(hooks.react_tool_call_started, run, call)
        call.started = time()
        started = perf_counter()
        observation: Observation = await ask(hooks.react_tool_call, run, call)
        call.seconds = perf_counter() - started
        call.observation = observation
        if hooks.react_tool_call_finished:
            await notify(hooks.react_tool_call_finished, run, call, observation)
    finally:
        handled.reset(token)


async def settle(run: Run, iteration: Iteration) -> None:
    """Judge an iteration once all its calls have finished, in request order: sensors, policies, reasons to stop."""
    hooks = run.state(EngineState).hooks
    signals = await sense(run, iteration) if hooks.react_sense else {}
    if hooks.react_settle:
        await ask_all(hooks.react_settle, run, iteration)
    for call, text in signals.items():
        call.append(text)
    for call in iteration.calls:
        if call.stop_reason is not None:
            run.stop(call.stop_reason, call.stop_answer)


# -- the history ------------------------------------------------------------------------------------------------------


def record(run: Run, iteration: Iteration) -> None:
    """Append an iteration to the history: the reply, one tool message per request, one step each.

    It never awaits and gives every request its answer, so the history is valid at every await point (H2, L3). An empty
    reply is left out, because providers would reject the next request.
    """
    response = iteration.response
    assert response is not None  # called only for iterations with a reply
    reply = response.message
    if not iteration.calls:
        run.messages += [reply] if reply.extra or not reply.blank else []
        return
    messages, steps = [reply], []
    thought, attempts = reply.thought, run.state(EngineState).attempts
    for call in iteration.calls:
        observation = call.observation
        if observation is None:
            text = CANCELLED if call.executed else NOT_STARTED
            unknown = call.executed and call.tool is not None and call.tool.read_only is not True
            observation = call.observation = refused(text, code="cancelled", unknown=unknown)
        content = content_with(observation.content, observation.parts) if observation.parts else observation.content
        messages.append(_message(role="tool", content=content, tool_request_id=call.request.id))
        name = call.request.name
        attempt = attempts.get(name, 0) + 1
        attempts[name] = attempt if observation.outcome is not None and observation.failed else 0
        step = _step(
            thought=thought,
            action=name,
            action_input=call.request.arguments if call.prepared.unread else call.arguments,
            observation=observation.content,
            outcome=observation.outcome,
            attempt=attempt,
            executed=call.executed,
            iteration=iteration.number,
            seconds=call.seconds,
            opaque=call.opaque,
            repaired=observation.repaired,
            id=call.request.id,
            started=call.started,
        )
        steps.append(step)
    run.messages += messages  # all of an iteration, or nothing
    run.outcome.steps += steps
    run.state(Standing).settle(iteration)
