"""``react-run trace RUN``: show a run as a tree in the terminal, as a page, or as data (behaviour J5)."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from react_run.cli.options import run_argument
from react_run.cli.recorded import naming_damage
from react_run.cli.terminal import json_text, terminal_text
from react_run.support.text import printable

if TYPE_CHECKING:
    from react_run.journal.reading import Journal


@click.command("trace", context_settings={"help_option_names": ["-h", "--help"]})
@run_argument
@click.option("--html", metavar="FILE", help="Write a self-contained HTML page to FILE.")
@click.option("--open", "opened", is_flag=True, help="Open the page written by --html in a browser.")
@click.option("--chrome-trace", metavar="FILE", help="Write a trace for Perfetto (ui.perfetto.dev) to FILE.")
@click.option("--json", "as_json", is_flag=True, help="Print the records of the run as JSON lines.")
@click.option("--full", is_flag=True, help="Do not cut lines at the width of the terminal.")
@naming_damage
def command(
    run: str | None, html: str | None, opened: bool, chrome_trace: str | None, as_json: bool, full: bool
) -> int:
    """Show what happened in RUN: thoughts, actions, results, times, tokens, cost, guards.

    RUN is the id of a run, or its beginning, or a journal file; --last means the latest run.
    """
    if html == "--open" or (opened and html in (None, "-")):  # click takes the next word as the file
        raise click.UsageError("--open opens a page that is saved to a file: add --html FILE, such as --html run.html")
    from react_run.journal.locate import find_run
    from react_run.journal.reading import read_journal

    journal = read_journal(find_run(run))
    if html is not None:
        from react_run.journal.view.html import page

        write(html, page(journal))
        if opened:
            open_page(html)
    if chrome_trace is not None:
        from react_run.journal.view.chrome import chrome_trace as traced

        write(chrome_trace, json_text(traced(journal)))
    if as_json:
        for record in journal.records:
            print(json_text(record))
    elif html is None and chrome_trace is None:
        show_tree(journal, full=full)
    return 0


def write(name: str, text: str) -> None:
    """Write to a file, or to standard output if it is called ``-``, and say where it is."""
    if name == "-":
        sys.stdout.write(terminal_text(text))
        return
    Path(name).write_text(text, encoding="utf-8", errors="replace")
    print(f"written to {printable(name)}", file=sys.stderr)


def open_page(name: str) -> None:
    """Open a page that was written to a file in the user's browser; without one, say where the page is."""
    import webbrowser

    path, shown = Path(name).resolve(), False
    if _has_display():
        with suppress(webbrowser.Error, OSError, ValueError):  # the value of BROWSER may be anything
            shown = webbrowser.open(path.as_uri())
    if not shown:
        print(f"no browser could be started here: open {printable(str(path))} in one", file=sys.stderr)


def _has_display() -> bool:
    """Whether a browser can be seen; ``webbrowser`` alone would start a text browser within the terminal."""
    if sys.platform in ("darwin", "win32"):
        return True
    return any(os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))


def show_tree(journal: Journal, *, full: bool = False, to: TextIO | None = None) -> None:
    """Print the tree of a run to standard output, or to another stream."""
    to = to or sys.stdout
    from react_run.cli.terminal import cells, coloured, fitted, is_terminal, width
    from react_run.journal.view.tree import lines_of, tree_of

    columns = width() if is_terminal(to) else 160
    for frame, branch in lines_of(tree_of(journal)):
        mark = f"{branch.mark} " if branch.mark else ""
        text = printable(branch.text)
        if not full:
            text = fitted(text, max(20, columns - cells(frame + mark)))
        line = coloured(mark, branch.colour, to) + text if mark else coloured(text, branch.colour, to)
        print(f"{coloured(frame, 'dim', to) if frame else ''}{line}", file=to)
