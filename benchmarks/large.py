"""The cost of large things: a huge result, many tools, a long conversation on the wire."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.floor import BareModel, add, bare_run
from benchmarks.measure import cpu, interleaved, report
from react_run import Message, ModelRequest, ReActAgent, Tool, ToolRequest
from react_run.messages import MessageList, MessageView
from react_run.models.scripted import ScriptedModel
from react_run.models.wire import Wire
from react_run.testing import Functions, calls

HUGE = 10_000_000
"""Characters of the huge result."""
LINE = "0123456789" * 7 + " and more\n"
ROUNDS = 20


def huge(a: int, b: int) -> str:
    """Look something up."""
    return LINE * (HUGE // len(LINE))


def _agent(tools: list[Tool], iterations: int, first: str = "add") -> ReActAgent:
    replies = [calls((first if number == 0 else "add", {"a": number, "b": 2})) for number in range(iterations)]
    model = ScriptedModel(replies=[*replies, "done"], keep_requests=0)
    return ReActAgent({"max_iterations": 100}, model=model, toolsets=[Functions(functions=tools)])


def _runs(agent: ReActAgent, workspace: Path) -> Callable[[], object]:
    agent.workspace = workspace
    loop = asyncio.new_event_loop()

    def work() -> None:
        result = loop.run_until_complete(agent.run("go"))
        assert result.success, result

    return work


@contextmanager
def _workspace() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as directory:
        yield Path(directory)


def huge_result() -> None:
    """Report a result of 10 MB, which is above the limit and so stored, and 20 iterations after it."""
    tools = [Tool.from_function(huge, inline=True), Tool.from_function(add, inline=True)]
    loop = asyncio.new_event_loop()
    with _workspace() as workspace:
        taken = interleaved(
            {
                "floor": lambda: (huge(1, 2), loop.run_until_complete(bare_run(BareModel(ROUNDS), {"add": add}))),
                "ours": _runs(_agent(tools, ROUNDS + 1, first="huge"), workspace),
            },
            7,
        )
    report("huge_result_cpu_ms", characters=HUGE, iterations=ROUNDS, **{k: round(v * 1e3, 1) for k, v in taken.items()})


def many_tools(count: int = 200) -> None:
    """Report the time to build an agent with many tools, and what they add to an iteration."""
    source = "\n".join(
        f"def tool_{number}(text: str, limit: int = {number}, loud: bool = False) -> str:\n"
        f"    '''Look up number {number}.\n\n    Args:\n        text: What to look up.\n        limit: The most.\n"
        f"        loud: Whether to shout.\n    '''\n    return text\n"
        for number in range(count - 1)
    )
    made: dict[str, Callable[..., str]] = {}
    exec(compile(source, "<tools>", "exec"), made)  # what somebody's module of tools would hold
    functions = [function for name, function in made.items() if name.startswith("tool_")]

    def build() -> ReActAgent:
        own = Tool.from_function(add, inline=True)
        return _agent([own, *map(Tool.from_function, functions)], 99)

    building = min(cpu(build) for _ in range(5))
    with _workspace() as workspace:
        taken = interleaved(
            {
                "one": _runs(_agent([Tool.from_function(add, inline=True)], 99), workspace),
                "many": _runs(build(), workspace),
            },
            15,
        )
    report(
        "many_tools",
        tools=count,
        build_ms=round(building * 1e3, 1),
        iteration_over_one=round(taken["many"] / taken["one"], 2),
    )


def wire(iterations: int = 300) -> None:
    """Report the time to encode the conversation for the provider, in the last third of the iterations."""
    messages = MessageList([Message(role="user", content="go")])
    encoder, late = Wire(), 0.0
    for number in range(iterations):
        request = ModelRequest(messages=MessageView(messages), run_id="run")
        taken = cpu(lambda request=request: encoder.encode(request, {"model": "m"}))  # type: ignore[misc]  # lambda default
        late += taken if number >= iterations * 2 // 3 else 0.0
        asked = ToolRequest(id=f"c{number}", name="add", arguments={"a": number, "b": 2})
        messages.append(Message(role="assistant", tool_requests=(asked,)))
        messages.append(Message(role="tool", content=str(number + 2), tool_request_id=asked.id))
    report(
        "wire_cpu_us", iterations=iterations, per_iteration=round(late / (iterations - iterations * 2 // 3) * 1e6, 1)
    )


def main() -> None:
    """Report all three."""
    huge_result()
    many_tools()
    wire()


if __name__ == "__main__":
    main()
