"""The plugin ``command_hook``: runs your own program at events; it may refuse tool calls."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, Literal

from pydantic import Field

from react_plugins.commands import CommandNotRun, RunsCommand, excerpt
from react_plugins.matching import matches
from react_run import Finished, Iteration, Observation, Outcome, Plugin, Run, RunResult, ToolCall, hookimpl
from react_toolsets.programs import ended

Moment = Literal["run_started", "tool_permit", "tool_call_finished", "iteration_finished", "run_finished"]
DENY = 2
"""The exit status that means refusal."""
_LONGEST = 10_000
"""Maximum characters of a result in the input of a hook."""
_DECISIONS = '{"decision": "allow"} or {"decision": "deny", "reason": "…"}'


class CommandHook(RunsCommand, Plugin):
    """Runs a command at events of a run, with a JSON description on its standard input.

    When asked for permission (`tool_permit`), it refuses a call with exit status 2, or by writing `{"decision":
    "deny"}`. Unintelligible output is not a permission; at other events, it is noted and the run continues.
    """

    kind: ClassVar[str] = "command_hook"

    at: list[Moment] = Field(default=["tool_permit"], min_length=1)
    """The events at which it runs."""
    tools: list[str] = Field(default=["*"], min_length=1)
    """The tools for `tool_permit` and `tool_call_finished`, as names or globs."""
    timeout: float = Field(default=10.0, gt=0)
    """Time limit, in seconds."""

    @hookimpl
    async def react_tool_permit(self, run: Run, call: ToolCall) -> Observation | None:
        if not self._is_asked("tool_permit", call):
            return None
        try:
            finished = await self._told(run, "tool_permit", _place(call), _about(call))
            reason = self._refusal(finished)
        except CommandNotRun as error:
            text = f"{call.name} is not permitted, because the hook that decides it failed: {error}"
            run.note("hook_failed", text)
            return _refused("hook_failed", text)
        if reason is None:
            return None
        run.note(self.kind, f"{call.name}: refused: {reason}")
        return _refused("denied", f"{call.name} was refused by a rule of the user: {reason}")

    @hookimpl
    async def react_tool_call(
        self, run: Run, call: ToolCall, proceed: Callable[[], Awaitable[Observation]]
    ) -> Observation:
        observation = await proceed()
        if not self._is_asked("tool_call_finished", call):
            return observation
        result = excerpt(observation.content, _LONGEST)
        about = {**_about(call), "executed": call.executed, "failed": observation.failed, "result": result}
        await self._tell(run, "tool_call_finished", _place(call), about)
        return observation

    @hookimpl
    async def react_iteration(
        self, run: Run, iteration: Iteration, proceed: Callable[[], Awaitable[Iteration]]
    ) -> Iteration:
        done = await proceed()
        if "iteration_finished" not in self.at:
            return done
        reply = "" if done.response is None else done.response.text
        about = {"iteration": iteration.number, "reply": reply, "calls": [call.name for call in done.calls]}
        await self._tell(run, "iteration_finished", f"{iteration.number}", about)
        return done

    @hookimpl
    async def react_run(self, run: Run, proceed: Callable[[], Awaitable[RunResult]]) -> RunResult:
        if "run_started" in self.at:
            await self._tell(run, "run_started", "", {"prompt": run.prompt})
        result = await proceed()
        if "run_finished" not in self.at:
            return result
        about = {"answer": result.answer, "success": result.success, "stop_reason": str(result.stop_reason)}
        await self._tell(run, "run_finished", "", {**about, "usage": result.usage.to_dict()})
        return result

    def _is_asked(self, moment: Moment, call: ToolCall) -> bool:
        return moment in self.at and matches(call.name, self.tools)

    async def _tell(self, run: Run, moment: Moment, place: str, about: dict[str, Any]) -> None:
        """Run the hook for an event; errors of the hook are noted."""
        try:
            finished = await self._told(run, moment, place, about)
            if how := ended(finished, self.timeout):
                run.note("hook_failed", f"{self.line} {how} at {moment}. It wrote: {excerpt(finished.output, 300)}")
        except CommandNotRun as error:
            run.note("hook_failed", f"at {moment}: {error}")

    async def _told(self, run: Run, moment: Moment, place: str, about: dict[str, Any]) -> Finished:
        head = {"hook": moment, "run": run.id, "agent": run.agent.config.name, "workspace": str(run.workspace)}
        told = run.agent.config.masker.mask_data({**head, **about})
        text = json.dumps(told, ensure_ascii=False, default=str)
        return await self.carry_out(
            run, stdin=text.encode("utf-8", "replace"), key=f"hook {moment} {place} {self.line}"
        )

    def _refusal(self, finished: Finished) -> str | None:
        """The reason for a refusal; ``None`` if the hook permits.

        Raises:
            CommandNotRun: The hook gave no decision.
        """
        output = finished.output.strip()
        if finished.status == DENY and not finished.timed_out:
            return _decision(output)[1] or excerpt(output, 500) if output else "no reason was given"
        if how := ended(finished, self.timeout):
            raise CommandNotRun(f"{self.line} {how}. It wrote: {excerpt(output, 300)}")
        if not output:
            return None
        decision, reason = _decision(output)
        if decision == "allow":
            return None
        if decision == "deny":
            return reason or "no reason was given"
        wrote = excerpt(output, 300)
        raise CommandNotRun(f"{self.line} wrote no decision: it writes nothing, {_DECISIONS}, not: {wrote}")


def _decision(output: str) -> tuple[str, str]:
    """The decision and the reason in the output of a hook: in all of it, or in its last line."""
    for text in (output, output.rpartition("\n")[2]):
        try:
            said = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(said, dict):
            return str(said.get("decision", "")), str(said.get("reason") or "")
    return "", ""


def _about(call: ToolCall) -> dict[str, Any]:
    return {"iteration": len(call.run.iterations), "tool": call.name, "arguments": call.arguments}


def _place(call: ToolCall) -> str:
    return f"{len(call.run.iterations)}.{call.position}"


def _refused(code: str, text: str) -> Observation:
    return Observation(content=f"Error: {text}", outcome=Outcome.retryable(code, text))
