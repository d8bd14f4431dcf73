"""How cost grows: with concurrent runs, ended runs, tools, calls in a reply, and the length of a run.

``python -m benchmarks.scale`` prints one JSON line per measure; ``python -m benchmarks.gate`` checks their ratios.
"""

from __future__ import annotations

import asyncio
import gc
import resource
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

from benchmarks.floor import add
from benchmarks.measure import cpu, report
from react_run import ReActAgent, Tool
from react_run.journal.reading import read_journal
from react_run.journal.replay.replay import replay
from react_run.journal.replay.resume import resume
from react_run.messages import Message, ModelRequest
from react_run.models.scripted import ScriptedModel
from react_run.models.wire import Wire
from react_run.testing import Functions, calls


def agent(iterations: int, *, width: int = 1, delay: float = 0.0, tool: Tool | None = None) -> ReActAgent:
    """An agent whose model asks ``iterations`` times for ``width`` calls of ``add``, and then answers."""
    replies = [
        {"delay": delay, **calls(*[("add", {"a": number, "b": place}) for place in range(width)])}
        for number in range(iterations)
    ]
    model = ScriptedModel(replies=[*replies, {"delay": delay, "text": "done"}], keep_requests=0)
    made = ReActAgent({}, model=model, toolsets=[Functions(functions=[tool or Tool.from_function(add, inline=True)])])
    made.config.max_iterations = iterations + 1
    return made


def run(made: ReActAgent, loop: asyncio.AbstractEventLoop) -> Callable[[], object]:
    """One run of an agent."""

    def work() -> None:
        assert loop.run_until_complete(made.run("go")).answer == "done"

    return work


def at_once(number: int, *, collector: bool) -> float:
    """CPU seconds per run of ``number`` runs at once, each of five iterations with a model that takes 0.2 s."""
    made = agent(5, delay=0.2)

    async def together() -> None:
        for result in await asyncio.gather(*(made.run("go") for _ in range(number))):
            assert result.answer == "done"

    asyncio.run(together())  # warm-up: threads, caches
    gc.collect()
    if not collector:
        gc.disable()
    try:
        return cpu(lambda: asyncio.run(together())) / number
    finally:
        gc.enable()


def growth(runs: int = 2_000) -> tuple[float, float]:
    """Objects and kilobytes that each ended run leaves behind while the collector is off."""
    made, loop = agent(5), asyncio.new_event_loop()
    once = run(made, loop)
    for _ in range(50):
        once()
    gc.collect()
    gc.disable()
    try:
        objects, size = len(gc.get_objects()), _resident()
        for _ in range(runs):
            once()
        return (len(gc.get_objects()) - objects) / runs, (_resident() - size) / runs
    finally:
        gc.enable()
        loop.close()


def _resident() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1024


def live(runs: int = 1_000) -> float:
    """Kilobytes per run that waits for its model after four iterations."""
    replies = [calls(("add", {"a": number, "b": 2})) for number in range(4)]
    model = ScriptedModel(replies=[*replies, {"delay": 600, "text": "done"}], keep_requests=0)
    made = ReActAgent({}, model=model, toolsets=[Functions(functions=[Tool.from_function(add, inline=True)])])

    async def scenario() -> float:
        before = _resident()
        waiting = [asyncio.ensure_future(made.run("go")) for _ in range(runs)]
        await asyncio.wait(waiting, timeout=5)
        used = (_resident() - before) / runs
        for task in waiting:
            task.cancel()
        await asyncio.wait(waiting)
        return used

    return asyncio.run(scenario())


def functions(count: int) -> list[Callable[..., str]]:
    """``count`` different functions with four parameters and a docstring."""
    about = "    '''Look up number {0}.\n\n    Args:\n        name: What.\n        count: How often.\n    '''\n"
    head = "def tool_{0}(name: str, count: int = {0}, tags: list[str] | None = None, loud: bool = False) -> str:\n"
    source = "".join((head + about).format(number) + "    return name\n" for number in range(count))
    made: dict[str, Callable[..., str]] = {}
    exec(compile(source, "<tools>", "exec"), made)  # what somebody's module of tools would hold
    return [function for name, function in made.items() if name.startswith("tool_")]


def first_request(count: int) -> float:
    """CPU seconds from ``count`` functions to an agent and the tools of its first request."""
    made = functions(count)
    return _until_sent(lambda: [Tool.from_function(function) for function in made])


