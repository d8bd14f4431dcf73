"""``Idempotency-Key`` across servers: the same request is the same run, whatever became of the server that began it."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from time import time
from typing import Any

import pytest
from tests.serve.running_server import Process, Running, agent_file, calling, events, serving, until

EFFECT = calling(("effect", {"name": "e"}))
KEY = {"Idempotency-Key": "k"}


def body(**fields: Any) -> dict[str, Any]:
    return {"model": "one", "messages": [{"role": "user", "content": "go"}], **fields}


def ask(running: Running | Process, **fields: Any) -> Any:
    return running.http.post("/v1/chat/completions", json=body(**fields), headers=KEY)


def said(answer: Any) -> Any:
    """What an answer says, but for the times of its steps: a journal rounds them."""
    data = answer.json()
    for step in data["choices"][0]["provider_specific_fields"]["react_trace"]:
        step["seconds"] = step["started"] = None
    return data


def test_a_result_is_that_of_the_same_run_after_a_restart(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", [EFFECT, "done"])
    with serving(file, home=home) as running:
        first = ask(running)
    with serving(file, home=home) as running:
        again, streamed = ask(running), ask(running, stream=True)
        other = ask(running, seed=1)
    assert again.headers["x-request-id"] == first.headers["x-request-id"]
    assert said(again) == said(first)
    assert (streamed.status_code, other.json()["error"]["code"]) == (409, "idempotency_mismatch")
    assert (tmp_path / "effects").read_text() == "e\n"


def test_a_stream_ends_with_the_same_answer_after_a_restart(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", [EFFECT, "done"])
    with serving(file, home=home) as running:
        first = ask(running, stream=True)
    with serving(file, home=home) as running:
        again = ask(running, stream=True)
    for answer in (first, again):
        chunks = events(answer.text)
        assert "".join(chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks) == "done"
        assert {chunk["id"] for chunk in chunks} == {f"chatcmpl-{first.headers['x-request-id']}"}
    assert (tmp_path / "effects").read_text() == "e\n"


def test_a_run_that_a_kill_cut_short_goes_on_for_its_client(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", [EFFECT, calling(("slow", {"seconds": 1})), "done"])
    request = {"agent": "one", "prompt": "go"}
    with Process([file, "--trust"], home, tmp_path) as first:
        run = first.http.post("/api/runs", json=request, headers=KEY).json()["id"]
        until((tmp_path / "begun").exists)
        first.process.kill()
        first.process.wait()
    with serving(file, home=home) as running:
        assert running.http.post("/api/runs", json=request, headers=KEY).json()["id"] == run
        assert running.wait_for("completed", run)["answer"] == "done"
        assert running.http.post("/api/runs", json=request, headers=KEY).json()["id"] == run
    assert (tmp_path / "effects").read_text() == "e\n"


def test_a_key_whose_run_never_began_begins_it(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", ["done"])
    with serving(file, home=home) as running:
        run = ask(running).headers["x-request-id"]
    (home / "data" / "runs" / f"{run}.jsonl").unlink()  # as a kill right after the key was kept leaves it
    with serving(file, home=home) as running:
        again = ask(running)
    assert (again.status_code, again.headers["x-request-id"]) == (200, run)


def test_a_failure_is_the_same_failure_after_a_restart(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", [{"error": {"status": 401, "message": "no key"}}] * 9)
    with serving(file, home=home) as running:
        first = ask(running)
    with serving(file, home=home) as running:
        again = ask(running)
    assert (first.status_code, again.status_code) == (502, 502)
    assert again.json() == first.json()


def test_a_question_still_waits_for_its_client_after_a_restart(home: Path, tmp_path: Path) -> None:
    asks = {"permissions": [{"tool": "effect", "action": "ask"}]}
    file = agent_file(tmp_path, "one", [EFFECT, "done"], **asks)
    with serving(file, home=home) as running:
        first = ask(running).json()["react_run"]
    with serving(file, home=home) as running:
        assert ask(running).json()["react_run"] == first
        running.http.post(f"/api/approvals/{first['approvals'][0]}", json={"answer": "yes"})
        running.wait_for("completed", first["run"])
        assert ask(running).json()["choices"][0]["message"]["content"] == "done"
    assert (tmp_path / "effects").read_text() == "e\n"


def test_a_run_that_somebody_stopped_stays_stopped(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", [calling(("slow", {"seconds": 60})), "done"])
    request = {"agent": "one", "prompt": "go"}
    with serving(file, home=home) as running:
        run = running.http.post("/api/runs", json=request, headers=KEY).json()["id"]
        until((tmp_path / "begun").exists)
        running.http.post(f"/api/runs/{run}/stop")
        until(lambda: not running.service.jobs.live)
    with serving(file, home=home) as running:
        assert running.http.post("/api/runs", json=request, headers=KEY).json()["id"] == run
        assert not running.service.jobs.live


def test_a_refused_request_leaves_its_key_free(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", [calling(("slow", {"seconds": 60})), "done"])
    with serving(file, home=home, max_runs=1, queue=0) as running:
        other = running.http.post("/api/runs", json={"agent": "one", "prompt": "go"}).json()["id"]
        assert ask(running).status_code == 429
        running.http.post(f"/api/runs/{other}/stop")
        until(lambda: not running.service.jobs.live)
        running.service.agents.get("one").agent.model.replies = ["free"]  # type: ignore[union-attr]  # the scripted one
        assert ask(running, seed=1).status_code == 200


@pytest.mark.parametrize("damage", ["", "{}", "[1]", "\x00"])
def test_a_damaged_or_old_key_is_forgotten(home: Path, tmp_path: Path, damage: str) -> None:
    file = agent_file(tmp_path, "one", ["done"])
    with serving(file, home=home) as running:
        first = ask(running).headers["x-request-id"]
        running.service.once._jobs.clear()
        (kept,) = (home / "data" / "runs" / "keys").glob("*.json")
        kept.write_text(damage)
        second = ask(running).headers["x-request-id"]
        assert first != second
        os.utime(kept, (time() - 90_000, time() - 90_000))
        running.service.once._swept = 0.0
        running.http.post("/v1/chat/completions", json=body(), headers={"Idempotency-Key": "another"})
        assert not kept.exists()


def test_a_key_that_cannot_be_made_to_last_begins_no_run(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    file = agent_file(tmp_path, "one", [EFFECT, "done"])
    with serving(file, home=home) as running:
        with monkeypatch.context() as disk:
            disk.setattr(os, "fsync", full)
            answer = ask(running)
        assert (answer.status_code, "No space left" in answer.text) == (500, True)
        assert not (tmp_path / "effects").exists()
        assert ask(running).status_code == 200
