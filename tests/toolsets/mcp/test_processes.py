"""Processes seen from outside: what is left when a run ends, however it ends, and what is never started."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest
from tests.toolsets.mcp.local_servers import script

from react_run.cli.commands import COMMANDS

pytestmark = pytest.mark.slow

HANGS = """
import os, time
open("pid", "w").write(str(os.getpid()))
def call(name, arguments, request):
    open("called", "w").close()
    if name == "hang":
        time.sleep(600)
    return text("done")
serve([tool("hang"), tool("go")], call)
"""


def agent_file(workspace: Path, body: str, tool: str) -> Path:
    command, *args = script(workspace, body)
    model = {"kind": "scripted", "replies": [{"tool_calls": [{"name": f"demo__{tool}"}]}, "done"]}
    toolset = {"kind": "mcp", "name": "demo", "command": command, "args": args}
    path = workspace / "agent.yaml"
    path.write_text(json.dumps({"model": model, "toolsets": [toolset]}))
    return path


def started(workspace: Path, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "react_run", *arguments],
        cwd=workspace,
        env={**os.environ, "REACT_RUN_HOME": str(workspace / "home")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def appears(path: Path, seconds: float = 60) -> bool:
    end = time.monotonic() + seconds
    while not (path.exists() and path.stat().st_size >= 0):
        if time.monotonic() > end:
            return False
        threading.Event().wait(0.05)
    return True


def is_gone(pid: int, seconds: float = 5) -> bool:
    end = time.monotonic() + seconds
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        if time.monotonic() > end:
            return False
        threading.Event().wait(0.05)
    return True


def test_nothing_is_left_when_a_run_has_ended(workspace: Path) -> None:
    process = started(workspace, str(agent_file(workspace, HANGS, "go")), "hi", "--trust")
    assert process.wait(90) == 0
    assert is_gone(int((workspace / "pid").read_text()), 3)


STUBBORN = f"import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n{HANGS}"
needs_proc = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are found by /proc")


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
@pytest.mark.parametrize("body", [HANGS, STUBBORN], ids=["busy", "busy and stubborn"])
def test_nothing_is_left_when_a_run_is_ended_by_a_signal(workspace: Path, number: signal.Signals, body: str) -> None:
    """The server is in the middle of a call, and looks at nothing."""
    process = started(workspace, str(agent_file(workspace, body, "hang")), "hi", "--trust")
    assert appears(workspace / "called")
    process.send_signal(number)
    process.wait(60)
    assert is_gone(int((workspace / "pid").read_text()), 60)


@needs_proc
def test_what_a_server_has_started_ends_with_a_killed_run(workspace: Path) -> None:
    body = f"""
    import subprocess
    child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"], start_new_session=True)
    open("child", "w").write(str(child.pid))
    {HANGS.strip().replace(chr(10), chr(10) + "    ")}
    """
    process = started(workspace, str(agent_file(workspace, body, "hang")), "hi", "--trust")
    assert appears(workspace / "called")
    process.kill()
    process.wait(60)
    assert is_gone(int((workspace / "child").read_text()), 60)


UNTRUSTED = [
    *("run FILE hi", "FILE hi", "run FILE --dry-run hi", "chat FILE", "check FILE", "explain FILE", "list agents"),
    *("list", "schema", "doctor FILE --offline", "test FILE cases.yaml", "eval FILE cases.yaml", "worker FILE"),
    *("batch FILE rows.jsonl -o out.jsonl", "mcp lock FILE --yes", "mcp diff FILE", "mcp tools FILE"),
    *("mcp tools FILE demo --live", "mcp call FILE demo go", "mcp prompt FILE demo", "mcp login FILE remote"),
    *("serve FILE --port 0", "serve --mcp FILE", "serve --mcp --http 127.0.0.1:0 FILE", "acp FILE"),
    *("replay run.jsonl", "resume run.jsonl"),
]
"""Every command that reads an agent file."""
OTHERS = {"trace", "runs", "init", "trust", "ui", "openapi", "completion"}
"""Those that read none: they show journals, write files, or fetch what the command line names."""
NO_ERROR = ("list", "schema")


def test_every_command_is_tried_with_a_file_that_is_not_trusted() -> None:
    assert {line.split()[0] for line in UNTRUSTED if not line.startswith("FILE")} | OTHERS == set(COMMANDS)


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize("arguments", UNTRUSTED)
def test_no_process_is_started_for_a_file_that_is_not_trusted(workspace: Path, arguments: str) -> None:
    """Nor for a file of servers of other programs, which lies there and is named by nobody."""
    path = agent_file(workspace, HANGS, "go")
    data = json.loads(path.read_text())
    if arguments.startswith(("replay", "resume")):  # a journal of somebody else's, of a run that was trusted there
        assert started(workspace, "run", str(path), "hi", "--trust").wait(300) == 0
        [journal] = (workspace / "home").rglob("*.jsonl")
        journal.rename(workspace / "run.jsonl")
        (workspace / "pid").unlink()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        data["toolsets"].append({"kind": "mcp", "name": "remote", "url": url, "auth": "oauth"})
        path.write_text(json.dumps(data))
        servers = {"mcpServers": {"found": data["toolsets"][0] | {"args": ["-c", "open('found', 'w')"]}}}
        (workspace / ".mcp.json").write_text(json.dumps(servers))
        (workspace / "cases.yaml").write_text("cases: [{name: one, prompt: hi, contains: [done]}]\n")
        (workspace / "rows.jsonl").write_text('{"prompt": "hi"}\n')
        done, calls = traced(workspace, arguments.replace("FILE", str(path)).split())
    expected = 0 if arguments.startswith(NO_ERROR) else 1 if arguments.startswith("doctor") else 2
    assert done.returncode == expected, done.stdout + done.stderr
    if not arguments.startswith(NO_ERROR):
        assert "this starts programs" in done.stdout + done.stderr or "--trust" in done.stderr
    assert len([line for line in calls if "execve(" in line]) == 1
    assert not [line for line in calls if "connect(" in line and "AF_INET" in line]
    assert not [line for line in calls if "openat(" in line and ".mcp.json" in line]
    assert not (workspace / "pid").exists()


def traced(workspace: Path, arguments: list[str]) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """A command, and its calls of the system that start programs, open connections or open files."""
    log = workspace / "trace"
    tracer = ["strace", "-f", "-qq", "-e", "trace=execve,connect,openat", "-o", str(log)]
    done = subprocess.run(
        [*tracer, sys.executable, "-m", "react_run", *arguments],
        cwd=workspace,
        env={**os.environ, "REACT_RUN_HOME": str(workspace / "home")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if "ptrace" in done.stderr:
        pytest.skip("this system does not let programs be traced")
    return done, log.read_text(errors="replace").splitlines()
