"""The services of ``examples/compose.yaml``: what their workers are told to do, done without containers."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from tests.postgres import Server

from react_run.batch import Row
from react_run.batch.catalogue import begun
from react_run.batch.engine import Terms
from react_run.launch.options import AgentOptions, built

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 300


@pytest.fixture
def services() -> dict[str, Any]:
    """What the file says of each service."""
    text = (ROOT / "examples" / "compose.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.safe_load(text)["services"]
    return found


def test_workers_reach_the_database_that_stands_beside_them(services: dict[str, Any]) -> None:
    database, worker = services["database"], services["worker"]
    told = {name.removeprefix("POSTGRES_").lower(): value for name, value in database["environment"].items()}
    assert f"postgres://{told['user']}:{told['password']}@database/{told['db']}" in worker["command"][2]
    assert worker["depends_on"] == {"database": {"condition": "service_healthy"}}
    assert worker["deploy"]["replicas"] == 3
    # While the image sets up its database, only the socket answers: workers would be let in too early.
    assert "127.0.0.1" in database["healthcheck"]["test"]


@pytest.mark.slow
def test_a_worker_of_another_directory_does_the_rows_and_ends_when_told(
    services: dict[str, Any], server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))
    shutil.copytree(ROOT / "agents", tmp_path / "agents")
    install, command = services["worker"]["command"][2].split("&&")
    assert install.strip() == "pip install -q 'react-run[batch-postgres]'"
    with psycopg.connect(server.url.replace("postgres://", "postgresql://"), autocommit=True) as connection:
        connection.execute("drop schema if exists react_run cascade")
        connection.execute("drop schema if exists dbos cascade")
        asyncio.run(_begin(server.url))
        environment = {**os.environ, "REACT_RUN_HOME": str(tmp_path / "other"), "HOME": str(tmp_path / "nobody")}
        environment["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        with (tmp_path / "log").open("wb") as log:
            there = command.replace("postgres://react:react@database/react", server.url)
            worker = subprocess.Popen(
                ["sh", "-c", there], cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        try:
            give_up = time.monotonic() + PATIENCE
            while connection.execute("select ok from react_run.batches").fetchone() != (5,):
                assert worker.poll() is None, (tmp_path / "log").read_text(encoding="utf-8")
                assert time.monotonic() < give_up, (tmp_path / "log").read_text(encoding="utf-8")
                time.sleep(0.1)
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(timeout=PATIENCE) == 0
        finally:
            worker.kill()
            worker.wait()


async def _begin(url: str) -> None:
    agent = built(AgentOptions(file=str(ROOT / "agents" / "calculator.yaml")).config(), [], ())
    engine, _ = await begun(url, "sums", agent, Terms())
    await engine.begin("adds")
    await engine.add(Row(index=index, prompt=f"{index}+1") for index in range(5))
    await engine.close()
