"""Servers on the network: restarts, the old transport, headers, and logging in."""

from __future__ import annotations

import asyncio
import json
import stat
import threading
import urllib.request
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.mcp.local_servers import agent_of, code_of, steps_of
from tests.toolsets.mcp.remote import Authority, RemoteServer

from react_run import Recorder
from react_run.cli import main
from react_toolsets.mcp import McpToolset, McpWarning, lines
from react_toolsets.mcp.host import the_host

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:.*:mcp.MCPDeprecationWarning")
Made = Callable[..., RemoteServer]


@pytest.fixture
def made() -> Iterator[Made]:
    servers: list[RemoteServer] = []

    def make(*args: Any, **options: Any) -> RemoteServer:
        servers.append(RemoteServer(*args, **options))
        return servers[-1]

    yield make
    for server in servers:
        server.stop()


def toolset(server: RemoteServer, **options: Any) -> McpToolset:
    return McpToolset.model_validate({"name": "remote", "url": server.url, "prefix": "", **options})


def said(step: Any) -> str:
    """What the server said, without the marks around what comes from elsewhere."""
    first, words, last = step.observation.splitlines()
    assert first.startswith("<<<mcp-content remote ")
    assert last.endswith(">>>")
    return str(words)


def forget_connections() -> None:
    """As if the process had just begun."""
    host = the_host()
    for server in list(host.servers.values()):
        asyncio.run_coroutine_threadsafe(server.stop(), host.loop).result(10)


@pytest.mark.parametrize("protocol", ["auto", "legacy"])
def test_a_server_that_was_restarted_between_calls_just_works(workspace: Path, made: Made, protocol: str) -> None:
    server = made()
    agent = agent_of(workspace, [toolset(server, protocol=protocol)], ("number_of_start", {}))
    assert said(agent.run_sync("go").steps[0]) == "1"
    server.stop()
    server.start()
    assert said(agent.run_sync("go").steps[0]) == "2"


def test_a_server_that_is_away_fails_and_works_when_it_is_back(workspace: Path, made: Made) -> None:
    server = made()
    agent = agent_of(workspace, [toolset(server)], ("number_of_start", {}))
    agent.run_sync("go")
    server.stop()
    step = agent.run_sync("go").steps[0]
    assert code_of(step) in ("server_start", "server_gone")
    assert "remote" in step.observation
    server.start()
    assert said(agent.run_sync("go").steps[0]) == "2"


def test_servers_of_the_old_transport_work(workspace: Path, made: Made) -> None:
    agent = agent_of(workspace, [toolset(made(sse=True), transport="sse")], ("number_of_start", {}))
    assert said(asyncio.run(steps_of(agent))[0]) == "1"


@pytest.mark.parametrize("protocol", ["auto", "legacy"])  # answers as one document, and as an event of a stream
@pytest.mark.parametrize("zipped", [False, True])
def test_a_result_of_megabytes_is_read_and_one_that_is_too_large_is_said_to_be(
    workspace: Path, made: Made, monkeypatch: pytest.MonkeyPatch, protocol: str, zipped: bool
) -> None:
    monkeypatch.setattr(lines, "MAX_MESSAGE", 4 * 2**20)
    server = made(zipped=zipped)
    sizes = (3_000_000, 5_000_000, 10)
    tools = toolset(server, protocol=protocol, read_only=["*"])
    agent = agent_of(workspace, [tools], *(("words", {"size": size}) for size in sizes))
    whole, too_large, small = asyncio.run(steps_of(agent))
    assert code_of(whole) == ""
    assert max(path.stat().st_size for path in workspace.rglob("*") if path.is_file()) >= 3_000_000
    assert code_of(too_large) == "too_large"
    assert "the MCP server remote sent a message of more than 4 MiB" in too_large.observation
    assert said(small) == "x" * 10


def test_the_old_transport_says_that_its_events_are_small(workspace: Path, made: Made) -> None:
    tools = toolset(made(sse=True), transport="sse", read_only=["*"])
    agent = agent_of(workspace, [tools], ("words", {"size": 1_500_000}), ("words", {"size": 10}))
    too_large, small = asyncio.run(steps_of(agent))
    assert code_of(too_large) == "too_large"
    assert "the MCP server remote sent a message of more than 1 MiB" in too_large.observation
    assert said(small) == "x" * 10


