"""Runs one tool: whatever it does (returns, raises, hangs) becomes an observation (behaviour T)."""

from __future__ import annotations

import asyncio
import logging
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from react_run.engine.current import executing
from react_run.engine.events import send_event
from react_run.engine.reports import Reports, checked
from react_run.engine.state import EngineState
from react_run.engine.supervision import ToolDeadline, ToolExited, one_result, run_at_once, run_in_time
from react_run.hooks import ask_all
from react_run.outcome import Observation, Outcome, ToolError
from react_run.support.logs import log_failure
from react_run.support.maker import maker
from react_run.support.render import render
from react_run.tools.arguments.repair import own_copy
from react_run.tools.toolset import ReActToolset

if TYPE_CHECKING:
    from react_run.hooks import Chain
    from react_run.run import ToolCall
    from react_run.tools.tool import Interprets, Tool

logger = logging.getLogger(__name__)
_observation = maker(Observation)

MAX_ERROR = 300
"""Maximum characters of an exception's text for the model (behaviour T1)."""
MAX_MESSAGE = 2_000
"""Maximum characters of a tool error in answers and results; the model reads all of it, up to the result limit (T4)."""
UNKNOWN = "Whether it took effect is unknown: find that out before you go on."
PLAIN = frozenset({str, int, float, bool, dict, list, tuple, type(None)})
"""The types of nearly all results, which are neither awaitables nor iterators: checking an ABC costs far more."""


def refused(message: str, *, code: str = "refused", unknown: bool = False) -> Observation:
    """An observation for a call that did not run, or that failed with one of the runtime's own errors.

    Args:
        message: What the model reads.
        code: A short stable name of the failure.
        unknown: Whether the call may still have taken effect; the model is told so.
    """
    text = message if message.startswith("Error: ") else f"Error: {message}"
    if unknown:
        text = f"{text}{'' if text[-1] in '.!?' else '.'} {UNKNOWN}"
    return Observation(content=text, outcome=Outcome.retryable(code, text.removeprefix("Error: "), unknown=unknown))


def is_lost(error: BaseException) -> bool:
    """Whether ``error`` means that a connection broke or an answer never came, so that the effect is unknown.

    A connection that was never made does not count: then nothing was done.
    """
    names = {kind.__name__ for kind in type(error).__mro__}
    return not names & _NEVER_MADE and bool(names & _LOST)


_LOST = frozenset(
    {
        "ClientConnectionError",
        "ConnectionError",
        "IncompleteRead",
        "IncompleteReadError",
        "RemoteProtocolError",
        "Timeout",
        "TimeoutError",
        "TimeoutException",
        "TransportError",
    }
)
_NEVER_MADE = frozenset(
    {
        "ClientConnectorError",
        "ConnectError",
        "ConnectTimeout",
        "ConnectionRefusedError",
        "NewConnectionError",
        "gaierror",
    }
)
"""Class names of the standard library and of common HTTP clients, so that none of them has to be imported."""


def interpreter(tool: Tool) -> Interprets | None:
    """The tool's toolset, if it interprets results; otherwise they are opaque (behaviour F)."""
    toolset = tool.toolset
    if toolset is None or type(toolset).interpret_result is ReActToolset.interpret_result:
        return None
    return toolset


async def refusal(call: ToolCall) -> Observation | None:
    """Why ``call`` may not run in its current form; ``None`` if every plugin permits it."""
    ready = _ready(call)
    if isinstance(ready, Observation):
        return ready
    permits = call.run.state(EngineState).hooks.react_tool_permit
    return await _permission(call, permits) if permits else None


def _ready(call: ToolCall) -> Tool | Observation:
    """The tool of ``call``, or why it cannot run at all; arguments that a plugin changed are checked again."""
    if call.problem is not None:
        return call.problem
    tool = call.tool
    if tool is None:  # only if a plugin removed the problem
        return refused(call.prepared.problem, code=call.prepared.code)
    if call.arguments != call.prepared.arguments:  # a plugin changed them: they are checked again
        again = tool.prepare(call.arguments)
        if again.problem:
            return refused(again.problem, code=again.code)
        call.prepared = replace(again, repairs=call.prepared.repairs + again.repairs)
        call.arguments = own_copy(again.arguments)
    return tool


async def _permission(call: ToolCall, permits: Chain) -> Observation | None:
    tool, prepared = call.tool, call.prepared
    for impl in permits:
        refusals: list[Observation] = await ask_all((impl,), call.run, call)
        if refusals:
            return _denied(call, refusals[0])
        if call.arguments != prepared.arguments or call.prepared is not prepared or call.tool is not tool:
            return _denied(call, refused(f"the arguments of {call.name} were changed while waiting for permission"))
    return None


def _denied(call: ToolCall, refusal: Observation) -> Observation:
    """Mark ``refusal`` as a failure, even if the plugin did not. It proves nothing about the tool."""
    call.opaque = True
    outcome = refusal.outcome or Outcome.retryable("denied", refusal.content.removeprefix("Error: "))
    return replace(refusal, outcome=replace(outcome, denied=True))


