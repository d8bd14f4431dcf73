"""The page's batches: how far they are, their rows, the runs behind them."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.batch.batch_agents import adding
from tests.serve.running_server import agent_file, serving

from react_run.batch import Batch, run_batch
from react_run.batch.home import Home
from react_run.batch.sqlite import SqliteEngine


async def _all(batch: Batch) -> None:
    await batch


def test_batches_and_the_runs_of_their_rows_are_shown(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", ["done"])
    with serving(file, home=home) as running:
        assert "No batch yet" in running.http.get("/batches").text
        rows: list[object] = [{"prompt": f"p{number}", "id": f"row-{number}"} for number in range(60)]
        asyncio.run(_all(run_batch(adding(), [*rows, {"text": "no prompt"}], name="sums")))
        listed = running.http.get("/batches").text
        assert "100% done" in listed
        assert ">finished<" in listed
        first = running.http.get("/batches/sums").text
        assert ("row-0<" in first, "row-50<" in first, "row-59<" in first) == (True, False, False)
        assert "row-59<" in running.http.get("/batches/sums?start=50").text
        failed = running.http.get("/batches/sums?only=error").text
        assert "row-0<" not in failed
        assert "prompt" in failed
        run = first.split('href="/runs/')[1].split('"')[0]
        assert ">p0<" in running.http.get(f"/runs/{run}").text
        assert running.http.get("/batches/none").status_code == 404


def test_a_batch_can_be_stopped_from_the_page_only(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", ["done"])
    with serving(file, home=home) as running:
        queue = SqliteEngine(Home.named("waits"), batch="b")
        from react_run.batch import Row

        asyncio.run(queue.add([Row(index=0, prompt="a")]))
        assert ">interrupted<" in running.http.get("/batches").text
        assert running.http.post("/batches/waits/stop").status_code == 403
        token = running.server.gate.page_token
        assert running.http.post("/batches/waits/stop", headers={"X-React-Page": token}).status_code == 303
        assert ">stopped<" in running.http.get("/batches").text
        queue.close_now()


def test_a_damaged_batch_is_named_and_the_others_are_shown(home: Path, tmp_path: Path) -> None:
    file = agent_file(tmp_path, "one", ["done"])
    with serving(file, home=home) as running:
        asyncio.run(_all(run_batch(adding(), ["a"], name="sums")))
        broken = Home.named("broken")
        broken.runs.mkdir(parents=True)
        broken.database.write_bytes(b"no database" * 1_000)
        listed = running.http.get("/batches").text
        assert ">damaged<" in listed
        assert ">finished<" in listed
        assert "cannot be used" in running.http.get("/batches/broken").text
