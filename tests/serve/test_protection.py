"""Who is let in, and what a request may look like."""

from __future__ import annotations

import socket
from pathlib import Path
from time import monotonic

import pytest
from tests.serve.running_server import Running, agent_file, serving

from react_run.errors import ConfigError
from react_run.serve import protection
from react_run.serve.options import ServeOptions, tokens_from

TOKEN = "a-token-of-a-good-length"
OTHER = "another-token-that-is-long"
PATHS = ("/healthz", "/readyz", "/metrics", "/v1/models", "/api/runs", "/api/approvals", "/", "/runs", "/nothing")


def test_other_hosts_and_foreign_pages_are_refused_on_every_path(home: Path, tmp_path: Path) -> None:
    with serving(agent_file(tmp_path, "one", ["done"]), home=home) as running:
        for path in PATHS:
            for method in ("GET", "POST", "OPTIONS", "PUT", "DELETE"):
                for headers in (
                    {"Host": "evil.example"},
                    {"Host": "evil.example:8000"},
                    {"Host": "localhost.evil.example"},
                    {"Host": "10.0.0.1"},
                    {"Host": ""},
                    {"Origin": "https://evil.example"},
                    {"Origin": "null"},
                ):
                    answer = running.http.request(method, path, headers=headers)
                    assert answer.status_code in (400, 403), (path, method, headers)
                    assert "access-control-allow-origin" not in answer.headers
        assert running.http.get("/v1/models", headers={"Origin": running.url}).status_code == 200
        for name in ("localhost", "localhost:1", "[::1]:8000", "127.0.0.1"):
            assert running.http.get("/v1/models", headers={"Host": name}).status_code == 200


def test_hosts_and_origins_can_be_allowed(home: Path, tmp_path: Path) -> None:
    options = {"allow_hosts": ("agents.example",), "allow_origins": ("https://app.example",)}
    with serving(agent_file(tmp_path, "one", ["done"]), home=home, **options) as running:
        asked = {"Host": "agents.example", "Origin": "https://app.example"}
        answer = running.http.get("/v1/models", headers=asked)
        before = running.http.options("/v1/models", headers={**asked, "Access-Control-Request-Headers": "x-a"})
    assert answer.headers["access-control-allow-origin"] == "https://app.example"
    assert (before.status_code, before.headers["access-control-allow-headers"]) == (204, "x-a")


def test_a_token_is_needed_where_there_is_one(home: Path, tmp_path: Path) -> None:
    with serving(agent_file(tmp_path, "one", ["done"]), home=home, tokens={"ada": TOKEN, "bob": OTHER}) as running:
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}, {"Authorization": "Bearer é"}):
            answer = running.http.get("/v1/models", headers=[(k.encode(), v.encode()) for k, v in headers.items()])
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")
            assert answer.headers["www-authenticate"].startswith("Bearer")
        for token in (TOKEN, OTHER):
            assert running.http.get("/v1/models", headers={"Authorization": f"Bearer {token}"}).status_code == 200
        for path in ("/healthz", "/readyz", "/metrics"):
            assert running.http.get(path).status_code == 200


def test_who_answered_is_named_by_the_token_not_by_the_request(home: Path, tmp_path: Path) -> None:
    from tests.serve.running_server import calling

    asks = {"permissions": [{"tool": "effect", "action": "ask"}]}
    file = agent_file(tmp_path, "one", [calling(("effect", {"name": "e"})), "done"], **asks)
    with serving(file, home=home, tokens={"ada": TOKEN}) as running:
        running.http.headers["Authorization"] = f"Bearer {TOKEN}"
        running.http.post("/api/runs", json={"agent": "one", "prompt": "go"})
        answer = {"answer": "yes", "by": "the president"}
        assert running.http.post(f"/api/approvals/{running.question()['id']}", json=answer).json()["by"] == "ada"


def test_sessions_of_different_tokens_are_different(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", ["done"])
    with serving(file, home=home, tokens={"ada": TOKEN, "bob": OTHER}) as running:
        for token in (TOKEN, OTHER):
            running.http.headers["Authorization"] = f"Bearer {token}"
            running.http.headers["X-React-Session"] = "mine"
            running.chat("one")
    kept = sorted(path.stem for path in (home / "data" / "sessions").glob("*.json"))
    assert kept == ["serve-one-ada-mine", "serve-one-bob-mine"]


def raw(running: Running, data: bytes, seconds: float = 10) -> bytes:
    """Send bytes; what comes back until the connection is closed or silent."""
    host, port = running.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=seconds) as connection:
        connection.sendall(data)
        found = b""
        try:
            while part := connection.recv(65_536):
                found += part
                if b"\r\n\r\n" in found:
                    break
        except TimeoutError:
            pass
        return found


HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def test_bodies_and_headers_have_limits(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protection, "BODY_SECONDS", 0.3)
    with serving(agent_file(tmp_path, "one", ["done"]), home=home, max_body=1_000) as running:
        large = running.http.post("/v1/chat/completions", content=b"x" * 1_001)
        pieces = running.http.post("/v1/chat/completions", content=iter([b"x" * 600, b"x" * 600]))
        many = running.http.get("/v1/models", headers={f"x-{number}": "y" for number in range(200)})
        long = running.http.get("/v1/models", headers={"x-long": "y" * 40_000})
        begun = monotonic()
        slow = raw(running, HEAD + b"Content-Length: 500\r\n\r\n{")
        assert monotonic() - begun < 5
        nonsense = raw(running, b"\x00\x01\x02 nonsense\r\n\r\n")
        assert running.http.get("/healthz").status_code == 200
    assert [large.status_code, pieces.status_code, many.status_code] == [413, 413, 431]
    assert long.status_code in (400, 431)
    assert large.json()["error"]["code"] == "request_too_large"
    assert slow.startswith(b"HTTP/1.1 408")
    assert b"400" in nonsense.split(b"\r\n")[0]


def test_a_very_long_conversation_is_answered(home: Path, tmp_path: Path) -> None:
    messages = [{"role": ("user", "assistant")[number % 2], "content": f"m{number}"} for number in range(10_001)]
    with serving(agent_file(tmp_path, "one", ["done"]), home=home) as running:
        assert running.chat("one", messages=messages).status_code == 200


def test_secrets_are_in_no_answer(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.serve.running_server import calling

    secrets = [f"s3cr3t-{number:02}-{'abcdefgh'[number % 8] * 9}" for number in range(30)]
    for number, secret in enumerate(secrets):
        monkeypatch.setenv(f"API_KEY_{number}", secret)
    spoken = " ".join(secrets)
    file = agent_file(
        tmp_path,
        "one",
        [calling(("say", {"text": spoken}), text=spoken), calling(("effect", {"name": spoken})), spoken],
        system_prompt=" ".join(f"${{API_KEY_{number}}}" for number in range(30)),
        permissions=[{"tool": "effect", "action": "ask"}],
    )
    with serving(file, home=home) as running:
        shown = [running.chat("one", spoken).text, running.chat("one", spoken, stream=True).text]
        shown.append(running.http.get("/api/approvals").text)
        for approval in running.http.get("/api/approvals").json()["approvals"]:
            shown.append(running.http.post(f"/api/approvals/{approval['id']}", json={"answer": "yes"}).text)
            running.wait_for("completed", approval["run"])
        for run in running.http.get("/api/runs").json()["runs"]:
            paths = (f"/api/runs/{run['id']}", f"/api/runs/{run['id']}/events", "/api/runs", "/metrics")
            shown += [running.http.get(path).text for path in paths]
        shown.append(running.http.post("/v1/chat/completions", json={"model": spoken}).text)
    assert [secret for secret in secrets for text in shown[:-1] if secret in text] == []


def test_other_machines_are_let_in_only_with_a_token() -> None:
    with pytest.raises(ConfigError, match=r"a token is required.*--token-file"):
        ServeOptions(host="0.0.0.0").check()
    ServeOptions(host="0.0.0.0", tokens={"ada": TOKEN}).check()
    ServeOptions(host="localhost").check()


def test_tokens_come_from_a_file_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"# who may ask\nada {TOKEN}\n{OTHER}\n")
    monkeypatch.delenv("REACT_RUN_TOKEN", raising=False)
    assert tokens_from(str(path)) == {"ada": TOKEN, "token-2": OTHER}
    for text in ("", "# nothing", "short", f"a b {TOKEN}", f"ada {TOKEN}\nada {OTHER}"):
        path.write_text(text)
        with pytest.raises(ConfigError):
            tokens_from(str(path))
    with pytest.raises(ConfigError, match="No such file"):
        tokens_from(str(tmp_path / "none"))
    monkeypatch.setenv("REACT_RUN_TOKEN", TOKEN)
    assert tokens_from(None) == {"token": TOKEN}
