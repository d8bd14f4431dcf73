"""What is written to the terminal from several threads."""

from __future__ import annotations

import io
import sys
import threading

import pytest
from tests.meanwhile import meanwhile

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
