"""When servers start, who shares them, and what happens when they end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.toolsets.mcp.local_servers import agent_of, code_of, local, script, steps_of

from react_run import ReActAgent, ToolsetError, hookimpl
from react_run.config import load_config
from react_toolsets.mcp import McpToolset, McpWarning, server

PID = """
import os
serve([tool("pid"), tool("safe"), tool("die")],
      lambda name, arguments, request: os._exit(3) if name == "die" else text(str(os.getpid())))
"""
DIES_ONCE = """
import os
def call(name, arguments, request):
    if not os.path.exists("died"):
        open("died", "w").close()
        print("I am leaving", file=sys.stderr, flush=True)
        os._exit(3)
    return text("alive")
serve([tool("go")], call)
"""


def waited_for(condition: Callable[[], bool], seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        threading.Event().wait(0.02)
    return True


def test_many_runs_threads_and_loops_share_one_process(workspace: Path) -> None:
    toolset = local(workspace, PID)
    agent = agent_of(workspace, [toolset], ("pid", {}))
    found: list[str] = []

    def in_a_thread() -> None:
        found.append(agent.run_sync("go").steps[0].observation)

    threads = [threading.Thread(target=in_a_thread) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found += [agent.run_sync("go").steps[0].observation for _ in range(3)]

    async def together() -> None:
        results = await asyncio.gather(*(agent.run("go") for _ in range(20)))
        found.extend(result.steps[0].observation for result in results)

    asyncio.run(together())
    assert len(found) == 27
    assert len(set(found)) == 1


def test_a_server_ends_with_the_last_agent_that_uses_it(workspace: Path) -> None:
    one, other = (agent_of(workspace, [local(workspace, PID)], ("pid", {})) for _ in range(2))

    async def use() -> None:
        async with other:
            await other.run("go")
            async with one:
                process = psutil.Process(int((await one.run("go")).steps[0].observation))
            assert process.is_running()
            assert (await other.run("go")).steps[0].observation == str(process.pid)
        assert waited_for(lambda: not process.is_running())

    asyncio.run(use())


def test_servers_open_and_close_in_any_order_without_a_word(workspace: Path, caplog: pytest.LogCaptureFixture) -> None:
    agents = [agent_of(workspace, [local(workspace, PID, name=name)], ("pid", {})) for name in ("a", "b", "c")]

    async def in_order(opened: list[int], closed: list[int]) -> None:
        for index in opened:
            await asyncio.create_task(agents[index].__aenter__())
        assert [step.opaque for agent in agents for step in (await agent.run("go")).steps] == [True] * 3
        for index in closed:
            await asyncio.create_task(agents[index].__aexit__())

    for opened, closed in (([0, 1, 2], [0, 1, 2]), ([2, 0, 1], [0, 2, 1])):
        asyncio.run(in_order(opened, closed))
    assert caplog.records == []


def test_with_share_run_every_run_has_a_server_of_its_own_that_ends_with_it(workspace: Path) -> None:
    agent = agent_of(workspace, [local(workspace, PID, share="run")], ("pid", {}), ("pid", {}))

    async def twice() -> list[list[int]]:
        results = await asyncio.gather(agent.run("go"), agent.run("go"))
        return [[int(step.observation) for step in result.steps] for result in results]

    one, other = asyncio.run(twice())
    assert len(set(one)) == len(set(other)) == 1
    assert one != other
    assert waited_for(lambda: not psutil.pid_exists(one[0]) and not psutil.pid_exists(other[0]))


def test_a_run_that_is_cancelled_leaves_the_others_alone(workspace: Path) -> None:
    """Twenty at once, all in a call; one ends before the others get their answer."""
    body = """
    import os
    waiting = []
    def call(name, arguments, request):
        waiting.append(request)
        open("waiting", "a").write(".")
    def hear(message):
        if message.get("method") == "notifications/cancelled":
            open("cancelled", "w").close()
            for request in waiting:
                if request["id"] != message["params"]["requestId"]: answer(request, text(str(os.getpid())))
    for message in messages():
        if message["method"] == "initialize": initialized(message)
        elif message["method"] == "tools/list": answer(message, {"tools": [tool("go")]})
        elif message["method"] == "tools/call": call("go", {}, message)
        elif "id" in message: refuse(message, -32601, "no")
        else: hear(message)
    """
    agent = agent_of(workspace, [local(workspace, body, timeout=300)], ("go", {}))

    def all_wait() -> bool:
        return (workspace / "waiting").exists() and (workspace / "waiting").stat().st_size == 20

    async def together() -> list[Any]:
        async with agent:
            runs = [asyncio.create_task(agent.run("go")) for _ in range(20)]
            assert await asyncio.to_thread(waited_for, all_wait, 60)
            runs[7].cancel()
            return await asyncio.gather(*runs, return_exceptions=True)

    results = asyncio.run(together())
    assert isinstance(results.pop(7), asyncio.CancelledError)
    assert len({result.steps[0].observation for result in results}) == 1
    assert {code_of(result.steps[0]) for result in results} == {""}


def test_a_server_that_died_while_idle_is_started_again(workspace: Path) -> None:
    agent = agent_of(workspace, [local(workspace, PID)], ("pid", {}))
    first = int(agent.run_sync("go").steps[0].observation)
    os.kill(first, signal.SIGKILL)
    assert waited_for(lambda: not psutil.pid_exists(first) or psutil.Process(first).status() == "zombie")
    second = agent.run_sync("go").steps[0]
    assert int(second.observation) != first


def test_a_call_that_may_have_taken_effect_is_not_repeated(workspace: Path) -> None:
    agent = agent_of(workspace, [local(workspace, DIES_ONCE)], ("go", {}), ("go", {}))
    first, second = asyncio.run(steps_of(agent))
    assert code_of(first) == "server_gone"
    assert "may have taken effect: check before you retry. It wrote: I am leaving" in first.observation
    assert second.observation == "alive"


def test_a_call_that_changes_nothing_is_repeated_once(workspace: Path) -> None:
    agent = agent_of(workspace, [local(workspace, DIES_ONCE, read_only=["go"])], ("go", {}))
    assert asyncio.run(steps_of(agent))[0].observation == "alive"


def test_three_losses_within_a_minute_are_the_end_for_this_run(workspace: Path) -> None:
    agent = agent_of(workspace, [local(workspace, PID)], *[("die", {})] * 3, ("pid", {}), failure_handling="legacy")
    steps = asyncio.run(steps_of(agent))
    assert [code_of(step) for step in steps] == [*["server_gone"] * 3, "server_unstable"]
    assert "lost 3 times within 60 seconds" in steps[-1].observation


def test_losses_that_are_long_ago_do_not_count(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "WITHIN", 0.0)
    agent = agent_of(workspace, [local(workspace, PID)], *[("die", {})] * 3, ("pid", {}), failure_handling="legacy")
    assert code_of(asyncio.run(steps_of(agent))[-1]) == ""


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("print('no token', file=sys.stderr); sys.exit(1)", r"it ended before it was ready\. It wrote: no token"),
        ("import time\ntime.sleep(60)", "was not ready within 2 seconds"),
        ('sys.stdout.write(\'{"jsonrpc": "2.0"\'); sys.stdout.flush()\nfor _ in sys.stdin: pass', "was not ready"),
        ("for line in sys.stdin: print(json.dumps({'jsonrpc': '2.0', 'id': 999, 'result': {}}), flush=True)", "ready"),
    ],
    ids=["ends", "sleeps", "half a line", "another id"],
)
def test_a_server_that_does_not_start_is_left_out_with_the_reason(workspace: Path, body: str, reason: str) -> None:
    with pytest.warns(McpWarning, match=f"the MCP server demo is left out: .*{reason}"):
        assert local(workspace, body, start_timeout=2).tools() == []


def test_a_program_that_is_not_there_is_said_to_be_so(workspace: Path) -> None:
    toolset = McpToolset(name="demo", command="no-such-server")
    with pytest.warns(McpWarning, match="there is no program 'no-such-server'; is it installed, and on the PATH"):
        assert toolset.tools() == []


def test_a_slow_start_with_npx_says_what_to_do(workspace: Path) -> None:
    (workspace / "npx").write_text("#!/bin/sh\nsleep 60\n")
    (workspace / "npx").chmod(0o755)
    toolset = McpToolset(name="demo", command=str(workspace / "npx"), start_timeout=0.3)
    with pytest.warns(McpWarning, match="npx downloads a server when it is first started: run it once by hand"):
        toolset.tools()


def test_required_means_that_there_is_no_agent_without_it(workspace: Path) -> None:
    with pytest.raises(ToolsetError, match=r"the server demo is required, but: .* no token"):
        local(workspace, "print('no token', file=sys.stderr); sys.exit(1)", required=True).tools()


def test_a_locked_server_that_is_required_starts_with_the_agent_or_it_does_not(workspace: Path) -> None:
    from react_run.cli import main

    [command, *args] = script(workspace, "open('started', 'a').write('.')\nserve([tool('go')])")
    entry = {"kind": "mcp", "name": "demo", "prefix": "", "command": command, "args": args, "required": True}
    path = workspace / "agent.yaml"
    path.write_text(json.dumps({"toolsets": [entry]}))
    with pytest.raises(SystemExit):
        main(["mcp", "lock", str(path), "--trust", "--yes"])
    agent = ReActAgent(load_config(path, trusted=True))
    assert (workspace / "started").read_text() == "."

    async def enter() -> None:
        async with agent:
            assert (workspace / "started").read_text() == ".."
        script(workspace, "sys.exit('no token')")
        async with agent:
            pytest.fail("it starts nevertheless")

    with pytest.raises(ToolsetError, match=r"no token.* \(required: true\)"):
        asyncio.run(enter())


def test_the_others_go_on_when_one_does_not_start(workspace: Path) -> None:
    with pytest.warns(McpWarning, match="bad is left out"):
        agent = agent_of(workspace, [local(workspace, "sys.exit(1)", name="bad"), local(workspace, PID)], ("pid", {}))
    assert int(asyncio.run(steps_of(agent))[0].observation)


def test_all_servers_are_asked_at_once(workspace: Path) -> None:
    meet = """
    import os, time
    open(f"here-{sys.argv[1]}", "w").close()
    while not os.path.exists("here-" + ("b" if sys.argv[1] == "a" else "a")):
        time.sleep(0.01)
    serve([tool("t" + sys.argv[1])])
    """
    toolsets = []
    for name in ("a", "b"):
        [command, *args] = script(workspace, meet, name)
        toolsets.append({"kind": "mcp", "name": name, "prefix": "", "command": command, "args": [*args, name]})
    path = workspace / "agent.yaml"
    path.write_text(json.dumps({"toolsets": toolsets}))
    assert [tool.name for tool in ReActAgent(load_config(path, trusted=True)).tools] == ["ta", "tb"]


def test_a_stopped_server_fails_in_time_and_works_again_when_it_goes_on(workspace: Path) -> None:
    agent = agent_of(workspace, [local(workspace, PID, timeout=1)], ("pid", {}))
    process = psutil.Process(int(agent.run_sync("go").steps[0].observation))
    process.suspend()
    began = time.monotonic()
    step = agent.run_sync("go").steps[0]
    assert code_of(step) == "timeout"
    assert "showed no progress for 1 seconds (timeout)" in step.observation
    assert time.monotonic() - began < 10
    process.resume()
    assert agent.run_sync("go").steps[0].observation == str(process.pid)


def test_a_server_that_does_not_read_fails_in_time_too(workspace: Path) -> None:
    body = """
    import time
    def call(name, arguments, request):
        time.sleep(60)
    serve([tool("go")], call)
    """
    agent = agent_of(workspace, [local(workspace, body, timeout=1)], [("go", {}), ("go", {"data": "x" * 3_000_000})])
    began = time.monotonic()
    result = agent.run_sync("go")
    assert [code_of(step) for step in result.steps] == ["timeout", "timeout"]
    assert time.monotonic() - began < 10
    for child in psutil.Process().children():
        child.kill()


REPORTS = """
import time
def call(name, arguments, request):
    token = request["params"]["_meta"]["progressToken"]
    for part in range(arguments["parts"]):
        time.sleep(0.25)
        send({"method": "notifications/progress", "params": {"progressToken": token, "progress": part}})
    return text("done")
