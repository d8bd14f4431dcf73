"""The world the tasks are about: tools with results that can be checked, side effects that are counted, and faults."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable
from random import Random
from typing import Any

from react_run import Outcome, ReActSkillSpec, ReActToolset, tool
from react_run.outcome import Disposition

METRES = {"foot": 0.3048, "yard": 0.9144, "mile": 1609.344}


class World:
    """What is true in one run, and what was done to it."""

    def __init__(self, seed: str) -> None:
        self.random = Random(seed)
        self.numbers = {page: self.random.randint(10, 99) for page in range(1, 61)}
        self.code = f"{self.random.randrange(16**6):06x}"
        self.weight = self.random.randint(2, 9)
        self.payments: list[tuple[int, str]] = []
        self.notes: dict[str, str] = {}
        self.progress = 0
        self.runs: Counter[str] = Counter()
        self.asked: set[int] = set()
        self.released = threading.Event()
        self.page_size = 0
        self.archive: Callable[[World], object] = plain_archive
        self.faults: dict[str, Callable[[World], object]] = {}

    def meet(self, name: str) -> object:
        """Run the fault of a tool, if it has one; it may raise, return an odd result, or return nothing."""
        self.runs[name] += 1
        fault = self.faults.get(name)
        return None if fault is None else fault(self)


def plain_archive(world: World) -> object:
    """10 MB of text with the code at three quarters."""
    return "-" * 7_500_000 + f" CODE={world.code} " + "-" * 2_500_000


def listed_archive(world: World) -> object:
    """200 000 elements."""
    return [f"CODE={world.code}" if index == 150_000 else index for index in range(200_000)]


def wide_archive(world: World) -> object:
    """Characters of three and four bytes at every cut."""
    return "漢😀" * 40_000 + f" CODE={world.code} " + "é" * 20_000


def broken_archive(world: World) -> object:
    """Bytes that are not UTF-8."""
    return b"\xff\xfe\x00" * 40_000 + f" CODE={world.code} ".encode() + b"\x80" * 20_000


def decoded_badly(world: World) -> object:
    """Lone surrogates and control characters."""
    return "\udcff\x1b[2J" * 10_000 + f" CODE={world.code} " + "\x00" * 10_000


async def hang(world: World) -> object:
    """Never return."""
    await asyncio.Event().wait()
    return None


def block(world: World) -> object:
    """Hold the thread until the bench lets go."""
    world.released.wait(60)
    return None


async def hanging_program(world: World) -> object:
    """Start a program that starts another, and wait for ever."""
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", "sleep 600 & sleep 600", start_new_session=True, stdout=asyncio.subprocess.DEVNULL
    )
    try:
        return await process.wait()
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def first(fault: Callable[[World], object], tool_name: str, times: int = 1) -> Callable[[World], object]:
    """A fault of the first calls only."""
    return lambda world: fault(world) if world.runs[tool_name] <= times else None


def raises(error: Callable[[], BaseException]) -> Callable[[World], object]:
    """A fault that raises."""

    def fault(world: World) -> object:
        raise error()

    return fault


def deep(world: World) -> object:
    """Recurse for ever."""
    return deep(world)


def exits(world: World) -> object:
    """Do what a command line parser does."""
    sys.exit(3)


@dataclasses.dataclass
class Odd:
    """A result that is not JSON."""

    text: str
    parts: set[int]
    more: Any = None


class Lab(ReActToolset):
    """The tools."""

    world: Any

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        """All of them behind one skill."""
        names = tuple(made.name for made in self.tools())
        return [ReActSkillSpec(name="lab", description="Everything there is to do.", tool_names=names)]

    def interpret_result(self, tool_name: str, args: dict[str, Any], result: object) -> Outcome | None:
        """Read the status that some tools give."""
        if tool_name not in ("add", "convert", "search", "pay") or not isinstance(result, str):
            return None
        said = json.loads(result)
        if said["status"] == "ok":
            return Outcome.success(said["summary"])
        error = said["error"]
        return Outcome(disposition=Disposition(error["disposition"]), code=error["code"], message=error["message"])

    @tool(read_only=True)
    async def fetch(self, page: int, upper: bool = False) -> Any:
        """Fetch a page."""
        self.world.asked = {page}
        odd = self.world.meet("fetch")
        if asyncio.iscoroutine(odd):
            odd = await odd
        if odd is not None:
            return odd
        text = f"page {page}: number {self.world.numbers[page]}."
        return (text.upper() if upper else text) + " filler" * (self.world.page_size // 7)

    @tool(read_only=True)
    def load(self, page: int) -> Any:
        """Load a page, from a slow place."""
        odd = self.world.meet("load")
        return f"page {page}: number {self.world.numbers[page]}." if odd is None else odd

    @tool(read_only=True)
    def add(self, numbers: list[int]) -> str:
        """Add numbers."""
        self.world.meet("add")
        return ok(f"The sum of {numbers} is {sum(numbers)}.", total=sum(numbers))

    @tool(read_only=True)
    def convert(self, amount: float, unit: str) -> str:
        """Convert a length to metres, or a volume to litres."""
        self.world.meet("convert")
        if unit == "gallon":
            return failed("clarification_required", "ambiguous_unit", "US or Imperial gallons?")
        if unit == "cubit":
            return failed("terminal_error", "no_standard", "There is no standard cubit.")
        if unit not in METRES:
            return failed("retryable_error", "unknown_unit", f"Unknown unit {unit}; use one of {', '.join(METRES)}.")
        metres = round(amount * METRES[unit], 4)
        return ok(f"{amount:g} {unit} are {metres:g} metres.", metres=metres)

    @tool(read_only=True)
    def search(self, query: str) -> str:
        """Search an encyclopaedia."""
        self.world.meet("search")
        if "milvus" in query.lower():
            return ok(f"A red kite weighs {self.world.weight} hundred grams.")
        return failed("no_result", "no_result", "Nothing found; try the Latin name, Milvus milvus.")

    @tool(read_only=False)
    async def pay(self, amount: int, to: str) -> str:
        """Pay somebody."""
        self.world.meet("pay")
        self.world.payments.append((amount, to))
        return ok(f"Paid {amount} to {to}, receipt R{len(self.world.payments)}.")

    @tool(read_only=False, idempotent=True)
    def write_note(self, name: str, text: str) -> str:
        """Write a note."""
        self.world.meet("write_note")
        self.world.notes[name] = text
        return "written"

    @tool(read_only=True)
    def read_note(self, name: str) -> str:
        """Read a note."""
        self.world.meet("read_note")
        return f"note says: {self.world.notes.get(name, 'nothing')}"

    @tool(read_only=True, repeatable=True)
    def job_status(self) -> str:
        """Say how far the job is."""
        if (odd := self.world.meet("job_status")) is not None:
            return str(odd)
        self.world.progress += 25
        return f"done, result {self.world.weight}" if self.world.progress > 100 else f"{self.world.progress} % done"

    @tool(read_only=True)
    def archive(self) -> Any:
        """Open the archive."""
        self.world.meet("archive")
        return self.world.archive(self.world)


def ok(summary: str, **values: object) -> str:
    """A good result."""
    return json.dumps({"status": "ok", "summary": summary, **values})


def failed(disposition: str, code: str, message: str) -> str:
    """A bad result."""
    error = {"disposition": disposition, "code": code, "message": message}
    return json.dumps({"status": "error", "error": error})


def odd_page(world: World) -> object:
    """The number of a page, in a result that is not JSON."""
    (page,) = world.asked
    return Odd(f"page {page}: number {world.numbers[page]}.", {1, 2}, ValueError("inside"))
