"""The carriers that hooks are handed: Run ⊃ Iteration ⊃ ToolCall. They are open: hooks may change them."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Hashable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter, time
from typing import TYPE_CHECKING, ClassVar, TypeVar
from uuid import uuid4

from react_run.engine.concurrency import cancellations, running_loop
from react_run.engine.execution import interpreting, refused, run_tool
from react_run.engine.standing import Standing
from react_run.engine.timer import Pauses
from react_run.hooks import Chain, HookTable, ask, ask_all, await_listener, dispatch, notify
from react_run.ids import numbered_id
from react_run.messages import NO_USAGE, Message, MessageView, ModelRequest, ModelResponse, ToolChoice, ToolRequest
from react_run.outcome import Observation, Outcome
from react_run.results import LIMIT_REASONS, ReActStep, RunResult, StopReason
from react_run.support.jsonable import plain
from react_run.support.render import escape
from react_run.tools.arguments.repair import own_copy
from react_run.tools.naming import valid_tool_name

if TYPE_CHECKING:
    from react_run.agent import ReActAgent
    from react_run.engine.reports import Reports
    from react_run.messages import Usage
    from react_run.questions import Answer, Question
    from react_run.tools.tool import Prepared, Tool

__all__ = ["Iteration", "ReActStep", "Run", "RunResult", "StopReason", "ToolCall", "ToolFinished", "ToolStarted"]

T = TypeVar("T")
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), check_circular=False, default=repr).encode
_handled: ContextVar[ToolCall | None] = ContextVar("react_run_handled", default=None)
_executing: ContextVar[ToolCall | None] = ContextVar("react_run_executing", default=None)


def canonical(arguments: object) -> str:
    """Arguments as one text: equal for equal calls, whatever the key order, 1 the same as 1.0 (behaviour F4)."""
    try:
        text = _encode(arguments)
    except Exception:  # mixed keys, cycles, foreign objects: possible only when a plugin put them there
        return _encode(plain(arguments))
    if ".0" in text or "e" in text:
        return _encode(_whole(json.loads(text)))
    return text


def identity(arguments: Mapping[str, object]) -> Hashable:
    """A value that is equal for equal arguments, like :func:`canonical`, but not encoded where that can be avoided."""
    try:
        found = frozenset(arguments.items())
        hash(found)
    except TypeError:  # lists and objects
        return canonical(arguments)
    for value in arguments.values():
        if value is True or value is False:  # to Python, they equal 1 and 0
            return canonical(arguments)
    return found


def _without(arguments: Mapping[str, object], defaults: Mapping[str, object]) -> dict[str, object]:
    """``arguments`` without those that say what would hold anyway."""
    return {
        name: value for name, value in arguments.items() if name not in defaults or not _same(value, defaults[name])
    }


def _same(one: object, other: object) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)  # to Python, true is 1


def _whole(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return value


@dataclass(eq=False, slots=True)
class ToolCall:
    """One requested call on its way to an observation.

    ``arguments`` are the JSON-level arguments after repair (behaviour A); a plugin may change them, they are checked
    again before anything runs. ``problem`` is why the call cannot run at all (unknown tool, wrong arguments, cut off).
    ``executed`` becomes true when the tool itself is started, ``repeated`` when an earlier result
    answers it. ``blocks`` are the sensors that object to it, each with the place it means;
    ``passed`` those that had nothing against it. ``spent`` is what runs below it used.
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
    _key: Hashable | None = None
    _pauses: Pauses | None = None
    _reports: Reports | None = None

    @property
    def name(self) -> str:
        """The name of the requested tool."""
        return self.request.name

    @property
    def key(self) -> Hashable:
        """What equal calls of a tool have in common: their arguments, as they were when first asked for (F4)."""
        if self._key is None:
            defaults = self.tool.defaults if self.tool is not None else None
            self._key = identity(_without(self.arguments, defaults) if defaults else self.arguments)
        return self._key

    def pauses(self) -> Pauses:
        """How long a person was waited for about this call."""
        if self._pauses is None:
            self._pauses = Pauses()
        return self._pauses

    @property
    def paused_seconds(self) -> float:
        """Seconds that a person was waited for about this call."""
        return 0.0 if self._pauses is None else self._pauses.seconds

    @property
    def failed(self) -> bool:
        """Whether the call is known to have failed."""
        return self.observation is not None and self.observation.failed

    @property
    def succeeded(self) -> bool:
        """Whether the call got a result of its own that is not known to be a failure."""
        return self.observation is not None and not self.repeated and not self.observation.failed

    def report(self, *, done: float | None = None, total: float | None = None, message: str = "") -> None:
        """Say how far the tool is (event ``react_tool_progress``), from any thread.

        Args:
            done: How much is done, in any unit.
            total: How much there is to do, in the same unit.
            message: What it is at, in a few words.

        Raises:
            TypeError, ValueError: A number is not one that can be shown, or the message is not text.
        """
        from react_run.engine.reports import Reports, checked

        report = checked(done, total, message)
        if self.observation is not None or not self.run.hooks.react_tool_progress:
            return  # it is over, or nobody listens
        if self._reports is None:
            self._reports = Reports()
        self._reports.add(self, report)

    def append(self, text: str) -> None:
        """Add a paragraph to what the model will read about this call."""
        assert self.observation is not None  # only a handled call is added to
        self.observation = replace(self.observation, content=f"{self.observation.content}\n\n{text}")

    async def refusal(self) -> Observation | None:
        """Why this call may not run as it is now; ``None`` when every plugin permits it.

        :meth:`execute` asks it. So does whoever answers a call from elsewhere: what must not be asked for must not be
        answered either.
        """
        if self.problem is not None:
            return self.problem
        assert self.tool is not None  # a call without it has a problem
        assert self.prepared is not None  # as above
        if self.arguments != self.prepared.arguments:  # a plugin changed them: they are checked again
            again = self.tool.prepare(self.arguments)
            if again.problem:
                return refused(again.problem, code="invalid_arguments")
            self.prepared = replace(again, repairs=self.prepared.repairs + again.repairs)
            self.arguments = own_copy(again.arguments)
        tool, prepared = self.tool, self.prepared
        for impl in self.run.hooks.react_tool_permit:
            refusals: list[Observation] = await ask_all((impl,), self.run, self)
            if refusals:
                return self._denied(refusals[0])
            if self.arguments != prepared.arguments or self.prepared is not prepared or self.tool is not tool:
                return self._denied(refused(f"the arguments of {self.name} were changed while permission was asked"))
        return None

    def _denied(self, refusal: Observation) -> Observation:
        """``refusal`` as the failure it is: whoever refuses need not say so. It proves nothing about the tool."""
        self.opaque = True
        outcome = refusal.outcome or Outcome.retryable("denied", refusal.content.removeprefix("Error: "))
        return replace(refusal, outcome=replace(outcome, denied=True))

    async def execute(self) -> Observation:
        """Run the tool, if every plugin permits: the only way to a tool (architecture §4).

        Whatever the tool does (return, raise, exceed its deadline) comes back as an observation.
        """
        self.error = None
        refusal = await self.refusal()
        if refusal is not None:
            return refusal
        assert self.tool is not None  # a call without it is refused
        assert self.prepared is not None  # as above
        self.executed = True
        token = _executing.set(self)
        try:
            return await run_tool(self, self.tool, self.prepared)
        finally:
            _executing.reset(token)
            if self._reports is not None:
                self._reports.tell(self)