serve([tool("go", properties={"parts": {"type": "integer"}})], call)
"""


def test_progress_gives_more_time_but_never_more_than_the_longest(workspace: Path) -> None:
    toolset = local(workspace, REPORTS, timeout=1, max_timeout=3)
    agent = agent_of(workspace, [toolset], ("go", {"parts": 6}), ("go", {"parts": 16}))
    enough, too_long = asyncio.run(steps_of(agent))
    assert enough.observation == "done"
    assert code_of(too_long) == "timeout"
    assert "did not finish within 3 seconds (max_timeout)" in too_long.observation


HEARS = """
import os
def hear(message):
    if message.get("method") == "notifications/cancelled":
        open("cancelled", "w").write(json.dumps(message["params"]))
for message in messages():
    if message["method"] == "initialize": initialized(message)
    elif message["method"] == "tools/list": answer(message, {"tools": [tool("go")]})
    elif message["method"] == "tools/call": open("called", "w").close()
    elif "id" in message: refuse(message, -32601, "no")
    else: hear(message)
"""


@pytest.mark.parametrize("how", ["deadline", "cancelled run"])
def test_the_server_hears_that_a_call_was_given_up(workspace: Path, how: str) -> None:
    timeout = 1 if how == "deadline" else 60
    agent = agent_of(workspace, [local(workspace, HEARS, timeout=timeout)], ("go", {}))

    async def use() -> None:
        task = asyncio.create_task(agent.run("go"))
        if how != "deadline":
            await asyncio.to_thread(waited_for, (workspace / "called").exists)
            task.cancel()
        await asyncio.wait((task,))

    asyncio.run(use())
    assert waited_for((workspace / "cancelled").exists, 1.5)


CHANGES = """
names = ["one"]
def call(name, arguments, request):
    names.append("two")
    send({"method": "notifications/tools/list_changed"})
    return text("changed")
