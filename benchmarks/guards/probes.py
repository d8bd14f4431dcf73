"""What notices the mutants: short scripted runs in a small world, and what must come of each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from react_run import (
    ClarificationNeeded,
    ModelError,
    NoResult,
    Observation,
    Outcome,
    RunResult,
    Signal,
    ToolCall,
    ToolError,
    Verdict,
    hookimpl,
    inline,
    tool,
)
from react_run.messages import NO_USAGE
from react_run.testing import agent_with, calls, run_agent, says

Probe = Callable[[], bool]
USED: dict[str, Any] = {"usage": {"input_tokens": 10, "output_tokens": 5, "cost": 0.01}}


class World:
    """Tools that count what they do."""

    def __init__(self) -> None:
        self.paid: list[str] = []
        self.looked: list[str] = []
        self.broken: list[BaseException] = []
        self.at_once = self.most = 0
        self.state = "old"

    def tools(self) -> list[Any]:
        """The tools."""

        @tool(read_only=True)
        def look(x: str, n: int = 1) -> str:
            """Look."""
            self.looked.append(x)
            if x.startswith("bad"):
                raise ToolError(f"not {x}", code=x.split()[0])
            if x.startswith("none"):
                raise NoResult("nothing")
            if x.startswith("ask"):
                raise ClarificationNeeded("which?")
            if x == "state":
                return self.state
            return f"{x} seen"

        @tool(read_only=True)
        def weigh(x: str) -> Observation:
            """Weigh."""
            return Observation(content=f"{x} weighed", outcome=Outcome.success(f"{x} weighs 3"))

        @tool(read_only=False)
        def pay(x: str) -> str:
            """Pay."""
            self.paid.append(x)
            self.state = "new"
            if self.broken:
                raise self.broken.pop(0)
            return f"paid {x}"

        @tool(read_only=False)
        def save(path: str) -> str:
            """Save."""
            return f"saved {path}"

        @tool(read_only=False)
        def wipe(path: str = ".", recursive: bool = True) -> str:
            """Wipe."""
            self.paid.append(f"wiped {path}")
            return "wiped"

        @tool
        def fetch(x: int) -> str:
            """Fetch."""
            raise OSError("e" * 5_000)

        @tool(read_only=True, repeatable=True)
        def poll() -> str:
            """Poll."""
            return "0 %"

        @tool(read_only=True)
        async def nap(x: int) -> str:
            """Nap."""
            self.at_once += 1
            self.most = max(self.most, self.at_once)
            await asyncio.sleep(0.002)
            self.at_once -= 1
            return f"nap {x}"

        @tool(read_only=True, timeout=0.05)
        async def hang() -> str:
            """Hang."""
            await asyncio.sleep(0.5)
            return "late"

        @tool(read_only=True)
        def long(n: int = 1) -> str:
            """Say a lot."""
            return "x" * 30_000 + f"END{n}"

        @tool(read_only=True, bookkeeping=True)
        def plan(x: str) -> str:
            """Plan."""
            return x

        return [look, weigh, pay, save, wipe, fetch, poll, nap, hang, long, plan]


def go(*replies: object, world: World | None = None, **options: Any) -> RunResult:
    """Run the replies."""
    return run_agent(list(replies), tools=(world or World()).tools(), **options)


def look(x: str, **more: object) -> dict[str, object]:
    """A reply that looks."""
    return calls(("look", {"x": x, **more}))


def pay(x: str = "bob") -> dict[str, object]:
    """A reply that pays."""
    return calls(("pay", {"x": x}))


DONE = says("It is done.")


class Deny:
    """Refuses one tool."""

    def __init__(self, name: str = "pay") -> None:
        self.name = name

    @hookimpl
    def react_tool_permit(self, call: ToolCall) -> Observation | None:
        return Observation(content="Error: no") if call.name == self.name else None


class Block:
    """Objects to the first of the calls that save a file."""

    def __init__(self) -> None:
        self.first = True

    @hookimpl
    @inline
    def react_sense(self, call: ToolCall) -> Signal | None:
        if call.name != "save" or not self.first:
            return None
        self.first = False
        return Signal(severity="block", message="wrong", location=f"{call.arguments['path']}:1")


class Check:
    """Accepts one answer."""

    @hookimpl
    def react_check_answer(self, answer: str) -> Verdict:
        return Verdict(accepted=answer == "good", feedback="say good")


def save(path: str) -> dict[str, object]:
    """A reply that saves."""
    return calls(("save", {"path": path}))


def succeeds(expected: bool, *replies: object, plugins: Callable[[], list[object]] = list) -> Probe:
    """A probe: the run is a success, or is none."""
    return lambda: go(*replies, DONE, plugins=plugins()).success is expected


def paid(expected: int, *replies: object, error: BaseException | None = None) -> Probe:
    """A probe: how often the tool paid."""

    def probe() -> bool:
        world = World()
        world.broken += [error] if error else []
        go(*replies, DONE, world=world)
        return len(world.paid) == expected

    return probe


def looked(expected: int, *replies: object) -> Probe:
    """A probe: how often the tool looked."""

    def probe() -> bool:
        world = World()
        go(*replies, DONE, world=world)
        return len(world.looked) == expected

    return probe


def ends(reason: str, *replies: object, iterations: int = 0, **options: Any) -> Probe:
    """A probe: why the run ended, and after how many iterations."""

    def probe() -> bool:
        result = go(*replies, **options)
        return result.stop_reason == reason and iterations in (0, result.iterations)

    return probe


def said(words: str, *replies: object, step: int | None = None, **options: Any) -> Probe:
    """A probe: what is in the answer, or in what the model reads of a call."""

    def probe() -> bool:
        result = go(*replies, **options)
        return words in (result.answer if step is None else result.steps[step].observation)

    return probe


def stale_read() -> bool:
    """A read after a payment sees what it changed."""
    return go(look("state"), pay(), look("state"), DONE).steps[2].observation == "new"


def own_results() -> bool:
    """Each call has its own result."""
    result = go(calls(("look", {"x": "a"}), ("look", {"x": "b"}), ("look", {"x": "c"})), DONE)
    texts = [message.text for message in result.messages if message.role == "tool"]
    return texts == ["a seen", "b seen", "c seen"]


def at_once() -> bool:
    """Calls of one reply run at the same time."""
    world = World()
    go(calls(*[("nap", {"x": n}) for n in range(4)]), DONE, world=world)
    return world.most == 4


def retry_after() -> bool:
    """A provider's wish for patience is heard, and its limit kept."""
    from react_run.policies.model_retries import ModelRetries

    policy = ModelRetries(first_wait=0.001)
    wait = policy.wait(1, ModelError("busy", retryable=True, retry_after=7.0))
    return wait == 7.0 and policy.wait(4, ModelError("busy", retryable=True)) is None