def schemas(count: int) -> list[dict[str, Any]]:
    """``count`` different JSON Schemas, as an OpenAPI file has them."""

    def one(number: int) -> dict[str, Any]:
        texts = {f"p{place}": {"type": "string", "description": f"Value {place} of {number}."} for place in range(5)}
        fields = {f"f{place}": {"type": ["string", "null"]} for place in range(6)}
        body = {"type": "object", "properties": fields, "required": ["f0"]}
        return {"type": "object", "properties": {**texts, "body": body}, "required": ["p0"]}

    return [one(number) for number in range(count)]


def first_request_of_schemas(count: int) -> float:
    """CPU seconds from ``count`` JSON Schemas to an agent and the tools of its first request."""
    made = schemas(count)
    return _until_sent(
        lambda: [
            Tool(name=f"op_{number}", description=f"Operation {number}.", parameters=schema, function=add)
            for number, schema in enumerate(made)
        ]
    )


def _until_sent(tools: Callable[[], list[Tool]]) -> float:
    def work() -> None:
        built = ReActAgent({}, model=ScriptedModel(replies=["done"]), toolsets=[Functions(functions=tools())])
        request = ModelRequest(messages=[Message(role="user", content="go")], tools=built.tools)
        assert Wire().encode(request, {"model": "m"}).length > 100

    return min(cpu(work) for _ in range(3))


def width(calls_per_reply: int, tool: Tool | None = None) -> float:
    """CPU seconds per call when a reply asks for several."""
    iterations = max(1, 100 // calls_per_reply)
    loop = asyncio.new_event_loop()
    once = run(agent(iterations, width=calls_per_reply, tool=tool), loop)
    once()
    return min(cpu(once) for _ in range(15)) / iterations / calls_per_reply


def length(iterations: int) -> dict[str, float]:
    """CPU seconds per iteration of running, recording, reading, replaying and resuming one run."""
    tool = Tool.from_function(add, inline=True, read_only=True)
    loop = asyncio.new_event_loop()
    plain = run(agent(iterations, tool=tool), loop)
    plain()
    taken = {"run": min(cpu(plain) for _ in range(3))}
    with TemporaryDirectory() as folder:
        recording = agent(iterations, tool=tool).replace(journal=Path(folder))
        taken["recorded"] = cpu(run(recording, loop))
        (path,) = Path(folder).glob("*.jsonl")
        started = process_time()
        journal = read_journal(path)
        assert len(journal.iterations) >= iterations
        taken["read"] = process_time() - started
        taken["replay"] = cpu(lambda: asyncio.run(replay(journal, agent(iterations, tool=tool))))
        text = path.read_text().splitlines(keepends=True)
        path.write_text("".join(text[:-6]))  # as if it had been killed in its last iterations
        started = process_time()
        assert asyncio.run(resume(path, agent(iterations, tool=tool))).answer == "done"
        taken["resume"] = process_time() - started
    loop.close()
    return {name: seconds / iterations for name, seconds in taken.items()}


def _micro(seconds: float) -> float:
    return round(seconds * 1e6, 1)


def main() -> None:
    """Report everything."""
    report("live_run_kb", each=round(live(), 1))  # first: later, ended runs have left room
    for number in (200, 1_000, 3_000, 10_000):
        with_it, without = at_once(number, collector=True), at_once(number, collector=False)
        report("runs_at_once_cpu_ms", runs=number, each=round(with_it * 1e3, 2), collector_off=round(without * 1e3, 2))
    objects, kilobytes = growth()
    report("ended_run_leaves", objects=round(objects, 2), kilobytes=round(kilobytes, 2))
    for count in (200, 1_000):
        report("first_request_cpu_ms", tools=count, all=round(first_request(count) * 1e3, 1))
    for count in (200, 1_000, 10_000):
        report("first_request_of_schemas_cpu_ms", tools=count, all=round(first_request_of_schemas(count) * 1e3, 1))

    async def coroutine(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    coroutine.__name__ = "add"
    for calls_per_reply in (1, 2, 20, 100):
        report(
            "calls_in_a_reply_cpu_us",
            calls=calls_per_reply,
            inline=_micro(width(calls_per_reply)),
            coroutine=_micro(width(calls_per_reply, Tool.from_function(coroutine))),
            thread=_micro(width(calls_per_reply, Tool.from_function(add))),
        )
    for iterations in (200, 1_000, 5_000):
        report(
            "length_cpu_us_per_iteration",
            iterations=iterations,
            **{name: _micro(seconds) for name, seconds in length(iterations).items()},
        )


if __name__ == "__main__":
    main()
