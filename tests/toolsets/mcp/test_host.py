"""The loop that all servers of the process live on, asked for by several threads."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from collections.abc import Callable
from typing import Any

import pytest
from tests.meanwhile import meanwhile

from react_toolsets.mcp import host, stragglers


class Holders(set[object]):
    """Toolsets that use a server; something happens before one is added."""

    before: Callable[[], object] | None = None

    def add(self, holder: object) -> None:
        before, self.before = self.before, None
        if before is not None:
            before()
        super().add(holder)


class Stub:
    """A server that counts how often it is stopped."""

    def __init__(self, target: object) -> None:
        self.target, self.holders, self.stopped = target, Holders(), 0

    async def stop(self) -> None:
        self.stopped += 1


def test_a_server_that_somebody_is_about_to_hold_is_not_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "Server", Stub)
    monkeypatch.setattr(atexit, "register", lambda _: None)
    ours = host.Host()
    others: list[threading.Thread] = []
    target: Any = "a target"
    try:
        server: Any = ours.hold(target, "first")
        server.holders.before = lambda: others.append(meanwhile(lambda: asyncio.run(ours.release([target], "first"))))
        again: Any = ours.hold(target, "second")
        assert again is server
        others[0].join(60)
        assert ours.servers == {target: server}
        assert server.stopped == 0
    finally:
        ours.loop.call_soon_threadsafe(ours.loop.stop)
        while ours.loop.is_running():
            threading.Event().wait(0.01)
        ours.loop.close()


def test_threads_that_need_the_host_at_once_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    got: list[object] = []
    others: list[threading.Thread] = []

    class Slow:
        def __init__(self) -> None:
            self.pid = os.getpid()
            self.servers: dict[object, object] = {}
            if not others:
                others.append(meanwhile(lambda: got.append(host.the_host())))

    monkeypatch.setattr(host, "_host", None)
    monkeypatch.setattr(host, "Host", Slow)
    got.append(host.the_host())
    others[0].join(60)
    assert got[0] is got[1]


def test_threads_that_start_servers_at_once_share_a_watcher(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    started: list[int] = []
    others: list[threading.Thread] = []

    def start() -> int:
        started.append(writing)
        if not others:
            others.append(meanwhile(lambda: stragglers._watch("b")))
        return writing

    monkeypatch.setattr(stragglers, "_watchers", {})
    monkeypatch.setattr(stragglers, "_started", start)
    try:
        stragglers._watch("a")
        others[0].join(60)
        assert started == [writing]
        assert sorted(os.read(reading, 100).split()) == [b"a", b"b"]
    finally:
        os.close(reading)
        os.close(writing)