def retried() -> bool:
    """A passing failure is tried again."""
    busy = {"error": {"status": 503, "message": "busy", "retryable": True}}
    return run_agent([busy, says("hi")], plugins=[{"kind": "model_retries", "first_wait": 0}]).answer == "hi"


def children_cost() -> bool:
    """What runs below use counts above."""
    from react_run import Run
    from react_run.engine.state import EngineState
    from react_run.engine.usage import spend

    parent = agent_with([says("hi")], max_cost=1.0)

    class Below:
        """Spends as a subagent does."""

        @hookimpl
        async def react_run(self, run: Run) -> None:
            child = run.agent._start("go", (), run.state(EngineState).hooks, run_id=None, settings=None)
            child.parent = run
            spend(child, NO_USAGE.__class__(input_tokens=7, output_tokens=0, cost=0.5))

    result = parent.__class__(parent.config, model=parent.model, plugins=[Below()]).run_sync("go")
    return result.usage.requests == 2


def toolless_end() -> bool:
    """The last request offers no tools."""
    agent = agent_with([look("a"), says("partly")], tools=World().tools(), max_iterations=1)
    agent.run_sync("go")
    return not agent.model.requests[-1].tools  # type: ignore[attr-defined]  # of the scripted model


def not_offered() -> bool:
    """A tool that a request left out does not run."""
    from react_run import RequestPreprocessor

    class Hide(RequestPreprocessor):
        """Withdraws a tool."""

        def preprocess(self, agent: Any, ctx: Any, request: Any, llm: Any) -> Any:
            request.tools = [item for item in request.tools if item["function"]["name"] != "pay"]
            return request

    world = World()
    go(pay(), DONE, world=world, iteration_preprocessors=[Hide()])
    return world.paid == []