def test_a_server_that_is_not_there_is_left_out_with_the_reason(workspace: Path, made: Made) -> None:
    server = made()
    server.stop()
    with pytest.warns(McpWarning, match="remote is left out: .* cannot be reached"):
        assert toolset(server).tools() == []


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def visits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A browser whose user agrees to everything."""
    seen: list[str] = []

    def visit(url: str) -> bool:
        seen.append(url)
        threading.Thread(target=lambda: urllib.request.urlopen(url, timeout=10).read(), daemon=True).start()
        return True

    monkeypatch.setattr(webbrowser, "open", visit)
    return seen


def login(workspace: Path, server: RemoteServer) -> int:
    path = workspace / "agent.yaml"
    path.write_text(json.dumps({"toolsets": [{"kind": "mcp", "name": "remote", "url": server.url, "auth": "oauth"}]}))
    with pytest.raises(SystemExit) as ended:
        main(["mcp", "login", str(path), "remote", "--trust"])
    return int(ended.value.code or 0)


def answer_of(workspace: Path, server: RemoteServer) -> Any:
    agent = agent_of(workspace, [toolset(server, auth="oauth", lock="off")], ("number_of_start", {}))
    return asyncio.run(steps_of(agent))[0]


def token_file(home: Path) -> Path:
    [path] = (home / "config/mcp-tokens").glob("*.json")
    return path


def test_without_a_login_nothing_is_opened_and_the_command_is_named(
    workspace: Path, made: Made, home: Path, visits: list[str]
) -> None:
    with pytest.warns(McpWarning, match=r"needs a login: react-run mcp login AGENT\.yaml remote"):
        assert toolset(made(Authority()), auth="oauth").tools() == []
    assert visits == []


def test_a_login_lasts_for_later_runs_and_only_the_user_can_read_it(
    workspace: Path, made: Made, home: Path, visits: list[str]
) -> None:
    server = made(Authority())
    assert login(workspace, server) == 0
    assert len(visits) == 1
    path = token_file(home)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    forget_connections()
    assert said(answer_of(workspace, server)) == "1"
    assert len(visits) == 1


def test_an_expired_token_is_replaced_without_a_browser(
    workspace: Path, made: Made, home: Path, visits: list[str]
) -> None:
    authority = Authority()
    server = made(authority)
    login(workspace, server)
    forget_connections()
    path = token_file(home)
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "expires_at": 1}))
    authority.access.clear()
    assert said(answer_of(workspace, server)) == "1"
    assert (authority.refreshed, authority.authorized, len(visits)) == (1, 1, 1)
    assert json.loads(path.read_text())["tokens"] != data["tokens"]


def test_a_token_that_is_refused_for_good_is_forgotten_and_the_command_is_named(
    workspace: Path, made: Made, home: Path, visits: list[str]
) -> None:
    authority = Authority()
    server = made(authority)
    login(workspace, server)
    forget_connections()
    path = token_file(home)
    path.write_text(json.dumps({**json.loads(path.read_text()), "expires_at": 1}))
    authority.access.clear()
    authority.refresh.clear()
    with pytest.warns(McpWarning, match="react-run mcp login"):
        assert toolset(server, auth="oauth").tools() == []
    assert "tokens" not in json.loads(path.read_text())
    assert len(visits) == 1


def test_a_token_that_ends_during_a_run_ends_the_run_with_what_to_do(
    workspace: Path, made: Made, home: Path, visits: list[str]
) -> None:
    authority = Authority()
    server = made(authority)
    login(workspace, server)
    tools = toolset(server, auth="oauth")
    agent = agent_of(workspace, [tools], ("number_of_start", {}))
    journal = workspace / "journal.jsonl"
    agent = agent.replace(journal=[Recorder(path=journal)])
    authority.access.clear()
    authority.refresh.clear()
    step = agent.run_sync("go").steps[0]
    assert code_of(step) == "login_required"
    assert "react-run mcp login" in step.observation
    tokens = {*authority.access, *authority.refresh}
    assert not any(token in journal.read_text() for token in tokens)


def test_a_login_that_is_refused_says_so(
    workspace: Path, made: Made, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(url: str) -> bool:
        from urllib.parse import parse_qs, urlsplit

        back = parse_qs(urlsplit(url).query)["redirect_uri"][0]
        target = f"{back}?error=access_denied&error_description=the+user+said+no"
        threading.Thread(target=lambda: urllib.request.urlopen(target, timeout=10).read(), daemon=True).start()
        return True

    monkeypatch.setattr(webbrowser, "open", refuse)
    assert login(workspace, made(Authority())) == 2
    assert "the login failed: the user said no" in capsys.readouterr().err
