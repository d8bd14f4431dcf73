"""Questions that people answer by the server: once, about exactly this, and whatever happened in between."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from time import sleep

import pytest
from tests.serve.running_server import Process, agent_file, calling, serving, until

ASKS = {"permissions": [{"tool": "effect", "action": "ask"}]}
REPLIES: list[object] = [calling(("effect", {"name": "e"})), "done"]


def effects(folder: Path) -> list[str]:
    path = folder / "effects"
    return path.read_text().split() if path.exists() else []


def kinds(home: Path, run: str) -> list[str]:
    lines = (home / "data" / "runs" / f"{run}.jsonl").read_text().splitlines()
    return [json.loads(line)["type"] for line in lines]


def test_a_question_is_asked_answered_once_and_recorded(home: Path, tmp_path: Path) -> None:
    with serving(agent_file(tmp_path, "one", REPLIES, **ASKS), home=home) as running:
        run = running.http.post("/api/runs", json={"agent": "one", "prompt": "go"}).json()["id"]
        asked = running.question()
        assert (asked["run"], asked["tool"], asked["arguments"]) == (run, "effect", {"name": "e"})
        assert running.http.get(f"/api/runs/{run}").json()["status"] == "waiting"
        path = f"/api/approvals/{asked['id']}"
        for wrong in ({}, {"answer": "perhaps"}, {"answer": 7}, {"answer": "yes", "by": 5}):
            assert running.http.post(path, json=wrong).status_code == 400
        assert effects(tmp_path) == []
        assert running.http.post(path, json={"answer": "yes", "by": "Ada", "note": "looks right"}).status_code == 200
        again = running.http.post(path, json={"answer": "no"})
        assert (again.status_code, again.json()["error"]["code"]) == (409, "already_answered")
        assert "'yes' by Ada" in again.json()["error"]["message"]
        assert running.wait_for("completed", run)["answer"] == "done"
        assert running.http.post("/api/approvals/none", json={"answer": "yes"}).status_code == 404
    assert effects(tmp_path) == ["e"]
    lines = [json.loads(line) for line in (home / "data" / "runs" / f"{run}.jsonl").read_text().splitlines()]
    decision = next(line for line in lines if line["type"] == "decided")
    assert (decision["answer"], decision["by"]) == ("yes", "Ada")
    assert any(line["type"] == "guard" and "looks right" in line["detail"] for line in lines)


def test_no_keeps_the_tool_from_running(home: Path, tmp_path: Path) -> None:
    with serving(agent_file(tmp_path, "one", REPLIES, **ASKS), home=home) as running:
        run = running.http.post("/api/runs", json={"agent": "one", "prompt": "go"}).json()["id"]
        running.http.post(f"/api/approvals/{running.question()['id']}", json={"answer": "no"})
        running.wait_for("completed", run)
    assert effects(tmp_path) == []


def test_a_chat_that_needs_a_person_answers_with_the_question(home: Path, tmp_path: Path) -> None:
    with serving(agent_file(tmp_path, "one", REPLIES, **ASKS), home=home) as running:
        whole = running.chat("one").json()
        about = whole["react_run"]
        assert about["status"] == "waiting"
        assert "effect" in whole["choices"][0]["message"]["content"]
        running.http.post(f"/api/approvals/{about['approvals'][0]}", json={"answer": "yes"})
        assert running.wait_for("completed", about["run"])["answer"] == "done"
        streamed = running.chat("one", stream=True)
        assert '"status":"waiting"' in streamed.text
        assert streamed.text.endswith("data: [DONE]\n\n")
    assert effects(tmp_path) == ["e"]


def test_a_run_that_waits_long_is_put_aside_and_goes_on_with_the_answer(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", REPLIES, **ASKS)
    with serving(file, home=home, park_after=0.1) as running:
        run = running.http.post("/api/runs", json={"agent": "one", "prompt": "go"}).json()["id"]
        asked = running.question()
        until(lambda: not running.service.jobs.live)
        assert running.http.get(f"/api/runs/{run}").json()["status"] == "waiting"
        assert running.http.get("/api/approvals").json()["approvals"][0]["parked"] is True
        path = f"/api/approvals/{asked['id']}"
        assert running.http.post(path, json={"answer": "yes", "note": "late"}).status_code == 200
        assert running.http.post(path, json={"answer": "no"}).status_code == 409
        running.wait_for("completed", run)
    assert effects(tmp_path) == ["e"]
    assert kinds(home, run).count("asked") == kinds(home, run).count("decided") == 1


def test_a_question_is_still_there_after_a_kill_and_its_answer_counts_once(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", REPLIES, **ASKS)
    with Process([file, "--trust"], home, tmp_path) as first:
        run = first.http.post("/api/runs", json={"agent": "one", "prompt": "go"}).json()["id"]
        asked = until(lambda: first.http.get("/api/approvals").json()["approvals"])[0]
        first.process.kill()
    with serving(file, home=home) as running:
        again = running.question()
        assert (again["id"], again["arguments"], again["parked"]) == (asked["id"], asked["arguments"], True)
        assert running.http.post(f"/api/approvals/{asked['id']}", json={"answer": "yes"}).status_code == 200
        running.wait_for("completed", run)
    with serving(file, home=home) as running:
        assert running.http.post(f"/api/approvals/{asked['id']}", json={"answer": "no"}).status_code in (404, 409)
    assert effects(tmp_path) == ["e"]


def test_a_decision_survives_a_crash_before_the_run_goes_on(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", REPLIES, **ASKS)
    with serving(file, home=home, park_after=0.1) as running:
        run = running.http.post("/api/runs", json={"agent": "one", "prompt": "go"}).json()["id"]
        asked = running.question()
        until(lambda: not running.service.jobs.live)
        running.service.jobs.spawn = lambda work: work.close()  # type: ignore[assignment, return-value]  # the crash
        assert running.http.post(f"/api/approvals/{asked['id']}", json={"answer": "yes"}).status_code == 200
    assert effects(tmp_path) == []
    with serving(file, home=home, resume=True) as running:
        assert running.http.get("/api/approvals").json()["approvals"] == []
        running.wait_for("completed", run)
    assert effects(tmp_path) == ["e"]


def test_a_decision_that_the_disk_does_not_keep_is_none(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    file = agent_file(tmp_path, "one", REPLIES, **ASKS)
    with serving(file, home=home, park_after=0.1) as running:
        running.http.post("/api/runs", json={"agent": "one", "prompt": "go"})
        asked = running.question()
        until(lambda: not running.service.jobs.live)
        with monkeypatch.context() as disk:
            disk.setattr(os, "fsync", full)
            answer = running.http.post(f"/api/approvals/{asked['id']}", json={"answer": "yes"})
        assert (answer.status_code, "the decision cannot be stored" in answer.text) == (500, True)
    assert effects(tmp_path) == []


def test_an_answer_never_fits_other_arguments(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", [calling(("effect", {"name": "small"})), "done"], **ASKS)
    with serving(file, home=home, park_after=0.1) as running:
        run = running.http.post("/api/runs", json={"agent": "one", "prompt": "go"}).json()["id"]
        asked = running.question()
        until(lambda: not running.service.jobs.live)
        journal = home / "data" / "runs" / f"{run}.jsonl"
        journal.write_text(journal.read_text().replace("small", "large"))
        running.http.post(f"/api/approvals/{asked['id']}", json={"answer": "yes"})
        sleep(0.5)
        assert effects(tmp_path) == []


def test_what_nobody_answers_in_time_is_answered_with_no(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", REPLIES, **ASKS)
    with serving(file, home=home, park_after=0.05, expires=0.3) as running:
        run = running.http.post("/api/runs", json={"agent": "one", "prompt": "go"}).json()["id"]
        asked = running.question()
        sleep(0.4)
        late = running.http.post(f"/api/approvals/{asked['id']}", json={"answer": "yes"})
        assert (late.status_code, late.json()["error"]["code"]) == (409, "already_answered")
        running.wait_for("completed", run)
    assert effects(tmp_path) == []


def test_waiting_for_a_person_takes_no_slot(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", REPLIES, **ASKS)
    other = agent_file(tmp_path, "two", ["done"])
    with serving(file, other, home=home, max_runs=1, queue=0) as running:
        running.http.post("/api/runs", json={"agent": "one", "prompt": "go"})
        running.question()
        assert running.chat("two").status_code == 200


def family(folder: Path, replies: list[object]) -> str:
    """An agent that hands its task to a helper, whose effects need a person's permission."""
    agent_file(folder, "helper", [calling(("effect", {"name": "before"})), *replies, "helped"], **ASKS)
    above: list[object] = [calling(("helper", {"task": "help"})), "all done"]
    return agent_file(folder, "one", above, toolsets=[{"kind": "agents", "agents": ["helper.yaml"]}])