serve(lambda request: {"tools": [tool(name) for name in names]}, call)
"""
CHANGES_WITH_SDK = """
import asyncio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
server = MCPServer("sdk")
@server.tool()
async def one(ctx: Context) -> str:
    server.add_tool(two)
    await ctx.notify_tools_changed()
    return "changed"
def two() -> str: return "two"
server.run()
"""


@pytest.mark.parametrize("protocol", ["2025", "2026"])
def test_a_list_that_changes_is_noted_and_read_again(workspace: Path, protocol: str) -> None:
    notes: list[str] = []

    class Watcher:
        @hookimpl
        def react_guard_fired(self, guard: str, detail: str) -> None:
            notes.append(f"{guard}: {detail}")

    def toolset() -> McpToolset:
        if protocol == "2025":
            return local(workspace, CHANGES)
        (workspace / "sdk.py").write_text(CHANGES_WITH_SDK)
        options = {"name": "demo", "command": sys.executable, "args": [str(workspace / "sdk.py")], "prefix": ""}
        return McpToolset.model_validate({**options, "start_timeout": 90})

    agent = agent_of(workspace, [toolset()], *[("one", {})] * 5, plugins=[Watcher()], failure_handling="legacy")
    assert waited_for(lambda: len(agent.run_sync("go").steps) == 5 and has_changed(notes), 60)
    assert waited_for(lambda: {tool.name for tool in toolset().tools()} > {"one"}, 60)
    assert toolset().tools()[0].name == "one"


def has_changed(notes: list[str]) -> bool:
    return "mcp_tools_changed: the MCP server demo has changed its list of tools" in notes


@pytest.mark.slow
def test_stubborn_servers_end_together_and_soon(workspace: Path) -> None:
    body = """
    import signal, time, os
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    serve([tool("pid")], lambda name, arguments, request: text(str(os.getpid())))
    while True: time.sleep(1)
    """
    toolsets = [local(workspace, body, name=name, prefix=None) for name in ("a", "b", "c")]
    agent = agent_of(workspace, toolsets, [(f"{name}__pid", {}) for name in ("a", "b", "c")])

    async def use() -> tuple[list[int], float]:
        async with agent:
            pids = [int(step.observation) for step in (await agent.run("go")).steps]
            began = time.monotonic()
        return pids, time.monotonic() - began

    pids, seconds = asyncio.run(use())
    assert seconds < 9  # one after the other, they would need twelve
    assert not any(psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie" for pid in pids)
