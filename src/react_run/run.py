"""What hooks receive: Run ⊃ Iteration ⊃ ToolCall. Hooks may read and change all of it.

These classes hold what happened and what comes next; :mod:`react_run.engine` does the work.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Hashable, MutableMapping
from contextlib import AbstractContextManager
from dataclasses import field, replace
from os import urandom
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from react_run.messages import NO_USAGE
from react_run.results import ReActStep, RunOutcome, RunResult, StopReason
from react_run.support.dataclasses import dataclass
from react_run.support.display import shown_value
from react_run.tools.arguments.key import identity, without_defaults

if TYPE_CHECKING:
    from react_run.agent import ReActAgent as ReActAgent  # modules below the agent import its name from here
    from react_run.messages import Message, MessageView, ModelRequest, ModelResponse, ToolRequest, Usage
    from react_run.outcome import Observation
    from react_run.questions import Answer, Question
    from react_run.tools.tool import Prepared, Tool

__all__ = ["Iteration", "ReActStep", "Run", "RunResult", "StopReason", "ToolCall", "ToolFinished", "ToolStarted"]

T = TypeVar("T")


class Engine(Protocol):
    """What the classes below delegate to :mod:`react_run.engine`; see their methods."""

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

    ``arguments`` are the JSON-level arguments after repair (behaviour A); a plugin may change them, and they are
    checked again before anything runs. ``tool`` is ``None`` if there is no tool of that name. ``prepared`` holds the
    values for the tool's function, or the problem; ``problem`` is the same as an observation: why the call cannot run
    at all (unknown tool, wrong arguments, cut off).
    ``executed`` becomes true when the tool itself starts, ``repeated`` when an earlier result answers the call.
    ``blocks`` are the sensors that object to it, each with the place in question; ``passed`` are those that did not.
    ``spent`` is the usage of the call's subagents. ``stop_reason`` and ``stop_answer`` are the arguments of
    :meth:`stop`.
    """

    __react_context__: ClassVar[str] = "call"

    run: Run
    request: ToolRequest
    tool: Tool | None
    prepared: Prepared
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
        result = "" if self.observation is None else f" → {shown_value(self.observation.content)}"
        return f"<ToolCall {self.name} {shown_value(self.arguments)}{result}>"

    @property
    def name(self) -> str:
        """The name of the requested tool."""
        return self.request.name

    @property
    def key(self) -> Hashable:
        """A key that equal calls of a tool share: their arguments as first requested (F4)."""
        if self._key is None:
            defaults = self.tool.defaults if self.tool is not None else None
            self._key = identity(without_defaults(self.arguments, defaults) if defaults else self.arguments)
        return self._key

    @property
    def failed(self) -> bool:
        """Whether the call is known to have failed."""
        observation = self.observation
        return observation is not None and (outcome := observation.outcome) is not None and outcome.disposition.failed

    @property
    def succeeded(self) -> bool:
        """Whether the call has its own result that is not known to be a failure."""
        observation = self.observation
        if observation is None or self.repeated:
            return False
        return (outcome := observation.outcome) is None or not outcome.disposition.failed

    @property
    def result(self) -> Observation:
        """The observation of a finished call: available after its layer, in sensors and in ``react_settle``.

        Raises:
            RuntimeError: The call is still being handled.
        """
        if self.observation is None:
            raise RuntimeError(f"the call of {self.name} has no observation yet")
        return self.observation

    def stop(self, reason: str, answer: str = "") -> None:
        """End the run after the current iteration because of this call.

        Calls of one reply run concurrently. If several stop the run, the first in request order counts.

        Args:
            reason: Becomes the run's ``stop_reason``. answer: The answer for the user.
        """
        if self.stop_reason is None:
            self.stop_reason, self.stop_answer = reason, answer

    def report(self, *, done: float | None = None, total: float | None = None, message: str = "") -> None:
        """Report the tool's progress (event ``react_tool_progress``), from any thread.

        Args:
            done: How much is done, in any unit.
            total: How much there is to do, in the same unit.
            message: The current activity, in a few words.

        Raises:
            TypeError,
            ValueError: A number cannot be shown, or the message is not text.
        """
        self.run._engine.report(self, done, total, message)

    def append(self, text: str) -> None:
        """Append a paragraph to what the model reads about this call."""
        observation = self.result
        self.observation = replace(observation, content=f"{observation.content}\n\n{text}")

    def refusal(self) -> Coroutine[Any, Any, Observation | None]:
        """Why this call may not run in its current form; ``None`` if every plugin permits it.

        :meth:`execute` calls this. A plugin that answers a call without running the tool must call it, too: a forbidden
        call must not be answered either.
        """
        return self.run._engine.refusal(self)

    def execute(self) -> Coroutine[Any, Any, Observation]:
        """Run the tool, if every plugin permits: the only way to a tool.

        Whatever the tool does (return, raise, exceed its timeout) becomes an observation.
        """
        return self.run._engine.execute(self)