def test_a_question_of_a_subagent_is_put_aside_and_outlives_the_server(home: Path, tmp_path: Path) -> None:
    file = family(tmp_path, [calling(("effect", {"name": "after"}))])
    with serving(file, home=home, park_after=0.1) as running:
        run = running.http.post("/api/runs", json={"agent": "one", "prompt": "go"}).json()["id"]
        first = running.question()
        assert (first["run"], first["arguments"]) == (run, {"name": "before"})
        until(lambda: not running.service.jobs.live)
        assert running.question()["parked"] is True
        running.http.post(f"/api/approvals/{first['id']}", json={"answer": "yes"})
        until(lambda: running.question()["arguments"] == {"name": "after"})
    assert effects(tmp_path) == ["before"]
    with serving(file, home=home) as running:
        second = running.question()
        assert (second["arguments"], second["parked"]) == ({"name": "after"}, True)
        assert running.http.post(f"/api/approvals/{second['id']}", json={"answer": "yes"}).status_code == 200
        done = running.wait_for("completed", run)
        assert (done["answer"], done["usage"]["requests"]) == ("all done", 5)
        about = running.http.post(f"/api/runs/{run}/replay").json()
        assert about["identical"], about
    assert effects(tmp_path) == ["before", "after"]


def test_a_subagent_that_a_kill_cut_short_goes_on_where_it_was(home: Path, tmp_path: Path) -> None:
    file = family(tmp_path, [calling(("slow", {"seconds": 1.5}))])
    with Process([file, "--trust"], home, tmp_path) as first:
        run = first.http.post("/api/runs", json={"agent": "one", "prompt": "go"}).json()["id"]
        asked = until(lambda: first.http.get("/api/approvals").json()["approvals"])[0]
        first.http.post(f"/api/approvals/{asked['id']}", json={"answer": "yes"})
        until((tmp_path / "begun").exists)
        first.process.kill()
    with serving(file, home=home, resume=True) as running:
        assert running.wait_for("completed", run)["answer"] == "all done"
        assert running.http.get("/api/approvals").json()["approvals"] == []
    assert effects(tmp_path) == ["before"]
