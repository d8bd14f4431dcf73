"""Questions at the terminal of several runs."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from react_run.questions import tty


def test_a_question_waits_until_another_was_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    real = os.open

    def watched(path: Any, *rest: Any, **more: Any) -> int:
        if path == "/dev/tty":
            opened.append(path)
            raise OSError("no terminal")
        return real(path, *rest, **more)

    async def asked() -> str | None:
        tty._one_at_a_time.acquire()
        question = asyncio.ensure_future(tty.ask_on_terminal("Sure? "))
        await asyncio.wait((question,), timeout=0.3)
        assert opened == []
        tty._one_at_a_time.release()
        return await question

    monkeypatch.setattr(os, "open", watched)
    assert asyncio.run(asked()) is None
    assert opened == ["/dev/tty"]