@dataclass(eq=False, slots=True)
class Iteration:
    """One iteration: a request, the reply, and the calls it requests.

    ``feedback`` is the checks' objection to a proposed answer; ``final`` means that no other answer would be accepted.
    ``changed`` means that files changed by other means than these calls, so earlier results may be out of date.
    ``offered`` are the names of the tools that the model could call, ``None`` if it was not asked.
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
        said = "" if self.response is None else f" {shown_value(self.response.text)}" if self.response.text else ""
        return f"<Iteration {self.number}{said}, {len(self.calls)} call{'' if len(self.calls) == 1 else 's'}>"

    def again(self, messages: MessageView) -> None:
        """Start over with the current conversation, which includes everything done before."""
        self.request = replace(self.request, messages=messages)
        self.response, self.feedback, self.final, self.skipped = None, None, False, False
        self.calls = []

    def skip(self) -> None:
        """Declare that this iteration makes no model call, so that it does not count."""
        self.skipped = True

    async def withdraw(self) -> None:
        """Withdraw the draft streamed in this iteration, if there is one."""
        await self.run._engine.withdraw(self)


@dataclass(eq=False)
class Run:
    """One conversation turn of an agent, from prompt to result, as plugins, tools and checks see it."""

    __react_context__: ClassVar[str] = "run"

    agent: ReActAgent
    """The agent, with ``name``, ``model``, ``config`` and ``tools``."""
    messages: list[Message]
    """The conversation. Only append to it: the prefix already sent never changes, except in compaction (L7)."""
    offered_tools: tuple[Tool, ...]
    """The tools that the next request offers."""
    all_tools: MutableMapping[str, Tool]
    """All tools of this run, by name, offered or not."""
    max_iterations: int
    """The maximum number of iterations."""
    workspace: Path
    """The working directory of the agent."""
    _engine: Engine = field(repr=False)
    id: str = field(default_factory=lambda: urandom(16).hex())
    """The id of the run: 32 hexadecimal digits."""
    prompt: str = ""
    """The prompt of the run."""
    parent: Run | None = None
    """The run whose tool started this one, if this is a subagent's run."""
    iterations: list[Iteration] = field(default_factory=list)
    """The iterations so far; the last one is the current one."""
    usage: Usage = NO_USAGE
    """Tokens and USD used so far, subagents included."""
    outcome: RunOutcome = field(default_factory=RunOutcome)
    """How the run ends, as far as known: stop reason, answer, steps, and what plugins add to the result."""
    _states: dict[object, object] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        where = f"iteration {len(self.iterations)} of {self.max_iterations}"
        return f"<Run {self.id[:12]} {shown_value(self.prompt)}, {where}>"

    def state(self, kind: Callable[[], T]) -> T:
        """This run's instance of ``kind``, created on first use."""
        try:
            return self._states[kind]  # type: ignore[return-value]  # keyed by what made it
        except KeyError:  # if two threads create one, both get the first
            return self._states.setdefault(kind, kind())  # type: ignore[return-value]  # as above

    def stop(self, reason: str, answer: str = "") -> None:
        """End the run after the current iteration; the first reason counts. Use ``call.stop()`` if a tool call is the
        cause.

        Args:
            reason: Becomes ``stop_reason``: a :class:`StopReason`, or your own string. answer: The answer for the user.
        """
        if self.outcome.stop_reason is None:
            self.outcome.stop_reason, self.outcome.answer = reason, answer

    def note(self, guard: str, detail: str = "") -> None:
        """Report that a guard, policy or plugin intervened (event ``react_guard_fired``).

        A tool may call this from its thread; listeners are called on the event-loop thread, as always.
        """
        self._engine.note(self, guard, detail)

    async def ask(self, question: Question) -> Answer | None:
        """Ask a person ``question``, and return the answer; ``None`` if the person cannot be asked.

        Plugins are asked in turn (``react_ask``), and the first answer counts; the terminal comes last. The journal
        records question and answer, so a resumed or replayed run continues with the same answer. The time spent here
        does not count towards any timeout.

        Raises:
            PluginError: A plugin gave an answer that the question does not accept.
        """
        return await self._engine.ask(self, question)

    async def recorded(self, key: str, find: Callable[[], Awaitable[T]]) -> T:
        """Call ``find`` to observe the world outside the run, such as the output of a command or the content of a file.

        The value is recorded. A replayed or resumed run takes it from the recording, so it behaves the same even if the
        world has changed, and nothing is done twice.

        Args:
            key: Identifies the value; use the same text every time.
            find: Returns a JSON value.
        """
        return await self._engine.recorded(self, key, find)

    def paused_for_user(self, call: ToolCall | None = None) -> AbstractContextManager[None]:
        """Pause the run's timeouts while a person is asked (behaviour T2).

        Pauses of several calls may overlap, across threads too, and pauses of a subagent count for its parents.

        Args:
            call: The call that the person is asked about; by default the one being handled.
        """
        return self._engine.paused(self, call)

    def at_end(self, give_back: Callable[[], Awaitable[None]]) -> None:
        """Register a cleanup for the end of the run, however it ends; the last one registered runs first.

        Args:
            give_back: Called once, and awaited.
        """
        self._engine.at_end(self, give_back)

    def result(self) -> RunResult:
        """The result so far."""
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
