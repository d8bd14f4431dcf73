"""The command itself: how it starts, what keeps it from starting, signals, and what survives a kill."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests.serve.running_server import Process, agent_file, calling, until

pytestmark = pytest.mark.slow


def refused(arguments: list[str], home: Path, cwd: Path, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "react_run", "serve", *arguments],
        cwd=cwd,
        env={**os.environ, "REACT_RUN_HOME": str(home), **env},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done.stderr


def test_what_keeps_it_from_starting_is_said_with_the_way_out(home: Path, tmp_path: Path) -> None:
    one = agent_file(tmp_path, "one", ["done"])
    (tmp_path / "twin.yaml").write_text("name: one\nmodel: offline\n")
    (tmp_path / "bad.yaml").write_text("nmae: one\nmodel: offline\n")
    (tmp_path / "worse.yaml").write_text("model: [\n")
    twins = refused([one, "twin.yaml", "--trust"], home, tmp_path)
    assert "named 'one'" in twins
    assert "one.yaml" in twins
    both = refused(["bad.yaml", "worse.yaml"], home, tmp_path)
    assert "bad.yaml:1" in both
    assert "worse.yaml:" in both
    assert "no file none.yaml" in refused(["none.yaml"], home, tmp_path)
    assert "a token is required" in refused([one, "--trust", "--host", "0.0.0.0"], home, tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        text = refused(["twin.yaml", "--port", port], home, tmp_path)
        assert f"cannot listen on 127.0.0.1:{port}" in text
        assert "--port 0" in text
    (tmp_path / "writes.yaml").write_text("name: writes\nmodel: offline\ntoolsets: [{kind: files, read_only: false}]\n")
    shared = refused(["writes.yaml"], home, tmp_path)
    assert "--workspaces DIR" in shared


def test_runs_that_a_kill_cut_short_all_end_and_no_effect_happens_twice(home: Path, tmp_path: Path) -> None:
    replies = [
        calling(("slow", {"seconds": 0.05})),
        calling(("effect", {"name": "a"})),
        calling(("slow", {"seconds": 0.3})),
        calling(("effect", {"name": "b"})),
        "done",
    ]
    file = agent_file(tmp_path, "one", list(replies))
    with Process([file, "--trust"], home, tmp_path) as first:
        body = {"agent": "one", "prompt": "go"}
        runs = [first.http.post("/api/runs", json=body).json()["id"] for _ in range(20)]
        until(lambda: (tmp_path / "effects").exists() and len((tmp_path / "effects").read_text().split()) >= 5)
        first.process.kill()
        first.process.wait()
    with Process([file, "--trust", "--resume"], home, tmp_path) as second:
        for run in runs:
            until(lambda run=run: second.http.get(f"/api/runs/{run}").json()["status"] == "completed")
    happened = (tmp_path / "effects-by-run").read_text().splitlines()
    assert len(happened) == len({*happened})
    assert {line.split()[0] for line in happened} <= {*runs}


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="POSIX signals")
def test_files_are_read_again_and_a_wrong_one_changes_nothing(home: Path, tmp_path: Path) -> None:
    path = Path(agent_file(tmp_path, "one", ["before"]))
    body = {"model": "one", "messages": [{"role": "user", "content": "go"}]}

    def answer(server: Process) -> str:
        found = server.http.post("/v1/chat/completions", json=body).json()
        return str(found["choices"][0]["message"]["content"])

    with Process([str(path), "--trust"], home, tmp_path) as server:
        assert answer(server) == "before"
        agent_file(tmp_path, "one", ["after"])
        server.process.send_signal(signal.SIGHUP)
        until(lambda: answer(server) == "after")
        path.write_text("name: [")
        server.process.send_signal(signal.SIGHUP)
        until(lambda: "stays unchanged" in (home / "stderr.txt").read_text())
        assert answer(server) == "after"


def test_a_signal_ends_it_in_good_order_within_the_grace(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", [calling(("slow", {"seconds": 60})), "done"])
    with Process([file, "--trust", "--grace", "1s"], home, tmp_path) as server:
        run = server.http.post("/api/runs", json={"agent": "one", "prompt": "go"}).json()["id"]
        until((tmp_path / "begun").exists)
        server.process.terminate()
        assert server.process.wait(4) == 0
    assert (tmp_path / "cancelled").exists()
    assert f"run {run} was interrupted" in (home / "stderr.txt").read_text()


def test_the_opening_line_says_where_who_and_whether_a_token_is_needed(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", ["done"])
    token = "a-token-of-a-good-length"
    with Process([file, "--trust"], home, tmp_path, REACT_RUN_TOKEN=token) as server:
        assert server.opening == f"serving one on {server.url} (a token is required)\n"
        assert server.http.get("/v1/models").status_code == 401
        assert server.http.get("/v1/models", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    assert token not in (home / "stderr.txt").read_text()


def test_the_page_opens_on_what_is_kept_without_any_agent(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", ["done"])
    with Process([file, "--trust"], home, tmp_path) as server:
        run = server.http.post("/api/runs", json={"agent": "one", "prompt": "count the sheep"}).json()["id"]
        until(lambda: server.http.get(f"/api/runs/{run}").json()["status"] == "completed")
    with Process(["--no-open"], home, tmp_path, command="ui") as server:
        assert server.opening.startswith("serving no agents on http://127.0.0.1:")
        assert "count the sheep" in server.http.get("/runs").text
        assert "done" in server.http.get(f"/runs/{run}").text
        for path in ("/chat", "/agents", "/approvals", "/compare", "/v1/models"):
            assert server.http.get(path).status_code == 200
        assert (
            server.http.get("/runs/none", headers={"Accept": "text/html"})
            .headers["content-type"]
            .startswith("text/html")
        )


def test_without_saving_nothing_is_left(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", ["done"])
    with Process([file, "--trust", "--no-save"], home, tmp_path) as server:
        run = server.http.post("/api/runs", json={"agent": "one", "prompt": "go"}).json()["id"]
        until(lambda: server.http.get(f"/api/runs/{run}").json()["status"] == "completed")
        server.process.terminate()
        assert server.process.wait(10) == 0
    assert not [*(home / "data").glob("runs/*")] if (home / "data").exists() else True


@pytest.mark.parametrize("command", ["serve", "ui"])
def test_a_missing_extra_is_named_with_the_way_to_install_it(
    command: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from react_run.cli import serve
    from react_run.cli.exit import ended

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(serve, "NEEDED", ("no_such_distribution_at_all",))
    (tmp_path / "a.yaml").write_text("name: a\nmodel: offline\n", encoding="utf-8")
    arguments = ["serve", "a.yaml"] if command == "serve" else ["ui", "--no-open"]
    assert ended([*arguments, "--port", "0"]) == 2
    assert "pip install 'react-run[serve]'" in capsys.readouterr().err
