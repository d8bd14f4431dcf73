"""What hooks are handed: Run ⊃ Iteration ⊃ ToolCall. Hooks may read all of it, and change it.

These classes hold what happened and what comes next. How it is carried out is in :mod:`react_run.engine`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Hashable
from contextlib import AbstractContextManager
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar
from uuid import uuid4

from react_run.messages import NO_USAGE
from react_run.results import ReActStep, RunOutcome, RunResult, StopReason
from react_run.support.dataclasses import dataclass
from react_run.support.display import shown
from react_run.tools.arguments.key import identity, without_defaults

if TYPE_CHECKING:
    from react_run.agent import ReActAgent as ReActAgent  # others that lie below the agent take its name from here
    from react_run.messages import Message, MessageView, ModelRequest, ModelResponse, ToolRequest, Usage
    from react_run.outcome import Observation
    from react_run.questions import Answer, Question
    from react_run.tools.tool import Prepared, Tool

__all__ = ["Iteration", "ReActStep", "Run", "RunResult", "StopReason", "ToolCall", "ToolFinished", "ToolStarted"]

T = TypeVar("T")


class Engine(Protocol):
    """What the carriers below hand on to :mod:`react_run.engine`; it is described at their methods."""

    def note(self, run: Run, guard: str, detail: str) -> None: ...
    def paused(self, run: Run, call: ToolCall | None) -> AbstractContextManager[None]: ...
    def report(self, call: ToolCall, done: float | None, total: float | None, message: str) -> None: ...
    def result(self, run: Run) -> RunResult: ...
    def at_end(self, run: Run, give_back: Callable[[], Awaitable[None]]) -> None: ...
    async def ask(self, run: Run, question: Question) -> Answer | None: ...
    async def recorded(self, run: Run, what: str, find: Callable[[], Awaitable[T]]) -> T: ...
    async def withdraw(self, iteration: Iteration) -> None: ...
    def refusal(self, call: ToolCall) -> Coroutine[Any, Any, Observation | None]: ...
    def execute(self, call: ToolCall) -> Coroutine[Any, Any, Observation]: ...


@dataclass(eq=False, slots=True)
class ToolCall:
    """One requested call on its way to an observation.

    ``arguments`` are the JSON-level arguments after repair (behaviour A); a plugin may change them, they are checked
    again before anything runs. ``problem`` is why the call cannot run at all (unknown tool, wrong arguments, cut off).
    ``executed`` becomes true when the tool itself is started, ``repeated`` when an earlier result
    answers it. ``blocks`` are the sensors that object to it, each with the place it means;
    ``passed`` those that had nothing against it. ``spent`` is what subagents of the call used. ``stop_reason`` and
    ``stop_answer`` are what :meth:`stop` was given.
    """

    __react_context__: ClassVar[str] = "call"

    run: Run
    request: ToolRequest
    tool: Tool | None
    prepared: Prepared | None
    arguments: dict[str, object]
    problem: Observation | None = None
    position: int = 0
    executed: bool = False
    observation: Observation | None = None
    error: BaseException | None = None
    seconds: float = 0.0
    spent: Usage = NO_USAGE
    opaque: bool = True
    repeated: bool = False
    blocks: tuple[tuple[object, str], ...] = ()
    passed: frozenset[object] = frozenset()
    started: float = 0.0
    stop_reason: str | None = None
    stop_answer: str = ""
    _key: Hashable | None = None

    def __repr__(self) -> str:
        result = "" if self.observation is None else f" → {shown(self.observation.content)}"
        return f"<ToolCall {self.name} {shown(self.arguments)}{result}>"

    @property
    def name(self) -> str:
        """The name of the requested tool."""
        return self.request.name

    @property
    def key(self) -> Hashable:
        """What equal calls of a tool have in common: their arguments, as they were when first asked for (F4)."""
        if self._key is None:
            defaults = self.tool.defaults if self.tool is not None else None
            self._key = identity(without_defaults(self.arguments, defaults) if defaults else self.arguments)
        return self._key

    @property
    def failed(self) -> bool:
        """Whether the call is known to have failed."""
        return self.observation is not None and self.observation.failed

    @property
    def succeeded(self) -> bool:
        """Whether the call got a result of its own that is not known to be a failure."""
        return self.observation is not None and not self.repeated and not self.observation.failed

    @property
    def result(self) -> Observation:
        """The observation of a call that has one: after its layer, in sensors and in ``react_settle``.

        Raises:
            RuntimeError: The call is still being handled.
        """
        if self.observation is None:
            raise RuntimeError(f"the call of {self.name} has no observation yet")
        return self.observation

    def stop(self, reason: str, answer: str = "") -> None:
        """End the run after the current iteration because of this call.

        Calls of one reply run at the same time. Of several that stop the run, the first in request order counts.

        Args:
            reason: Becomes the run's ``stop_reason``.
            answer: What the user gets to read.
        """
        if self.stop_reason is None:
            self.stop_reason, self.stop_answer = reason, answer

    def report(self, *, done: float | None = None, total: float | None = None, message: str = "") -> None:
        """Say how far the tool is (event ``react_tool_progress``), from any thread.

        Args:
            done: How much is done, in any unit.
            total: How much there is to do, in the same unit.
            message: What it is at, in a few words.

        Raises:
            TypeError, ValueError: A number is not one that can be shown, or the message is not text.
        """
        self.run._engine.report(self, done, total, message)

    def append(self, text: str) -> None:
        """Add a paragraph to what the model will read about this call."""
        observation = self.result
        self.observation = replace(observation, content=f"{observation.content}\n\n{text}")

    def refusal(self) -> Coroutine[Any, Any, Observation | None]:
        """Why this call may not run as it is now; ``None`` when every plugin permits it.

        :meth:`execute` asks it. A plugin that answers a call from elsewhere asks it, too: what must not be asked for
        must not be answered either.
        """
        return self.run._engine.refusal(self)

    def execute(self) -> Coroutine[Any, Any, Observation]:
        """Run the tool, if every plugin permits: the only way to a tool (architecture §4).

        Whatever the tool does (return, raise, exceed its deadline) comes back as an observation.
        """
        return self.run._engine.execute(self)


@dataclass(eq=False, slots=True)
class Iteration:
    """One iteration: a request, the reply, and the calls it asked for.

    ``feedback`` is what checks said against a proposed answer, ``final`` that no other would do either. ``changed``
    says that files were changed besides what the calls did, so that what was read before may no longer be so.
    ``offered`` are the names of the tools that the model could call when it was asked, ``None`` when it was not asked.
    """

    run: Run
    number: int
    request: ModelRequest
    response: ModelResponse | None = None
    calls: list[ToolCall] = field(default_factory=list)
    feedback: str | None = None
    final: bool = False
    changed: bool = False
    drafted: bool = False
    skipped: bool = False
    offered: frozenset[str] | None = None

    def __repr__(self) -> str:
        said = "" if self.response is None else f" {shown(self.response.text)}" if self.response.text else ""
        return f"<Iteration {self.number}{said}, {len(self.calls)} call{'' if len(self.calls) == 1 else 's'}>"

    def again(self, messages: MessageView) -> None:
        """Start over, on the conversation as it has become: what was done before is part of it."""
        self.request = replace(self.request, messages=messages)
        self.response, self.feedback, self.final, self.skipped = None, None, False, False
        self.calls = []

    def skip(self) -> None:
        """Say that this iteration makes no model call: it does not count as one of the run."""
        self.skipped = True

    async def withdraw(self) -> None:
        """Withdraw the draft that was streamed in this iteration, if there is one."""
        await self.run._engine.withdraw(self)


@dataclass(eq=False)
class Run:
    """One conversation turn of an agent, from prompt to result: what plugins, tools and checks may use of it."""

    __react_context__: ClassVar[str] = "run"

    agent: ReActAgent
    """The agent, with ``name``, ``model``, ``config`` and ``tools``."""
    messages: list[Message]
    """The conversation. Append to it only: the prefix that was sent never changes, except in compaction (L7)."""
    offered_tools: tuple[Tool, ...]
    """The tools that the next request offers."""
    all_tools: dict[str, Tool]
    """Every tool this run could call, by name."""
    max_iterations: int
    """The iterations that the run may make."""
    workspace: Path
    """The directory the agent works in."""
    _engine: Engine = field(repr=False)
    id: str = field(default_factory=lambda: uuid4().hex)
    """32 hexadecimal digits."""
    prompt: str = ""
    """What the run was asked."""
    parent: Run | None = None
    """The run whose tool started this one, when this is a subagent's run."""
    iterations: list[Iteration] = field(default_factory=list)
    """What was done so far; the last one is the current one."""
    usage: Usage = NO_USAGE
    """Tokens and USD used so far, by subagents as well."""
    outcome: RunOutcome = field(default_factory=RunOutcome)
    """How the run ends, as far as it is known: stop reason, answer, steps and what plugins add to the result."""
    _states: dict[object, object] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return f"<Run {self.id[:12]} {shown(self.prompt)}, iteration {len(self.iterations)} of {self.max_iterations}>"

    def state(self, kind: Callable[[], T]) -> T:
        """This run's own instance of ``kind``, made on first use."""
        try:
            return self._states[kind]  # type: ignore[return-value]  # keyed by what made it
        except KeyError:  # of two threads that make one, both get the first
            return self._states.setdefault(kind, kind())  # type: ignore[return-value]  # as above

    def stop(self, reason: str, answer: str = "") -> None:
        """End the run after the current iteration; the first reason counts. About one tool call: ``call.stop()``.

        Args:
            reason: Becomes ``stop_reason``: a :class:`StopReason`, or a string of your own.
            answer: What the user gets to read.
        """
        if self.outcome.stop_reason is None:
            self.outcome.stop_reason, self.outcome.answer = reason, answer

    def note(self, guard: str, detail: str = "") -> None:
        """Say that a guard, policy or plugin intervened (event ``react_guard_fired``).

        A tool may say so from its thread: listeners hear it on the thread of the event loop, as they hear everything.
        """
        self._engine.note(self, guard, detail)

    async def ask(self, question: Question) -> Answer | None:
        """What a person says to ``question``; ``None`` when the person cannot be asked.

        Every plugin is asked (``react_ask``), and the first answer settles it; the terminal comes last. Question and
        answer are in the journal, and a run that is resumed or replayed goes on with what was said. Time in here counts
        towards no deadline.

        Raises:
            PluginError: A plugin gave an answer that the question does not take.
        """
        return await self._engine.ask(self, question)

    async def recorded(self, key: str, find: Callable[[], Awaitable[T]]) -> T:
        """What ``find`` finds out about the world outside of the run: what a command says, what a file holds.

        It is recorded. Where a recording answers, it comes from there: a run that is replayed or resumed goes the way
        it went, although the world has moved on, and nothing is done twice.

        Args:
            key: What it is about, the same words every time.
            find: Gives a JSON value.
        """
        return await self._engine.recorded(self, key, find)

    def paused_for_user(self, call: ToolCall | None = None) -> AbstractContextManager[None]:
        """Time in here is a person's, not the run's: it counts towards no deadline (behaviour T2).

        Waits of several calls may overlap, in threads, too, and those of a subagent count for its parents.

        Args:
            call: The call that the person is asked about; the one being handled when not given.
        """
        return self._engine.paused(self, call)

    def at_end(self, give_back: Callable[[], Awaitable[None]]) -> None:
        """Have something given back when the run has ended, however it ends; what was taken last is given back first.

        Args:
            give_back: Called once, and awaited.
        """
        self._engine.at_end(self, give_back)

    def result(self) -> RunResult:
        """The result as things are now."""
        return self._engine.result(self)


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolStarted:
    """Stream event: a requested call is being handled."""

    call: ToolCall


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolFinished:
    """Stream event: a call has its observation."""

    call: ToolCall
    observation: Observation
