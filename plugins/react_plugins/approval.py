"""The plugin ``approval``, also written ``permissions:``: decides which tool calls may run, and which need approval."""

from __future__ import annotations

import json
from typing import ClassVar, Literal, cast, get_args

from pydantic import Field, PrivateAttr

from react_plugins.approval_rules import Action, Rule
from react_plugins.lineage import outermost
from react_run import (
    Disposition,
    Observation,
    Outcome,
    Plugin,
    PluginError,
    Question,
    Run,
    StopReason,
    ToolCall,
    hookimpl,
)

Decision = Literal["yes", "always", "no"]

DENIED = "{tool} may not be called with these arguments. Do not try it again; find another way, or say what is missing."
DECLINED = "The user declined this call of {tool}. Do not try it again; find another way, or ask what to do instead."
EMPTY = "{tool} was called without any arguments, which nobody approves unseen. Name what you mean, defaults included."
NOBODY = "{tool} needs approval, and there is no terminal to ask at. Run it on one, or allow it in `permissions:`."


class Granted:
    """A person's decisions about calls of a run and its subagents; each applies to exact arguments."""

    def __init__(self) -> None:
        self.calls: dict[ToolCall, str] = {}
        self.always: set[str] = set()
        self.declined: set[str] = set()


class Approval(Plugin):
    """Allows, denies or asks about tool calls by tool name and arguments, whatever other plugins do.

    The first rule that applies decides. If none applies, read-only tools are allowed. An approval applies to the exact
    tool and arguments. The first plugin that answers ``react_ask`` decides; the terminal comes last.
    """

    kind: ClassVar[str] = "approval"

    rules: list[Rule] = Field(default_factory=list)
    """Rules `{tool: glob, arguments: {name: glob}, action: allow|ask|deny}`; the first that applies decides."""
    default: Action = "ask"
    """What to do with tools that may change something if no rule applies."""
    remember: Literal["run", "agent"] = "run"
    """How long `always` applies: for the run, or (in a chat) for the lifetime of the agent."""
    allow_changes: bool = False
    """Whether to allow calls that would need approval; `--yes` on the command line sets this."""

    _of_agent: set[str] = PrivateAttr(default_factory=set)

    @hookimpl
    async def react_tool_permit(self, run: Run, call: ToolCall) -> Observation | None:
        action = self.action_for(call)
        if action == "allow":
            return None
        if action == "deny":
            return self._refused(run, "denied", DENIED.format(tool=call.name))
        return await self._asked(run, call)

    def action_for(self, call: ToolCall) -> Action:
        """What the rules say about ``call``.

        If a tool has parameters, a call without arguments is never allowed by a rule, only by a person: broken replies
        look like that.
        """
        reads = call.tool is not None and call.tool.read_only is True
        rule = next((rule for rule in self.rules if rule.applies(call)), None)
        action: Action = rule.action if rule is not None else "allow" if reads else self.default
        return "ask" if action == "allow" and not reads and _lost_arguments(call) else action

    async def ask(self, run: Run, call: ToolCall) -> Decision | None:
        """Ask a person about ``call``; ``None`` if there is nobody to ask. Any other answer ends the run.

        It uses ``run.ask``, so that any plugin may answer, and the answer is in the journal; a subclass may ask
        elsewhere.
        """
        answer = await run.ask(self.question(run, call))
        return None if answer is None else cast("Decision", answer.value)

    def question(self, run: Run, call: ToolCall) -> Question:
        """The text for the person: the tool and all arguments."""
        how_long = "in this run" if self.remember == "run" else "from now on"
        return Question(
            f"{run.agent.config.name or 'The agent'} wants to call {call.name}:",
            choices=get_args(Decision),
            tool=call.name,
            arguments=call.arguments,
            default="no",
            hint=f"Allow it? 'always' allows exactly this {how_long}.",
        )

    async def _asked(self, run: Run, call: ToolCall) -> Observation | None:
        key = _exactly(run, call)
        granted = outermost(run).state(Granted)
        if granted.calls.get(call) == key:
            return None  # a retry after a failure
        if key in granted.always | self._of_agent:
            return None
        if key in granted.declined:
            return self._refused(run, "declined", DECLINED.format(tool=call.name))
        if self.allow_changes and _lost_arguments(call):
            return self._refused(run, "no_arguments", EMPTY.format(tool=call.name))
        if self.allow_changes:
            run.note(self.kind, f"{call.name}: allowed without asking")
            return None
        with run.paused_for_user():  # a subclass may ask in its own way
            answer = await self.ask(run, call)
        if answer is None:
            text = NOBODY.format(tool=call.name)
            call.stop(StopReason.CLARIFICATION_REQUIRED, text)
            return self._refused(run, "approval_needed", text, Disposition.CLARIFICATION_REQUIRED)
        if answer not in get_args(Decision):  # an unclear answer is not permission
            said = f"{type(self).__name__}.ask answered {answer!r} about {call.name}"
            raise PluginError(f"{said}; return yes, always, no, or None if there is nobody to ask")
        run.note(self.kind, f"{call.name}: {answer}")
        if answer == "no":
            granted.declined.add(key)
            return self._refused(run, "declined", DECLINED.format(tool=call.name))
        granted.calls[call] = key
        if answer == "always":
            (granted.always if self.remember == "run" else self._of_agent).add(key)
        return None

    def _refused(
        self, run: Run, code: str, text: str, disposition: Disposition = Disposition.RETRYABLE_ERROR
    ) -> Observation:
        run.note(self.kind, f"{code}: {text}")
        return Observation(content=f"Error: {text}", outcome=Outcome(disposition=disposition, code=code, message=text))


def _exactly(run: Run, call: ToolCall) -> str:
    """A key for a tool, the options of its toolset, its directory, and its current arguments.

    The directory is included because a subagent may have a tool with the same name in another one.
    """
    toolset = call.tool.toolset if call.tool is not None else None
    options = "" if toolset is None else f"{type(toolset).__qualname__} {toolset!r}"
    called = call.tool.called if call.tool is not None else ""
    arguments = json.dumps(call.arguments, sort_keys=True, default=repr)
    return json.dumps([call.name, called, options, str(run.workspace), arguments])


def _lost_arguments(call: ToolCall) -> bool:
    return not call.arguments and call.tool is not None and bool(call.tool.parameters.get("properties"))
