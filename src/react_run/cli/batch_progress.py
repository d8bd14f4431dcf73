"""Progress of a running batch: a status line on a terminal, one line per minute elsewhere."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from statistics import median
from time import monotonic
from typing import TYPE_CHECKING, Any

from react_run.batch.engine import EngineError, Progress
from react_run.cli.terminal import is_dumb, is_terminal
from react_run.support.display import usd
from react_run.support.text import printable

if TYPE_CHECKING:
    from react_run.batch.rows import RowResult
    from react_run.batch.running import Batch

_REFRESH = 0.5
_LINE_EVERY = 60.0
_WINDOW = 60.0
"""Seconds over which the rate is averaged."""
_RECENT = 101
"""Number of rows for the median duration."""
_REASONS = 3
"""How many reasons for failures to show at the end, most frequent first."""


class Meter:
    """Shows progress on standard error.

    Args:
        quiet: Show only necessary messages.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self.last = Progress()
        self._seconds: deque[float] = deque(maxlen=_RECENT)
        self._failures: Counter[str] = Counter()
        self._looks: deque[tuple[float, int]] = deque()
        self._bar: Any = None
        self._started = monotonic()

    def say(self, text: str) -> None:
        """Print a line above the progress bar."""
        if self._bar is not None:
            self._bar.console.print(printable(text), markup=False, highlight=False, soft_wrap=True)
        else:
            print(printable(text), file=sys.stderr, flush=True)

    def count(self, result: RowResult) -> None:
        """Note that a result was written."""
        self.count_seconds(result.seconds)
        if result.status == "error" and result.error:
            self._failures[result.error] += 1

    def count_seconds(self, seconds: float) -> None:
        """Note how long a row took."""
        self._seconds.append(seconds)

    def sum_up(self, now: Progress) -> None:
        """Summarise all rows, and say why some failed: the output may be a file that nobody looks at."""
        if not self.quiet:
            parts = [f"{now.ok} ok", f"{now.unsuccessful} unsuccessful", f"{now.error} failed"]
            spent = "cost unknown" if now.cost is None else usd(now.cost)
            self.say(f"{now.total} rows: {', '.join(parts)} · {spent} · {_spoken(monotonic() - self._started)}")
            for reason, times in self._failures.most_common(_REASONS):
                self.say(f"  {times} failed: {reason}")
            if (others := len(self._failures) - _REASONS) > 0:
                self.say(f"  {others} failed for other reasons: see the output")

    @contextmanager
    def shown(self, batch: Batch) -> Iterator[None]:
        """Show the progress of a batch until the end of the block; then print a summary."""
        self._begin()
        task = asyncio.ensure_future(self._follow(batch))
        try:
            yield
        finally:
            task.cancel()
            if self._bar is not None:
                self._bar.stop()
                self._bar = None

    def _begin(self) -> None:
        if self.quiet or not is_terminal(sys.stderr) or is_dumb():
            return
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        columns = (BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
        self._bar = Bar(*columns, console=Console(stderr=True), transient=True, refresh_per_second=4)
        self._bar.add_task("starting", total=None)
        self._bar.start()

    async def _follow(self, batch: Batch) -> None:
        told = monotonic()
        while True:
            with suppress(EngineError):
                self.last = await batch.progress()
            now = monotonic()
            self._looks.append((now, self.last.done))
            while len(self._looks) > 2 and self._looks[1][0] < now - _WINDOW:
                self._looks.popleft()
            text = self.text(batch)
            if self._bar is not None:
                self._bar.update(
                    self._bar.task_ids[0], total=self.last.total, completed=self.last.done, description=text
                )
            elif not self.quiet and now - told >= _LINE_EVERY:
                told = now
                self.say(text)
            await asyncio.sleep(_REFRESH)

    def text(self, batch: Batch) -> str:
        """The progress in one line."""
        now = self.last
        parts = [f"{now.done}/{now.total}"]
        parts += [f"{now.unsuccessful} unsuccessful"] if now.unsuccessful else []
        parts += [f"{now.error} failed"] if now.error else []
        return " · ".join([*parts, *self.pace(batch), cost(now), *self.waits(batch)])

    def pace(self, batch: Batch) -> list[str]:
        """How many rows are running, how fast rows finish, and the estimated time left."""
        parts = [f"{self.last.running} running"]
        if rate := self._rate():
            parts.append(f"{rate:,.0f}/min")
        if (left := self._left(batch)) is not None:
            parts.append(f"ETA {_spoken(left)}")
        return parts

    def waits(self, batch: Batch) -> list[str]:
        """Delays that providers requested."""
        parts = [f"{model} asked to wait {seconds:.0f} s" for model, seconds in batch.gate.pauses().items()]
        return [*parts, *([f"-j {batch.gate.width} for now"] if batch.gate.width < batch.gate.full else [])]

    def _rate(self) -> float:
        (then, before), (now, done) = self._looks[0], self._looks[-1]
        return 60 * (done - before) / (now - then) if now > then else 0.0

    def _left(self, batch: Batch) -> float | None:
        rows = self.last.total - self.last.done
        if len(self._seconds) < 3 or not rows:
            return None
        return median(self._seconds) * rows / max(1, self.last.running, batch.gate.width)


def cost(now: Progress) -> str:
    """The cost so far, and the projected cost of all rows."""
    if now.cost is None:
        return "cost unknown"
    if not now.cost or not now.done:
        return usd(now.cost)
    return f"{usd(now.cost)} of about {usd(now.cost / now.done * now.total)}"


def _spoken(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {seconds:02} s" if minutes else f"{seconds} s"