def whole_spill() -> bool:
    """What is saved is whole."""
    read = calls(("search_result", {"name": "1-long.txt", "pattern": "END1"}))
    return "1 match" in go(calls(("long", {})), read, DONE).steps[1].observation


def iteration_ceiling() -> bool:
    """The results of one iteration together stay below four ceilings."""
    result = go(calls(*[("long", {"n": n}) for n in range(40)]), DONE)
    return sum(len(step.observation) for step in result.steps) < 4 * 24_576 + 6_000


def guided() -> bool:
    """Guides are in the first request."""

    class Guide:
        """Says one thing."""

        @hookimpl
        @inline
        def react_guide(self) -> str:
            return "Be kind."

    agent = agent_with([says("hi")], plugins=[Guide()])
    agent.run_sync("go")
    return "Be kind." in agent.model.requests[0].messages[0].text  # type: ignore[attr-defined]  # as above


def one_piece() -> bool:
    """A cut answer is continued and joined."""
    return go(says("one ", finish_reason="length"), says("two")).answer == "one two"


def unknown_cost_goes_on() -> bool:
    """A failed attempt counts at its worst, not as nothing."""
    cut = {"error": {"message": "cut", "code": "incomplete", "retryable": True}}
    options: dict[str, Any] = {"plugins": [{"kind": "model_retries", "first_wait": 0}], "max_total_tokens": 2_000}
    return run_agent([cut, says("hi", **USED)], **options).stop_reason == "token_limit"


def fresh_ids() -> bool:
    """Repeated ids of a provider are replaced."""
    same = {"text": "", "tool_calls": [{"name": "look", "arguments": {"x": x}, "id": "1"} for x in "ab"]}
    result = go(same, DONE)
    return len({step.id for step in result.steps}) == 2


def partial_answer() -> bool:
    """What is verified is told when the provider fails."""
    try:
        go(calls(("weigh", {"x": "kites"})), {"error": {"status": 400, "message": "bad"}})
    except ModelError as error:
        return error.result is not None and "kites weighs 3" in error.result.answer
    return False


def remembered(calls_made: int) -> Probe:
    """A probe: two calls of one reply that are the same run once."""

    def probe() -> bool:
        world = World()
        go(calls(("pay", {"x": "a"}), ("pay", {"x": "a"})), DONE, world=world)
        return len(world.paid) == calls_made

    return probe


def no_claim() -> bool:
    """A claim that the tools do not support is no answer, and no value."""
    result = go(look("bad unit"), says('{"a": 1}'), output_schema={"type": "object"})
    return "Unresolved" in result.answer and result.value is None and result.unverified_answer == '{"a": 1}'


def moved_out() -> bool:
    """What compaction took away may be read again."""
    from react_run.engine.context import MovedOut
    from react_run.messages import Message

    moved = MovedOut()
    moved.compare([Message(role="tool", content="x", tool_request_id="1")], [])
    return moved.ids == {"1"} and moved.times == 1


def pays_twice(first: str, second: str) -> bool:
    """A payment that fails, then another: whether that is a success."""
    world = World()
    world.broken.append(ValueError("no"))
    return go(pay(first), pay(second), DONE, world=world).success


def wipes_nothing() -> bool:
    """A misnamed argument does not make a tool run with its defaults."""
    world = World()
    go(calls(("wipe", {"file_path": "tmp/x"})), DONE, world=world)
    return world.paid == []


def safely(probe: Probe) -> Probe:
    """``probe``, where an exception means that it failed."""

    def safe() -> bool:
        try:
            return probe()
        except Exception:  # it is how some mutants show
            return False

    return safe
