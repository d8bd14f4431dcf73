"""The cost of MCP servers: building an agent, a call, memory, and shutdown.

    python -m benchmarks.mcp

Prints one JSON line per figure, each with its comparison from the same run:

* ``build``: CPU of building an agent with five locked servers of ten tools, above one without.
* ``call``: CPU of a call through the toolset, to one with the bare SDK on the caller's own loop.
* ``memory``: what six servers add to the resident memory of our process (their own processes not counted).
* ``end``: seconds until five servers have ended, well-behaved ones and ones that ignore every request to.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from react_run import ReActAgent, ScriptedModel
from react_toolsets.mcp import McpToolset
from react_toolsets.mcp.listing import Listed, Listing
from react_toolsets.mcp.lock import VERSION, lock_entry, lock_path

CALLS, REPEATS = 200, 5
SERVER = """
import json, signal, sys, time
stubborn = "stubborn" in sys.argv
if stubborn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
def send(request, result):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}) + "\\n")
    sys.stdout.flush()
for line in sys.stdin:
    request = json.loads(line)
    method = request.get("method")
    if method == "initialize":
        info = {"name": "bench", "version": "1"}
        send(request, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info})
    elif method == "tools/list":
        send(request, {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]})
    elif method == "tools/call":
        send(request, {"content": [{"type": "text", "text": "echo"}]})
    elif "id" in request:
        error = {"code": -32601, "message": "no"}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], "error": error}) + "\\n")
        sys.stdout.flush()
while stubborn:
    time.sleep(1)
"""


@contextmanager
def directory() -> Iterator[Path]:
    """A working directory with the server in it."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as made:
        (Path(made) / "server.py").write_text(SERVER)
        os.chdir(made)
        try:
            yield Path(made)
        finally:
            os.chdir(before)


def toolset(name: str, *args: str) -> McpToolset:
    """One server; equal commands would be one server, so each has its name among its arguments."""
    command = [sys.executable, "-S", str(Path("server.py").absolute()), name, *args]
    return McpToolset.model_validate({"name": name, "command": command[0], "args": command[1:]})


BUILD = """
import sys, threading, time
from react_run import ReActAgent
from react_run.config import load_config
ReActAgent.from_yaml(sys.argv[1])  # imports
ReActAgent(load_config(sys.argv[2], trusted=True))
times = []
for path in sys.argv[1:]:
    best = []
    for _ in range(15):
        began = time.process_time()
        agent = ReActAgent(load_config(path, trusted=True))
        best.append(time.process_time() - began)
    times.append(min(best) * 1000)
print(*times, len(agent.tools), "mcp" in sys.modules, threading.active_count())
"""


def build(made: Path) -> dict[str, Any]:
    """Building with locked servers, and without."""
    listed = [
        Listed(name=f"tool_{number}", description="Does something useful.", input_schema=_schema())
        for number in range(10)
    ]
    toolsets, entries = [], {}
    for number in range(5):
        one = toolset(f"s{number}")
        toolsets.append({"kind": "mcp", "name": one.name, "command": one.command, "args": one.args})
        [source] = one.sources
        entries[source.name] = lock_entry(source.target(made), Listing(server="bench", tools=tuple(listed)))
    (made / "plain.yaml").write_text(json.dumps({"name": "a"}))
    (made / "agent.yaml").write_text(json.dumps({"name": "a", "toolsets": toolsets}))
    lock_path(made / "agent.yaml").write_text(json.dumps({"version": VERSION, "servers": entries}))
    command = [sys.executable, "-c", BUILD, "plain.yaml", "agent.yaml"]
    plain, locked, tools, imported, threads = subprocess.run(
        command, capture_output=True, text=True, check=True
    ).stdout.split()
    return {
        "measure": "build",
        "plain_ms": round(float(plain), 2),
        "locked_ms": round(float(locked), 2),
        "more_ms": round(float(locked) - float(plain), 2),
        "tools": int(tools),
        "sdk_imported": imported == "True",
        "threads": int(threads),
    }


def _schema() -> dict[str, Any]:
    part = {"type": "string", "description": "A few words."}
    return {"type": "object", "properties": {"path": part, "text": part}, "required": ["path"]}


async def bare() -> float:
    """CPU seconds of a call with the SDK alone."""
    import mcp

    parameters = mcp.StdioServerParameters(command=sys.executable, args=["-S", "server.py"])
    async with mcp.Client(parameters, mode="legacy", cache=None) as client:
        await client.call_tool("echo", {})
        began = time.process_time()
        for _ in range(CALLS):
            await client.call_tool("echo", {})
        return (time.process_time() - began) / CALLS


def through(agent: ReActAgent) -> float:
    """CPU seconds of a call through the toolset, without the run around it."""
    from react_run import ToolCall, ToolRequest
    from react_toolsets.mcp.calls import CALL

    [tool] = agent.tools

    async def calls() -> float:
        run = agent._start("echo", (), agent.hooks, run_id=None, settings=None)  # a run that is not driven
        call = ToolCall(run, ToolRequest(id="1", name=tool.name, arguments={}), tool, tool.prepare({}), {})
        function: Any = tool.function
        await function(**{CALL: call})
        began = time.process_time()
        for _ in range(CALLS):
            await function(**{CALL: call})
        return (time.process_time() - began) / CALLS

    return asyncio.run(calls())


def call() -> dict[str, Any]:
    """A call, both ways."""
    agent = ReActAgent({}, model=ScriptedModel(replies=["x"]), toolsets=[toolset("bench")])
    alone, ours = [], []
    for _ in range(REPEATS):
        alone.append(asyncio.run(bare()))
        ours.append(through(agent))
    first, second = statistics.median(alone) * 1e6, statistics.median(ours) * 1e6
    return {
        "measure": "call",
        "bare_us": round(first),
        "toolset_us": round(second),
        "ratio": round(second / first, 2),
        "more_us": round(second - first),
    }


MEMORY = """
import os, sys
sys.path.insert(0, sys.argv[1])
from benchmarks.mcp import resident, toolset
from react_run import ReActAgent, ScriptedModel
ReActAgent({}, model=ScriptedModel(replies=["x"])).run_sync("go")
import jsonschema
before = resident()
agent = ReActAgent({}, model=ScriptedModel(replies=["x"]), toolsets=[toolset(f"m{number}") for number in range(6)])
print(len(agent.tools), resident() - before)
"""


def resident() -> float:
    """Resident memory of this process, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def memory() -> dict[str, Any]:
    """Six servers in one process."""
    root = str(Path(__file__).parents[1])
    command = [sys.executable, "-c", MEMORY, root]
    tools, more = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return {"measure": "memory", "servers": int(tools), "more_mb": round(float(more), 1)}


def end(*args: str) -> dict[str, Any]:
    """Five servers end with their agent."""
    agent = ReActAgent(
        {}, model=ScriptedModel(replies=["x"]), toolsets=[toolset(f"e{number}", *args) for number in range(5)]
    )

    async def use() -> float:
        async with agent:
            began = time.monotonic()
        return time.monotonic() - began

    return {"measure": "end", "servers": " ".join(args) or "well-behaved", "seconds": round(asyncio.run(use()), 3)}


def main() -> None:
    """Measure everything."""
    with directory() as made:
        for figure in (build(made), call(), memory(), end(), end("stubborn")):
            print(json.dumps(figure), flush=True)


if __name__ == "__main__":
    main()
