"""An agent as an MCP server, seen by the SDK's own client."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult

from react_run import ConfigError, ReActAgent, Tool, hookimpl, tool
from react_run.serve.mcp_api import Client as ToClient
from react_run.serve.mcp_api import Offered
from react_run.serve.mcp_serving import Address
from react_run.testing import agent_with, calls, says

AGENT = {"name": "helper", "description": "Helps.", "toolsets": ["math"]}


@tool(read_only=True)
def look(n: int) -> int:
    """Look at a number."""
    return n


@tool(read_only=False)
def change(n: int) -> str:
    """Change a number."""
    return f"changed {n}"


def agent(*replies: Any, plugins: Any = (), **config: Any) -> ReActAgent:
    return agent_with([*replies, says("done")], tools=[look, change], plugins=[ToClient(), *plugins], **config)


def asked(
    agent: ReActAgent, ask: Callable[[Client], Awaitable[Any]], *, one_by_one: bool = False, **options: Any
) -> Any:
    """What ``ask`` finds out about ``agent`` as a client."""

    async def talk() -> Any:
        async with Client(Offered(agent, one_by_one=one_by_one).server(), **options) as client:
            return await ask(client)

    return asyncio.run(talk())


def test_the_agent_is_one_tool_with_its_name_and_what_it_promises() -> None:
    built = agent(name="my helper", description="Helps.")
    [listed] = asked(built, lambda client: client.list_tools()).tools
    assert (listed.name, listed.description) == ("my_helper", "Helps.")
    assert listed.input_schema["required"] == ["task"]
    assert listed.annotations.read_only_hint is False
    assert set(listed.output_schema["properties"]) == {"answer", "success", "stop_reason", "run_id"}


def test_a_task_is_answered_with_progress_and_structure() -> None:
    heard = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message))

    built = agent(calls(("look", {"n": 1})), calls(("look", {"n": 2})), name="a")
    result = asked(built, lambda client: client.call_tool("a", {"task": "go"}, progress_callback=on_progress))
    assert not result.is_error
    assert result.content[0].text == "done"
    assert result.structured_content["success"] is True
    assert len(result.structured_content["run_id"]) == 32
    assert heard == [(1, "look"), (2, "look")]


@pytest.mark.parametrize("arguments", [{}, {"task": " "}, {"task": 5}])
def test_a_task_that_is_none_is_an_error_that_says_so(arguments: dict[str, Any]) -> None:
    result = asked(agent(name="a"), lambda client: client.call_tool("a", arguments))
    assert result.is_error
    assert "task" in result.content[0].text


def test_a_run_that_fails_is_an_error_with_its_reason() -> None:
    built = agent(*[calls(("look", {"n": 1}))] * 5, name="a", max_iterations=1)
    result = asked(built, lambda client: client.call_tool("a", {"task": "go"}))
    assert result.is_error
    assert result.structured_content["stop_reason"] == "max_iterations"


def test_a_provider_that_fails_is_told_and_the_server_goes_on() -> None:
    built = agent({"error": {"message": "no more credit", "status": 401}}, name="a")

    async def twice(client: Client) -> Any:
        return [await client.call_tool("a", {"task": "go"}) for _ in range(2)]

    first, second = asked(built, twice)
    assert first.is_error
    assert second.is_error
    assert "no more credit" in first.content[0].text


def test_tools_one_by_one_are_listed_with_schema_and_hints() -> None:
    listed = asked(agent(), lambda client: client.list_tools(), one_by_one=True).tools
    assert [tool.name for tool in listed] == ["look", "change"]
    assert [tool.annotations.read_only_hint for tool in listed] == [True, False]
    assert listed[0].input_schema["properties"]["n"]["type"] == "integer"


def test_calls_from_outside_are_checked_repaired_and_permitted_like_a_models() -> None:
    built = agent(plugins=[{"kind": "approval", "rules": [{"tool": "change", "action": "deny"}]}])

    async def ask(client: Client) -> Any:
        return [
            await client.call_tool("look", {"n": "3"}),
            await client.call_tool("look", {"m": 3}),
            await client.call_tool("change", {"n": 3}),
        ]

    good, wrong, denied = asked(built, ask, one_by_one=True)
    assert good.content[0].text.startswith("3")
    assert wrong.is_error
    assert "n is required" in wrong.content[0].text
    assert denied.is_error
    assert "changed" not in denied.content[0].text


def test_progress_of_a_tool_is_progress_of_the_call() -> None:
    heard = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    from react_run import ToolCall

    async def work(call: ToolCall) -> str:
        """Work."""
        call.report(done=1, total=4, message="part")
        await asyncio.sleep(0)
        return "worked"

    built = agent_with([says("x")], tools=[Tool.from_function(work)], plugins=[ToClient()])
    asked(built, lambda client: client.call_tool("work", {}, progress_callback=on_progress), one_by_one=True)
    assert heard == [(1, 4, "part")]


@pytest.mark.parametrize(("answer", "text"), [("yes", "changed 3"), ("no", "Error: ")])
def test_permission_is_asked_of_the_clients_user(answer: str, text: str) -> None:
    asked_for = []

    async def user(context: Any, params: Any) -> ElicitResult:
        asked_for.append(params.message)
        return ElicitResult(action="accept", content={"answer": answer})

    built = agent(plugins=[{"kind": "approval", "rules": [{"tool": "change", "action": "ask"}]}])
    result = asked(
        built,
        lambda client: client.call_tool("change", {"n": 3}),
        one_by_one=True,
        mode="legacy",
        elicitation_callback=user,
    )
    assert result.content[0].text.startswith(text)
    assert "change" in asked_for[0]


def test_a_client_that_cannot_be_asked_is_refused() -> None:
    built = agent(plugins=[{"kind": "approval", "rules": [{"tool": "change", "action": "ask"}]}])
    result = asked(built, lambda client: client.call_tool("change", {"n": 3}), one_by_one=True)
    assert result.is_error
    assert "changed" not in result.content[0].text


def test_a_cancelled_request_cancels_the_run() -> None:
    ended = []

    class Watcher:
        @hookimpl
        def react_run_failed(self, error: BaseException) -> None:
            ended.append(type(error).__name__)

    started = asyncio.Event()

    async def wait() -> str:
        """Wait."""
        started.set()
        await asyncio.Event().wait()
        return "never"

    built = agent_with(
        [calls(("wait", {}))], tools=[Tool.from_function(wait)], plugins=[ToClient(), Watcher()], name="a"
    )

    async def ask(client: Client) -> None:
        call = asyncio.ensure_future(client.call_tool("a", {"task": "go"}))
        await started.wait()
        call.cancel()
        await asyncio.wait((call,))
        for _ in range(100):
            if ended:
                break
            await asyncio.sleep(0.02)

    asked(built, ask, mode="legacy")
    assert ended == ["CancelledError"]


def test_calls_are_in_the_journal(tmp_path: Path) -> None:
    built = agent().replace(journal=tmp_path)
    asyncio.run(built.call("look", {"n": 1}))
    [path] = tmp_path.glob("*.jsonl*")
    assert '"caller"' in path.read_text()


def test_an_agent_call_gets_past_skills_that_nobody_activated() -> None:
    built = ReActAgent({"toolsets": ["math"], "tool_disclosure": "skills"})
    assert "345" in asyncio.run(built.call("calculate", {"expression": "15*23"})).content


def test_on_standard_output_there_is_nothing_but_the_protocol(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(
        "import os\nfrom react_run import tool\n\n\n@tool\ndef noisy() -> str:\n"
        "    'Write to standard output.'\n    print('printed')\n    os.system('echo from a program')\n"
        "    return 'quiet'\n"
    )
    (tmp_path / "agent.yaml").write_text("name: noisy agent\ntoolsets: [{kind: functions, path: tools.py}]\n")
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "react_run", "serve", "--mcp", "--tools", "--trust", "agent.yaml"],
        cwd=tmp_path,
        env={"REACT_RUN_HOME": str(tmp_path / "home"), "NO_COLOR": "1"},
    )

    async def talk() -> Any:
        with (tmp_path / "stderr").open("w") as errors:
            from mcp.client.stdio import stdio_client

            async with Client(stdio_client(parameters, errlog=errors)) as client:
                return await client.call_tool("noisy", {})

    result = asyncio.run(talk())
    assert result.content[0].text == "quiet"
    assert "printed" in (tmp_path / "stderr").read_text()
    assert "from a program" in (tmp_path / "stderr").read_text()


def test_over_http_a_token_is_needed_where_it_is_set_and_foreign_hosts_are_refused(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(json.dumps(AGENT))
    command = [sys.executable, "-m", "react_run", "serve", "--mcp", "--http", "127.0.0.1:0", "--token-env", "T"]
    process = subprocess.Popen(
        [*command, "agent.yaml"],
        cwd=tmp_path,
        env={**os.environ, "T": "let-me-in", "REACT_RUN_HOME": str(tmp_path / "home")},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        url = process.stderr.readline().split()[-1]

        def status(**headers: str) -> int:
            request = urllib.request.Request(url, b"{}", {"Content-Type": "application/json", **headers})
            try:
                with urllib.request.urlopen(request, timeout=10) as response:
                    return int(response.status)
            except urllib.error.HTTPError as error:
                return error.code

        assert status() == 401
        assert status(Authorization="Bearer wrong") == 401
        assert status(Authorization="Bearer let-me-in", Host="evil.example") == 421

        async def talk() -> Any:
            import httpx2
            from mcp.client.streamable_http import streamable_http_client

            headers = {"Authorization": "Bearer let-me-in"}
            async with (
                httpx2.AsyncClient(headers=headers) as http,
                Client(streamable_http_client(url, http_client=http)) as client,
            ):
                return await asyncio.gather(*(client.call_tool("helper", {"task": "15*23"}) for _ in range(5)))

        assert [result.content[0].text for result in asyncio.run(talk())] == ["345"] * 5
    finally:
        process.terminate()
        process.stderr.close()  # type: ignore[union-attr]  # it is a pipe
        assert process.wait(10) in (0, 143, -15)


def test_other_machines_are_not_let_in_without_a_token(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"other machines could call this agent\. Give --token-env"):
        Address.parsed("0.0.0.0:8765", None)
    with pytest.raises(ConfigError, match="this variable is not set"):
        Address.parsed("0.0.0.0:8765", "NOT_SET_ANYWHERE")
    with pytest.raises(ConfigError, match="write HOST:PORT"):
        Address.parsed("8765", None)
    monkeypatch.setenv("T", "x")
    assert Address.parsed("[::]:8765", "T") == Address(host="::", port=8765, token="x")
