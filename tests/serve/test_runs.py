"""The API for runs: start, list, follow, stop, resume, replay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.serve.running_server import Running, agent_file, calling, serving, until


def start(running: Running, agent: str = "one", prompt: str = "go", **more: object) -> str:
    answer = running.http.post("/api/runs", json={"agent": agent, "prompt": prompt, **more})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def records(text: str) -> list[tuple[int, str, dict[str, Any]]]:
    """The events of a stream: number, kind, record."""
    found = []
    for part in text.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in part.split("\n") if ": " in line and not line.startswith(":"))
        if "id" in fields:
            found.append((int(fields["id"]), fields["event"], json.loads(fields["data"])))
    return found


def test_a_run_goes_on_when_nobody_watches_and_is_found_again(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", [calling(("slow", {"seconds": 0.2})), "done"])
    with serving(file, home=home) as running:
        run = start(running, prompt="count the sheep")
        done = running.wait_for("completed", run)
        listed = running.http.get("/api/runs").json()["runs"]
        assert running.http.get("/api/runs", params={"q": "SHEEP"}).json()["runs"] == listed
        assert running.http.get("/api/runs", params={"q": "goats"}).json()["runs"] == []
        assert running.http.get("/api/runs", params={"status": "running"}).json()["runs"] == []
        assert running.http.get(f"/api/runs/{run[:12]}").json() == done
    assert done["answer"] == "done"
    assert done["iterations"] == 2
    assert [entry["id"] for entry in listed] == [run]


def test_runs_come_in_pages(home: Path, tmp_path: Path) -> None:
    with serving(agent_file(tmp_path, "one", ["done"]), home=home) as running:
        runs = [start(running, prompt=f"task {number}") for number in range(5)]
        for run in runs:
            running.wait_for("completed", run)
        first = running.http.get("/api/runs", params={"limit": 3}).json()
        rest = running.http.get("/api/runs", params={"limit": 3, "after": first["next"]}).json()
        wrong = running.http.get("/api/runs", params={"limit": "many"})
    assert {entry["id"] for entry in first["runs"] + rest["runs"]} == {*runs}
    assert (len(first["runs"]), rest["next"], wrong.status_code) == (3, None, 400)


def test_records_are_sent_as_written_and_a_returning_reader_misses_nothing(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", [calling(("slow", {"seconds": 0.5})), "done"])
    with serving(file, home=home) as running:
        run = start(running)
        live = records(running.http.get(f"/api/runs/{run}/events").text)
        later = records(running.http.get(f"/api/runs/{run}/events", headers={"Last-Event-ID": "3"}).text)
    lines = (home / "data" / "runs" / f"{run}.jsonl").read_text().splitlines()
    assert [number for number, _, _ in live] == [*range(1, len(lines) + 1)]
    assert [record for _, _, record in live] == [json.loads(line) for line in lines]
    assert (live[0][1], live[-1][1]) == ("header", "footer")
    assert later == live[3:]


def test_a_stopped_run_ends_at_once_and_does_not_come_back_by_itself(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", [calling(("slow", {"seconds": 60})), "done"])
    with serving(file, home=home) as running:
        run = start(running)
        until((tmp_path / "begun").exists)
        assert running.http.post(f"/api/runs/{run}/stop").status_code == 202
        until((tmp_path / "cancelled").exists, 2)
        running.wait_for("interrupted", run)
        again = running.http.post(f"/api/runs/{run}/stop")
    assert again.json()["error"]["code"] == "run_ended"
    with serving(file, home=home, resume=True) as running:
        assert running.said == []
        assert running.http.get(f"/api/runs/{run}").json()["status"] == "interrupted"


def test_an_interrupted_run_is_resumed_and_a_finished_one_is_not(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", [calling(("effect", {"name": "e"})), calling(("slow", {"seconds": 1})), "done"])
    with serving(file, home=home) as running:
        run = start(running)
        until((tmp_path / "begun").exists)
    with serving(file, home=home) as running:
        assert running.said == [f"run {run[:12]} was interrupted; --resume resumes it"]
        assert running.http.post(f"/api/runs/{run}/resume").status_code == 202
        running.wait_for("completed", run)
        again = running.http.post(f"/api/runs/{run}/resume")
        unknown = running.http.post("/api/runs/abc/resume")
    assert again.json()["error"]["code"] == "run_ended"
    assert unknown.json()["error"]["code"] == "run_not_found"
    assert (tmp_path / "effects").read_text() == "e\n"


def test_a_replay_says_whether_anything_differs(home: Path, tmp_path: Path) -> None:
    replies: list[object] = [calling(("say", {"text": "x"})), "done"]
    file = agent_file(tmp_path, "one", replies)
    with serving(file, home=home) as running:
        run = start(running)
        running.wait_for("completed", run)
        same = running.http.post(f"/api/runs/{run}/replay").json()
    agent_file(tmp_path, "one", replies, system_prompt="Be different.")
    with serving(file, home=home) as running:
        other = running.http.post(f"/api/runs/{run}/replay").json()
    assert same == {"id": run, "identical": True, "complete": True, "difference": None}
    assert other["identical"] is False
    assert other["difference"]


WRONG: list[tuple[dict[str, object], int]] = [
    ({}, 400),
    ({"agent": "one"}, 400),
    ({"agent": "one", "prompt": 5}, 400),
    ({"agent": "one", "prompt": " "}, 400),
    ({"agent": "two", "prompt": "x"}, 404),
    ({"agent": "one", "prompt": "x", "session": 5}, 400),
    ({"agent": "one", "prompt": "x", "session": "../x"}, 400),
    ({"agent": "one", "prompt": "x", "messages": 5}, 400),
    ({"agent": "one", "prompt": "x", "messages": [5]}, 400),
    ({"agent": "one", "prompt": "x", "react_run": []}, 400),
]


def test_wrong_requests_about_runs_are_refused_in_words(home: Path, tmp_path: Path) -> None:
    with serving(agent_file(tmp_path, "one", ["done"]), home=home) as running:
        for body, status in WRONG:
            answer = running.http.post("/api/runs", json=body)
            assert (answer.status_code, bool(answer.json()["error"]["message"])) == (status, True), body
        for path in ("none", "..%2f..%2fetc%2fpasswd", "*", "%00", "a" * 40):
            assert running.http.get(f"/api/runs/{path}").status_code == 404
            assert running.http.get(f"/api/runs/{path}/events").status_code == 404
            assert running.http.post(f"/api/runs/{path}/stop").status_code == 404


def test_a_drain_ends_streams_and_leaves_runs_that_can_be_resumed(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", [calling(("slow", {"seconds": 60})), "done"])
    with serving(file, home=home, grace=0.5) as running:
        run = start(running)
        until((tmp_path / "begun").exists)
        with running.http.stream("GET", f"/api/runs/{run}/events") as stream:
            lines = stream.iter_lines()
            next(lines)
            running.call(running.server.end)
            until(lambda: running.service.jobs.draining)
            assert running.http.get("/readyz").status_code == 503
            refused = running.chat("one")
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "draining")
            assert [*lines][-2:] == ["data: {}", ""]
        with pytest.raises(httpx.HTTPError):
            until(lambda: running.http.get("/healthz").status_code != 200, 5)
    assert running.said[-1] == f"run {run} was interrupted; continue it with react-run resume {run[:12]}"