async def execute(call: ToolCall) -> Observation:
    """Run the tool of ``call``, if every plugin permits."""
    call.error = None
    state = call.run.state(EngineState)
    tool = _ready(call)
    if isinstance(tool, Observation):
        return tool
    if state.hooks.react_tool_permit:
        refused_with = await _permission(call, state.hooks.react_tool_permit)
        if refused_with is not None:
            return refused_with
    prepared = call.prepared
    call.executed = True
    token = executing.set(call)
    try:
        at_once = tool.inline and not tool.is_async
        result = run_at_once(call, tool, prepared) if at_once else await run_in_time(call, tool, prepared)
        if type(result) not in PLAIN:
            result = await one_result(call, tool, result)
    except (asyncio.CancelledError, KeyboardInterrupt):
        raise
    except BaseException as error:  # T1: a tool's failure never ends the run; panics of foreign code are not Exceptions
        return _failed(call, tool, error)
    else:
        return interpret_output(call, tool, result, prepared.repairs)
    finally:
        executing.reset(token)
        if state.reports and (reports := state.reports.pop(call, None)) is not None:
            reports.flush()


def report(call: ToolCall, done: float | None, total: float | None, message: str) -> None:
    """Report the progress of the tool of ``call``; nothing happens if the call is over or has no listeners.

    Raises:
        TypeError, ValueError: A number is not one that can be shown, or the message is not text.
    """
    checked_report = checked(done, total, message)
    run = call.run
    state = run.state(EngineState)
    listeners = state.hooks.react_tool_progress
    if call.observation is not None or not listeners:
        return
    if call not in state.reports:
        state.reports.setdefault(call, Reports(lambda latest: send_event(run, listeners, call, *latest)))
    state.reports[call].add(checked_report)


def interpret_output(call: ToolCall, tool: Tool, result: object, repairs: tuple[str, ...] = ()) -> Observation:
    """Build the observation of a result, with the interpretation of its toolset."""
    if isinstance(result, Observation):
        call.opaque = result.outcome is None
        content = _with_repairs(render(result.content), repairs)
        result = replace(result, content=content, repaired=(*result.repaired, *repairs))
        return _carried(call, result) if result.parts else result
    outcome, toolset = None, interpreter(tool)
    if toolset is not None:
        try:
            outcome = toolset.interpret_result(tool.own_name or tool.name, call.arguments, result)
            if outcome is not None and not isinstance(outcome, Outcome):
                raise TypeError(f"it returned {type(outcome).__name__}, not an Outcome")
        except Exception as error:  # a broken interpreter only makes the result opaque
            outcome = None
            call.run.note("interpreter_failed", f"{tool.name}: {describe_error(error)}")
            _log(call, logging.ERROR, f"interpret_result of {tool.name!r} failed", error)
    if _has_parts(result):
        from react_run.engine.attachments import observed

        seen = observed(call.run, result)
        return replace(seen, content=_with_repairs(seen.content, repairs), outcome=outcome, repaired=repairs)
    return _observation(content=_with_repairs(render(result), repairs), outcome=outcome, repaired=repairs, raw=result)


def _has_parts(result: object) -> bool:
    """Whether a tool returned images or files; impossible as long as their module is not imported."""
    module = sys.modules.get("react_run.parts")
    if module is None:
        return False
    if isinstance(result, list | tuple):
        return any(isinstance(item, module.Part) for item in result)
    return isinstance(result, module.Part)


def _carried(call: ToolCall, observation: Observation) -> Observation:
    from react_run.engine.attachments import bounded

    return replace(observation, parts=bounded(call.run, observation.parts))


def _with_repairs(content: str, repairs: tuple[str, ...]) -> str:
    return f"{content}\n\n[Arguments corrected: {'; '.join(repairs)}]" if repairs else content


def _failed(call: ToolCall, tool: Tool, error: BaseException) -> Observation:
    """The observation of a tool that raised, or that exceeded its timeout."""
    call.error = error
    if isinstance(error, ToolDeadline):
        call.run.note("tool_timeout", f"{tool.name} did not answer within {error.seconds:g} s")
        text = f"{tool.name} timed out: no answer within {error.seconds:g} seconds, so it was given up."
        return refused(text, code="timeout", unknown=tool.read_only is not True)
    if isinstance(error, ToolError):
        try:
            return _told(call, error)
        except Exception as failure:  # a subclass with an invalid text, code or disposition
            _log(call, logging.ERROR, f"what tool {call.name!r} raised cannot be told", failure)
    _log(call, logging.INFO, f"tool {call.name!r} failed", error)
    changes = tool.read_only is not True
    return refused(describe_error(error), code="execution_error", unknown=changes and is_lost(error))


def _log(call: ToolCall, level: int, what: str, error: BaseException) -> None:
    log_failure(logger, level, what, error, call.run.agent.config.masker.mask)


def _told(call: ToolCall, error: ToolError) -> Observation:
    outcome = error.outcome()
    if len(outcome.message) > MAX_MESSAGE:
        outcome = replace(outcome, message=f"{outcome.message[: MAX_MESSAGE - 1]}…")
    prefix = "Error: " if outcome.disposition.endswith("error") else ""
    observation = Observation(content=prefix + render(str(error)), outcome=outcome)
    call.opaque = error.opaque
    return observation


def describe_error(error: BaseException) -> str:
    """An exception as one bounded line: ``ValueError: …`` (behaviour T1)."""
    name = "SystemExit" if isinstance(error, ToolExited) else type(error).__name__
    try:
        text = " ".join(str(error).split())
    except Exception:  # a __str__ that raises is also hostile input
        text = "(no message)"
    line = f"{name}: {text}" if text else name
    return _bounded(render(_bounded(line)))  # escape sequences are longer than the characters they represent


def _bounded(line: str) -> str:
    return line if len(line) <= MAX_ERROR else f"{line[: MAX_ERROR - 1]}…"