@dataclass(eq=False, slots=True)
class Iteration:
    """One iteration: a request, the reply, and the calls it asked for.

    ``feedback`` is what checks said against a proposed answer, ``final`` that no other would do either. ``stops`` are
    reasons to stop that calls gave while they ran, by position, so that the first in request order stands. ``changed``
    says that files were changed besides what the calls did, so that what was read before may no longer be so.
    ``offered`` are the names of the tools that the model could call when it was asked, ``None`` when it was not asked.
    """

    number: int
    request: ModelRequest
    response: ModelResponse | None = None
    calls: list[ToolCall] = field(default_factory=list)
    feedback: str | None = None
    final: bool = False
    changed: bool = False
    stops: dict[int, tuple[str, str]] = field(default_factory=dict)
    drafted: bool = False
    offered: frozenset[str] | None = None

    def again(self, messages: MessageView) -> None:
        """Start over, on the conversation as it has become: what was done before stands there."""
        self.request = replace(self.request, messages=messages)
        self.response, self.feedback, self.final = None, None, False
        self.calls, self.stops = [], {}


@dataclass(eq=False)
class Run:
    """One conversation turn of an agent, from prompt to result.

    ``messages`` is append-only: within a run the prefix that was sent never changes, unless compaction replaces the
    whole list (behaviour L7). ``catalogue`` holds every tool this run could call, by name; ``tools`` those offered now.
    ``workspace`` is the directory the agent works in; ``directory`` this run's own place below it, made when needed.
    ``parent`` is the run above, ``within`` the call of it that this run is at work for.
    ``counted`` is what counts towards limits: the usage, with the worst case where it is unknown. ``price`` says what
    a model call cost, in USD, where nobody else does: from the model's name and the usage.
    ``emitted`` holds what plugins sent along for whoever reads the result. ``remember`` and ``recall`` are a journal's
    part in looking at the world outside (:meth:`look`).
    ``incoming`` are the earlier turns this one continues, as they were given. ``replaying`` is true while a journal
    answers in place of the model and the tools, so nobody need be asked or waited for.
    """

    __react_context__: ClassVar[str] = "run"

    agent: ReActAgent
    hooks: HookTable
    messages: list[Message]
    tools: tuple[Tool, ...]
    catalogue: dict[str, Tool]
    max_iterations: int
    workspace: Path
    id: str = field(default_factory=lambda: uuid4().hex)
    prompt: str = ""
    incoming: tuple[Message, ...] = ()
    replaying: bool = False
    parent: Run | None = None
    parent_call: ToolCall | None = None
    iterations: list[Iteration] = field(default_factory=list)
    steps: list[ReActStep] = field(default_factory=list)
    usage: Usage = NO_USAGE
    counted: Usage = NO_USAGE
    model_calls: int = 0
    stop_reason: str | None = None
    answer: str = ""
    finish_reason: str | None = None
    unverified_answer: str | None = None
    disclosure: dict[str, object] | None = None
    value: object = None
    model_name: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
    price: Callable[[str, Usage], float | None] | None = None
    emitted: list[object] = field(default_factory=list)
    remember: Callable[[str, object], None] | None = None
    recall: Callable[[str], tuple[object] | None] | None = None
    cancelling: int = 0
    _states: dict[type, object] = field(default_factory=dict, repr=False)
    _attempts: dict[str, int] = field(default_factory=dict, repr=False)
    _ids: set[str] | None = field(default=None, repr=False)
    _background: set[asyncio.Future[None]] = field(default_factory=set, repr=False)
    _endings: list[Callable[[], Awaitable[None]]] = field(default_factory=list, repr=False)
    _loop: asyncio.AbstractEventLoop | None = field(default_factory=running_loop, repr=False)
    _pauses: Pauses = field(default_factory=Pauses, repr=False)

    @property
    def directory(self) -> Path:
        """Where this run keeps its own files (spilled results); not made until somebody writes there."""
        return self.workspace / ".react-run" / "runs" / self.id

    def state(self, kind: Callable[[], T]) -> T:
        """This run's own instance of ``kind``, made on first use."""
        try:
            return self._states[kind]  # type: ignore[index, return-value]  # keyed by the class that made it
        except KeyError:  # of two threads that make one, both get the first
            return self._states.setdefault(kind, kind())  # type: ignore[call-overload, no-any-return]  # as above

    def stop(self, reason: str, answer: str = "") -> None:
        """End the run after the current iteration. The first reason counts, in request order, not in order of time."""
        call = self.current_call  # a run below this one is inside a call of this one
        if call is not None:
            self.iterations[-1].stops.setdefault(call.position, (reason, answer))
        elif self.stop_reason is None:
            self.stop_reason, self.answer = reason, answer

    @property
    def current_call(self) -> ToolCall | None:
        """The call of this run that whoever asks has to do with: in a layer around it, its permission, or its tool."""
        call = _handled.get()
        return call if call is not None and call.run is self else None

    @property
    def executing_call(self) -> ToolCall | None:
        """The call of this run inside whose tool whoever asks is; what happens in there is the tool's own doing."""
        call = _executing.get()
        return call if call is not None and call.run is self else None

    def note(self, guard: str, detail: str = "") -> None:
        """Say that a guard, policy or plugin intervened (event ``react_guard_fired``).

        A tool may say so from its thread: listeners hear it on the thread of the event loop, as they hear everything.
        """
        self.tell(self.hooks.react_guard_fired, guard, detail)

    def tell(self, listeners: Chain, *args: object) -> None:
        """Tell the listeners of an event of this run about it, from any thread and without waiting for them."""
        if self._loop is not None and running_loop() is not self._loop:
            with suppress(RuntimeError):  # the loop is closed: nobody listens any more
                self._loop.call_soon_threadsafe(self.tell, listeners, *args)
            return
        for impl, answer in dispatch(listeners, self, *args):
            task = asyncio.ensure_future(await_listener(impl, answer))
            self._background.add(task)
            task.add_done_callback(self._background.discard)

    async def ask(self, question: Question) -> Answer | None:
        """What a person says to ``question``; ``None`` when the person cannot be asked.

        Every plugin is asked (``react_ask``), and the first answer settles it; the terminal comes last. Question and
        answer are in the journal, and a run that is resumed or replayed goes on with what was said. Time in here counts
        towards no deadline.

        Raises:
            PluginError: A plugin gave an answer that the question does not take.
        """
        from react_run.questions.asking import put

        return await put(self, question)

    def check_cancelled(self) -> None:
        """Raise when the run was cancelled, whoever answered the cancellation away."""
        if cancellations() > self.cancelling:
            raise asyncio.CancelledError

    def at_end(self, give_back: Callable[[], Awaitable[None]]) -> None:
        """Have something given back when the run has ended, however it ends; the last that was taken comes first."""
        self._endings.append(give_back)

    async def drain(self) -> None:
        """Wait for the event listeners that are still at work, and give back what was taken for this run."""
        if self._background:
            await asyncio.wait(set(self._background))
        async with AsyncExitStack() as stack:
            for give_back in self._endings:
                stack.push_async_callback(give_back)
            self._endings = []

    @contextmanager
    def paused_for_user(self, call: ToolCall | None = None) -> Iterator[None]:
        """Time in here is a person's, not the run's: it counts towards no deadline (behaviour T2).

        Waits of several calls may overlap, in threads, too, and those of a subagent count for its parents.
        """
        call = self.current_call if call is None else call
        self._pauses.begin()
        if call is not None:
            call.pauses().begin()
        try:
            with nullcontext() if self.parent is None else self.parent.paused_for_user(self.parent_call):
                yield
        finally:
            self._pauses.end()
            if call is not None:
                call.pauses().end()

    @property
    def paused_seconds(self) -> float:
        """Seconds that a person was waited for so far, a wait that is going on included."""
        return self._pauses.seconds

    def spend(self, usage: Usage, at_most: Usage | None = None) -> None:
        """Add what a model call used to this run and to those above it (behaviours L8, X1).

        Args:
            usage: What it used.
            at_most: What counts towards limits instead, when nobody knows what it used (S4).
        """
        self.usage = self.usage + usage if self.usage is not NO_USAGE else usage
        self.counted = self.counted + (at_most or usage)
        if self.parent_call is not None:
            self.parent_call.spent = self.parent_call.spent + usage
        if self.parent is not None:
            self.parent.spend(usage, at_most)

    def priced(self, response: ModelResponse) -> ModelResponse:
        """``response`` with its cost, where a plugin of this run or of one above it knows it."""
        run: Run | None = self
        while run is not None and run.price is None:
            run = run.parent
        if run is None or run.price is None or response.usage.cost is not None:
            return response
        cost = run.price(response.model or self.agent.model.name, response.usage)
        return replace(response, usage=replace(response.usage, cost=cost))

    async def look(self, what: str, find: Callable[[], Awaitable[T]]) -> T:
        """What ``find`` finds out about the world outside of the run: what a command says, what a file holds.

        It is recorded. Where a recording answers, it comes from there: a run that is replayed or resumed goes the way
        it went, although the world has moved on, and nothing is done twice.

        Args:
            what: What it is about, the same words every time.
            find: Gives a JSON value.
        """
        known = None if self.recall is None else self.recall(what)
        value: T = await find() if known is None else known[0]  # type: ignore[assignment]  # it was recorded as such
        if self.remember is not None:
            self.remember(what, value)
        return value

    async def withdraw(self, iteration: Iteration) -> None:
        """Withdraw the draft that was streamed in ``iteration``, if there is one."""
        if iteration.drafted:
            iteration.drafted = False
            await notify(self.hooks.react_text_discarded, self, iteration)

    def request(self, *, tools: tuple[Tool, ...] | None = None, tool_choice: ToolChoice | None = None) -> ModelRequest:
        """A request over the conversation so far, offering ``tools`` (default: what the run offers now)."""
        return ModelRequest(
            messages=MessageView(self.messages),
            tools=self.tools if tools is None else tools,
            tool_choice=tool_choice,
            settings=self.settings,
            run_id=self.id,
            call=self.model_calls + 1,
        )

    async def call_model(self, iteration: Iteration) -> ModelResponse:
        """Have ``iteration.request`` answered, through the ``react_model_call`` layer."""
        hooks = self.hooks
        if hooks.react_model_call_started:
            await notify(hooks.react_model_call_started, self, iteration)
        response: ModelResponse = await ask(hooks.react_model_call, self, iteration)
        iteration.response = response
        if hooks.react_model_call_finished:
            await notify(hooks.react_model_call_finished, self, iteration, response)
        return response

    def prepare(self, iteration: Iteration, response: ModelResponse) -> None:
        """Turn the requests of a reply into calls (behaviours A5, A5b, A6)."""
        cut = response.finish_reason == "length"
        requests = tuple(self._undressed(request) for request in response.message.tool_requests)
        if requests and not self._are_new([request.id for request in requests]):
            requests = self._renamed(requests)
        if any(new is not old for new, old in zip(requests, response.message.tool_requests, strict=True)):
            iteration.response = replace(response, message=replace(response.message, tool_requests=requests))
        for position, request in enumerate(requests):
            tool = self.catalogue.get(request.name)
            prepared = problem = None
            if cut:
                problem = refused(CUT_OFF, code="cut_off")
            elif tool is None:
                problem = refused(unknown_tool(request.name, [tool.name for tool in self.tools]), code="unknown_tool")
            else:
                prepared = tool.prepare(request.arguments)
                if iteration.offered is not None and request.name not in iteration.offered:
                    problem = refused(NOT_OFFERED.format(tool=request.name), code="tool_not_disclosed")
                elif prepared.problem:
                    problem = refused(prepared.problem, code="invalid_arguments")
            arguments = own_copy(prepared.arguments) if prepared is not None else {}
            call = ToolCall(self, request, tool, prepared, arguments, problem, position)
            call.opaque = tool is None or not interpreting(tool)
            iteration.calls.append(call)

    def _undressed(self, request: ToolRequest) -> ToolRequest:
        """``request`` under the name of the tool it means, where a model put blanks, a prefix or a mark around it."""
        if request.name in self.catalogue:
            return request
        dressed = _DRESSED.fullmatch(request.name)
        bare = dressed[1] if dressed else request.name
        name = next((name for name in (bare, valid_tool_name(bare)) if name in self.catalogue), request.name)
        return replace(request, name=name)

    def _are_new(self, ids: list[str]) -> bool:
        """Whether ``ids`` are usable and occur nowhere else in the conversation; they are known from then on (L5)."""
        if self._ids is None:
            self._ids = {request.id for message in self.messages for request in message.tool_requests}
        new = all(ids) and self._ids.isdisjoint(ids) and len(set(ids)) == len(ids)
        if new:
            self._ids.update(ids)
        return new

    def _renamed(self, requests: tuple[ToolRequest, ...]) -> tuple[ToolRequest, ...]:
        """``requests`` with an id of its own for each that has none; the same in every replay."""
        assert self._ids is not None  # looked at before
        renamed = []
        for request in requests:
            number, fresh = len(self._ids), request.id
            while not fresh or fresh in self._ids:
                number += 1
                fresh = numbered_id(number)
            self._ids.add(fresh)
            renamed.append(request if fresh == request.id else replace(request, id=fresh))
        return tuple(renamed)

    async def handle(self, call: ToolCall) -> None:
        """Bring one call to its observation, through the ``react_tool_call`` layer."""
        hooks = self.hooks
        token = _handled.set(call)
        try:
            if hooks.react_tool_call_started:
                await notify(hooks.react_tool_call_started, self, call)
            call.started = time()
            started = perf_counter()
            observation: Observation = await ask(hooks.react_tool_call, self, call)
            call.seconds = perf_counter() - started
            call.observation = observation
            if hooks.react_tool_call_finished:
                await notify(hooks.react_tool_call_finished, self, call, observation)
        finally:
            _handled.reset(token)

    def record(self, iteration: Iteration) -> None:
        """Append an iteration to the history: the reply, one tool message per request, one step each.

        It never awaits and gives every request its answer, so the history is valid at every await point (H2, L3). A
        reply that says nothing is left out: it would make the next request one that providers refuse.
        """
        response = iteration.response
        assert response is not None  # called only for iterations with a reply
        reply, steps = response.message, []
        messages = [reply] if iteration.calls or reply.extra or not reply.blank else []
        thought = reply.thought if iteration.calls else ""
        for call in iteration.calls:
            observation = call.observation
            if observation is None:
                text = CANCELLED if call.executed else NOT_STARTED
                unknown = call.executed and call.tool is not None and call.tool.read_only is not True
                observation = call.observation = refused(text, code="cancelled", unknown=unknown)
            messages.append(Message(role="tool", content=observation.content, tool_request_id=call.request.id))
            steps.append(self._step(iteration, call, observation, thought))
        self.messages += messages  # all of an iteration, or nothing
        self.steps += steps
        if steps:
            self.state(Standing).settle(iteration)

    def _step(self, iteration: Iteration, call: ToolCall, observation: Observation, thought: str) -> ReActStep:
        attempt = self._attempts.get(call.name, 0) + 1
        self._attempts[call.name] = attempt if observation.failed else 0
        return ReActStep(
            thought=thought,
            action=call.name,
            action_input=call.request.arguments if call.prepared is None else call.arguments,
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

    def result(self) -> RunResult:
        """The result as things stand now."""
        reason = self.stop_reason or StopReason.CANCELLED
        standing = self.state(Standing)
        return RunResult(
            answer=self.answer,
            stop_reason=reason,
            finish_reason=self.finish_reason or ("length" if reason in LIMIT_REASONS else "stop"),
            success=reason == StopReason.COMPLETED
            and bool(self.answer.strip())
            and self.finish_reason != "length"
            and standing.sound,
            iterations=len(self.iterations),
            steps=self.steps,
            messages=self.messages,
            usage=self.usage,
            unresolved=standing.unresolved,
            unverified_answer=self.unverified_answer,
            disclosure=self.disclosure,
            value=self.value,
            run_id=self.id,
            model=self.model_name,
            emitted=self.emitted,
        )


_DRESSED = re.compile(
    r"\s*(?:(?:functions?|tools?|default_api|namespace)[.:/])?([\w.-]+?)(?::\d+|\(\))?\s*(?:<\|.*)?", re.DOTALL
)
CUT_OFF = "this call was cut off by the output token limit and did not run. Send it again, shorter or in parts."
NOT_OFFERED = "{tool} did not run: it is not offered now. Use the tools that are offered, or answer without them."
CANCELLED = "the run was interrupted before this call finished"
NOT_STARTED = "the run was interrupted before this call was started."


def unknown_tool(name: str, names: list[str]) -> str:
    """The text result for a tool that does not exist (behaviour A6)."""
    from difflib import get_close_matches

    name = escape(" ".join(name.split()))
    shown = ", ".join(names[:40]) + (f" and {len(names) - 40} more" if len(names) > 40 else "")
    close = get_close_matches(name, names, n=1, cutoff=0.7)
    hint = f" Did you mean '{close[0]}'?" if close else ""
    return f"unknown tool '{name[:80]}'. Available tools: {shown or 'none'}.{hint}"


def with_request(iteration: Iteration, call: int) -> ModelRequest:
    """``iteration.request`` numbered as the run's ``call``-th model call."""
    if iteration.request.call != call:
        iteration.request = replace(iteration.request, call=call)
    return iteration.request


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolStarted:
    """Stream event: a requested call is being handled."""

    call: ToolCall


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolFinished:
    """Stream event: a call has its observation."""

    call: ToolCall
    observation: Observation
