"""What is written to the terminal from several threads."""

from __future__ import annotations

import io
import sys
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from tests.meanwhile import meanwhile

from react_run.cli.run_once import OneRun
from react_run.cli.screen import Screen


def test_a_line_of_another_thread_waits_for_the_end_of_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    others: list[threading.Thread] = []

    class Slow(io.StringIO):
        def write(self, text: str) -> int:
            written = super().write(text)
            if not others and "first" in text:
                others.append(meanwhile(lambda: screen.note("second")))
            return written

    out = Slow()
    monkeypatch.setattr(sys, "stderr", out)
    screen = Screen()
    screen.note("first")
    others[0].join(60)
    assert out.getvalue() == "first\nsecond\n"


def test_a_ctrl_c_as_the_status_line_appears_leaves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    stopped: list[bool] = []

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(screen, "start_status", interrupted)
    monkeypatch.setattr(screen, "stop_status", lambda: stopped.append(True))
    once: Any = SimpleNamespace(screen=screen)
    with pytest.raises(KeyboardInterrupt):
        OneRun.answer(once, "go")
    assert stopped == [True]
