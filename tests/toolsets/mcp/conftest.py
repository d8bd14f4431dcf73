"""Everything of a test happens in a directory of its own, and no server outlives it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from react_toolsets.mcp.host import host_if_any


@pytest.fixture(autouse=True)
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    host = host_if_any()
    if host is not None:
        for server in list(host.servers.values()):
            asyncio.run_coroutine_threadsafe(server.stop(), host.loop).result(10)
        host.servers.clear()
