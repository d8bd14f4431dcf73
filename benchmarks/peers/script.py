"""The work every contender does: a script's calls of ``add``, and the answer ``done``; and the proof that it did."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass

ANSWER = "done"


@dataclass(frozen=True)
class Call:
    """One call of ``add``, as a model asks for it: with ``arguments``, or with them as ``text`` on the wire."""

    id: str
    arguments: dict[str, int]
    text: str


class Script:
    """What the model says in one run, and what the tool was called with in it.

    Args:
        iterations: Replies that ask for calls, before the answer.
        width: Calls in each of them.
        seconds: What a call waits.
        plain: ``tool`` is a plain function, otherwise a coroutine function.
    """

    def __init__(self, iterations: int, *, width: int = 1, seconds: float = 0.0, plain: bool = False) -> None:
        self.iterations, self.width, self.seconds, self.plain = iterations, width, seconds, plain
        self.tool: Callable[[int, int], int | Awaitable[int]] = plain_add(self) if plain else waiting_add(self)
        calls = [self._call(number) for number in range(iterations * width)]
        self._replies = [calls[number * width : (number + 1) * width] for number in range(iterations)]
        self._expected = [number + 2 for number in range(iterations * width)]
        self.start()

    @staticmethod
    def _call(number: int) -> Call:
        arguments = {"a": number, "b": 2}
        return Call(f"c{number}", arguments, json.dumps(arguments))

    def start(self) -> None:
        """A run begins."""
        self.replies_given = 0
        self.sums: list[int] = []

    def reply(self) -> list[Call]:
        """The calls of the next reply: none when it is the answer."""
        self.replies_given += 1
        return [] if self.replies_given > self.iterations else self._replies[self.replies_given - 1]

    def check(self, answer: object) -> None:
        """A run ended with ``answer``: every call was executed once, with its own arguments."""
        assert answer == ANSWER, f"answered {answer!r}"
        assert self.replies_given == self.iterations + 1, f"the model was asked {self.replies_given} times"
        assert sorted(self.sums) == self._expected, f"{len(self.sums)} calls were executed: {self.sums}"


def plain_add(script: Script) -> Callable[[int, int], int]:
    """The tool as a plain function."""

    def add(a: int, b: int) -> int:
        """Add two numbers."""
        if script.seconds:
            time.sleep(script.seconds)
        script.sums.append(a + b)
        return a + b

    return add


def waiting_add(script: Script) -> Callable[[int, int], Awaitable[int]]:
    """The tool as a coroutine function."""

    async def add(a: int, b: int) -> int:
        """Add two numbers."""
        if script.seconds:
            await asyncio.sleep(script.seconds)
        script.sums.append(a + b)
        return a + b

    return add


def in_a_loop(run: Callable[[], Coroutine[object, object, str]]) -> Callable[[], str]:
    """``run`` for callers outside an event loop; the loop is made once."""
    loop = asyncio.new_event_loop()
    return lambda: loop.run_until_complete(run())
