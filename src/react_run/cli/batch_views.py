"""Show and stop batches."""

from __future__ import annotations

import sys
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from react_run.cli.engines import is_embedded
from react_run.cli.terminal import json_text, terminal_text
from react_run.support.display import usd
from react_run.support.threads import run_blocking

if TYPE_CHECKING:
    from react_run.batch.engine import Progress
    from react_run.batch.home import Home
    from react_run.batch.rows import RowResult
    from react_run.batch.sqlite import SqliteEngine

_PAGE = 500
_COLUMNS = ("batch", "state", "rows", "ok", "unsuccessful", "failed", "running", "cost", "output")


def show_status(name: str | None, engine: str, *, as_json: bool) -> int:
    """Show the progress of all batches, or of one."""
    found = [_described(one) for one in _queues(name, engine)]
    if as_json:
        print(json_text(found if name is None else found[0], indent=2))
    elif found:
        from react_run.cli.table import show_table

        show_table([{column: _cell(data[column]) for column in _COLUMNS} for data in found], _COLUMNS)
    else:
        print("no batches so far", file=sys.stderr)
    return 0


def _queues(name: str | None, engine: str) -> list[tuple[str, str | None, Progress, str | None]]:
    """Name, holder, progress and output of each batch."""
    if not is_embedded(engine):
        from react_run.batch.catalogue import seen

        found = run_blocking(seen(engine, name))
        return [
            (one.name, one.holder or ("workers" if one.progress.running else None), one.progress, one.output)
            for one in found
        ]
    from react_run.batch.home import find_home, homes

    if name is not None:
        return [_looked_at(find_home(name))]
    return [whole for home in homes() if (whole := _if_whole(home)) is not None]


def _if_whole(home: Home) -> tuple[str, str | None, Progress, str | None] | None:
    """Describe a batch; a damaged one is reported, and does not hide the others."""
    from react_run.batch.engine import EngineError
    from react_run.cli.exit import complain

    try:
        return _looked_at(home)
    except EngineError as error:
        complain(f"batch {home.name} is damaged: {error}; to discard it, remove {home.directory}")
        return None


def _looked_at(home: Home) -> tuple[str, str | None, Progress, str | None]:
    queue = _queue(home)
    return home.name, home.holder(), queue.progress_now(), queue.get("output")


def _queue(home: Home) -> SqliteEngine:
    from react_run.batch.sqlite import SqliteEngine

    return SqliteEngine(home)


def _described(found: tuple[str, str | None, Progress, str | None]) -> dict[str, Any]:
    name, holder, progress, output = found
    return {
        "batch": name,
        "state": progress.state(at_work=holder is not None),
        "holder": holder,
        "rows": progress.total,
        "ok": progress.ok,
        "unsuccessful": progress.unsuccessful,
        "failed": progress.error,
        "running": progress.running if holder else 0,
        "left": progress.total - progress.done,
        "cost": progress.cost,
        "output": output,
    }


def _cell(value: object) -> str:
    if value is None:
        return "n/a"
    return usd(value) if isinstance(value, float) else str(value)


def stop_batch(name: str, engine: str) -> int:
    """Stop a batch from starting more rows."""
    if not is_embedded(engine):
        from react_run.batch.catalogue import stop

        name = run_blocking(stop(engine, name))
    else:
        from react_run.batch.home import find_home

        home = find_home(name)
        _queue(home).set("stopped", 1)
        name = home.name
    print(f"no more rows of {name} will start; rows in progress are finished", file=sys.stderr)
    return 0


def write_results(name: str, engine: str, only: str | None) -> int:
    """Write the results so far."""

    def show(result: RowResult) -> None:
        if only in (None, result.status):
            sys.stdout.write(f"{terminal_text(result.line())}\n")

    if not is_embedded(engine):
        from react_run.batch.catalogue import results

        async def show_all() -> None:
            async with aclosing(results(engine, name)) as found:
                async for result in found:
                    show(result)

        run_blocking(show_all())
    else:
        from react_run.batch.home import find_home

        for result in _results(_queue(find_home(name))):
            show(result)
    return 0


def _results(queue: SqliteEngine) -> Any:
    start = 0
    while page := queue.results_now(start, _PAGE):
        yield from page
        start = page[-1].index + 1
