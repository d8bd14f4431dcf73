"""Clocks that stand still while a person is asked."""

from __future__ import annotations

import threading

import pytest
from tests.meanwhile import meanwhile

from react_run.engine import timer
from react_run.engine.timer import Pauses


def test_a_pause_that_begins_as_another_ends_takes_nothing_from_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = Pauses()
    others: list[threading.Thread] = []
    times = iter([0.0, 10.0, 10.0, 10.0])

    def clock() -> float:
        now = next(times)
        if now and not others:  # the first pause is about to be added
            others.append(threading.current_thread())  # so that the other thread does not do the same
            others.append(meanwhile(pauses.begin))
        return now

    monkeypatch.setattr(timer, "perf_counter", clock)
    pauses.begin()
    pauses.end()
    others[1].join(60)
    assert pauses.seconds == 10.0
