"""``react-run runs``: saved runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from time import time
from typing import TYPE_CHECKING

import click

from react_run.cli.options import run_argument
from react_run.cli.recorded import naming_damage
from react_run.cli.terminal import json_text
from react_run.support.display import usd

if TYPE_CHECKING:
    from react_run.journal.reading import Journal
    from react_run.journal.summaries import Summary

HELP = {"help_option_names": ["-h", "--help"]}
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
COLUMNS = ("run", "started", "agent", "status", "seconds", "tokens", "cost", "prompt")


@click.group("runs", context_settings=HELP)
def command() -> None:
    """List, show, export and remove runs.

    RUN is the id of a run, or its beginning, or a journal file; --last means the latest run.
    """


@command.command("list", context_settings=HELP)
@click.option(
    "-n",
    "--number",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    help="How many to list, latest first; 0 lists all.",
)
@click.option("--session", metavar="NAME", help="Only runs of the conversation NAME.")
@click.option("--engine", metavar="URL", help="List the runs that batches keep in this database: postgres://…")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_runs(number: int, session: str | None, engine: str | None, as_json: bool) -> int:
    """List runs, latest first."""
    from react_run.cli.table import show_table

    found = _summaries(lambda summary: session is None or summary.header["session"] == session, engine, number)
    listed = [summary for _, summary in zip(range(number or 10**9), found, strict=False)]
    if as_json:
        print(json_text([summary.to_dict() for summary in listed], indent=2))
    elif listed:
        show_table([_row(summary) for summary in listed], COLUMNS)
    return 0


def _summaries(wanted: Callable[[Summary], bool], engine: str | None = None, number: int = 0) -> Iterator[Summary]:
    from react_run.journal.locate import run_files
    from react_run.journal.summaries import summaries

    if engine is None:
        return filter(wanted, summaries(run_files()))
    from react_run.cli.engines import must_be_known
    from react_run.journal.shipped_store import PostgresStore

    must_be_known(engine)
    return filter(wanted, PostgresStore(engine, number=number or 10**9).summaries())


def _row(summary: Summary) -> dict[str, str]:
    from react_run.cli.terminal import fitted
    from react_run.journal.view import formatting

    data = summary.to_dict()
    tokens, cost = data["tokens"], data["cost"]
    return {
        "run": summary.run_id[:12],
        "started": formatting.moment(summary.header["time"]),
        "agent": str(data["agent"]),
        "status": summary.status,
        "seconds": f"{data['seconds']:.1f}",
        "tokens": f"{tokens:,}" if tokens is not None else "n/a",
        "cost": usd(cost) if isinstance(cost, float) else "n/a",
        "prompt": fitted(formatting.one_line(summary.header["prompt"]), 50),
    }


@command.command("show", context_settings=HELP)
@run_argument
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@naming_damage
def show_run(run: str | None, as_json: bool) -> int:
    """Show what a run was, and what it used."""
    from react_run.journal.view.export import journal_as_data
    from react_run.support.text import printable

    journal, path = _journal(run)
    if as_json:
        print(json_text(journal_as_data(journal), indent=2))
        return 0
    for name, value in _facts(journal, path).items():
        print(f"{name:<10} {printable(value)}")
    return 0


def _facts(journal: Journal, path: Path) -> dict[str, str]:
    from react_run.journal.view import formatting

    stats, header, footer = journal.stats, journal.header, journal.footer or {}
    tools = (
        f"{name} {tool.calls} ({tool.failed} failed, {formatting.seconds(tool.seconds)})"
        for name, tool in stats.tools.items()
    )
    return {
        "run": journal.run_id,
        "agent": f"{formatting.name(journal)} {header['agent']['file'] or ''}".strip(),
        "model": str(header["model"]),
        "started": formatting.moment(header["time"]),
        "session": str(header["session"] or "-"),
        "status": formatting.status(journal),
        "used": formatting.totals(stats),
        "tools": ", ".join(tools) or "-",
        "guards": ", ".join(f"{name} {number}" for name, number in stats.guards.items()) or "-",
        "prompt": formatting.one_line(header["prompt"]),
        **({"attached": files} if (files := formatting.attached(journal)) else {}),
        "error": formatting.error(footer["error"]) if "error" in footer else "-",
        "answer": formatting.one_line(footer.get("answer", "")) or "-",
        "journal": str(path),
    }


def _journal(run: str | None) -> tuple[Journal, Path]:
    from react_run.journal.locate import find_run
    from react_run.journal.reading import read_journal

    path = find_run(run)
    return read_journal(path), path


@command.command("export", context_settings=HELP)
@run_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "json", "html"]),
    help="Format; by default that of FILE's extension, or markdown.",
)
@click.option("-o", "--output", metavar="FILE", default="-", help="Where to write it; - means standard output.")
@naming_damage
def export_run(run: str | None, form: str | None, output: str) -> int:
    """Write a run as one document."""
    from react_run.cli.trace import write

    journal, _ = _journal(run)
    endings = {"": "markdown", ".md": "markdown", ".txt": "markdown", ".json": "json", ".html": "html", ".htm": "html"}
    form = form or endings.get(Path(output).suffix.lower())
    if form is None:
        raise click.UsageError(f"{output}: a run is written as .md, .json or .html; for another name say --format")
    write(output, _exported(journal, form))
    return 0


def _exported(journal: Journal, form: str) -> str:
    if form == "html":
        from react_run.journal.view.html import page

        return page(journal)
    from react_run.journal.view.export import as_markdown, journal_as_data

    if form == "markdown":
        return as_markdown(journal)
    return json_text(journal_as_data(journal), indent=2) + "\n"


def _age(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """Convert an age such as ``30d`` to seconds."""
    if value is None:
        return None
    found = re.fullmatch(r"(\d+)\s*([mhdw])", value.strip())
    if found is None:
        raise click.BadParameter(f"{value!r} is not an age: write a number and m, h, d or w, such as 30d")
    try:
        return timedelta(**{_UNITS[found[2]]: int(found[1])}).total_seconds()
    except (OverflowError, ValueError):
        raise click.BadParameter("this age is too large") from None


@command.command("rm", context_settings=HELP)
@click.argument("runs", metavar="[RUN]…", nargs=-1)
@click.option("--last", is_flag=True, help="Use the latest run.")
@click.option(
    "--older-than", metavar="AGE", callback=_age, help="Remove runs that began longer ago than AGE: 12h, 30d, 8w."
)
@click.option("--keep", metavar="N", type=click.IntRange(0), help="Remove all but the latest N runs.")
@click.option("--all", "everything", is_flag=True, help="Remove all runs.")
def remove_runs(runs: tuple[str, ...], last: bool, older_than: float | None, keep: int | None, everything: bool) -> int:
    """Remove runs: their journals, and what they saved in their workspaces. Runs still in progress are kept."""
    from react_run.journal.locate import find_run, run_files
    from react_run.journal.summaries import remove_run, summaries

    if not (runs or last or everything) and older_than is None and keep is None:
        raise click.UsageError("name runs, or use --last, --older-than AGE, --keep N or --all")
    files = [find_run(run) for run in (*runs, *([None] if last else []))]
    chosen = list(summaries(files))
    if len(chosen) < len(files):
        raise click.UsageError("one of these is not a journal of a run")
    if everything or older_than is not None or keep is not None:
        beyond = list(summaries(run_files()[keep or 0 :]))
        chosen += [summary for summary in beyond if time() - summary.header["time"] > (older_than or 0.0)]
    removed = {summary.path: summary for summary in chosen if files or not summary.running}
    for summary in removed.values():
        remove_run(summary)
    print(f"removed {len(removed)} run{'' if len(removed) == 1 else 's'}")
    return 0
