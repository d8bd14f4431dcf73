"""``react-run list``: list what is installed, and what cannot be loaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from react_run.cli.table import show_table
from react_run.cli.terminal import json_text
from react_run.components.kinds import GROUPS, every_installed, installed

if TYPE_CHECKING:
    from react_run.cli.validation import Soundness

WHAT = (*GROUPS, "agents")
COLUMNS = {
    "agents": ("name", "description", "file", "error"),
    **dict.fromkeys(GROUPS, ("name", "role", "description", "distribution", "version", "error")),
}


@click.command("list", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("what", type=click.Choice(WHAT), required=False)
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON: a list, or an object of lists when no kind is named."
)
def command(what: str | None, as_json: bool) -> int:
    """List installed toolsets, plugins, models, checks and scorers, and agents: those in . and ./agents, and those of
    installed packages, as PACKAGE:AGENT.

    Anything that cannot be loaded is listed with the reason. Plugins with the role "guard" are part of every agent that
    needs them, without being listed in its file.
    """
    found = {group: list(_agents() if group == "agents" else _kinds(group)) for group in ([what] if what else WHAT)}
    if as_json:
        print(json_text(found[what] if what else found, indent=2))
        return 0
    for group, entries in found.items():
        if what is None:
            print(f"{group}:" if entries else f"{group}: none")
        if entries:
            show_table(entries, COLUMNS[group])
        elif what is not None:
            click.echo(f"no {what} found", err=True)
    return 0


def _kinds(group: str) -> Iterator[dict[str, str]]:
    from react_run.errors import PluginError

    winners = installed(group)
    for kind in sorted(every_installed(group), key=lambda kind: kind.name):
        description, role, winner = "", "", winners[kind.name]
        error = winner.clash
        if winner != kind:
            error = error or f"the name belongs to {winner.origin}; write 'kind: {kind.target}' for this one"
        elif not error:
            try:
                loaded = kind.load()
                description, role = first_line(loaded), "guard" if getattr(loaded, "guard", "") else ""
            except PluginError as problem:
                error = str(problem)
        yield {
            "name": kind.name,
            "role": role,
            "description": description,
            "distribution": kind.distribution,
            "version": kind.version,
            "target": kind.target,
            "error": error,
        }


def first_line(thing: object) -> str:
    """The first line of the class's own docstring."""
    from react_run.config.option_docs import shown_text

    own = thing.__dict__.get("__doc__") if isinstance(thing, type) else getattr(thing, "__doc__", "")
    return next(iter(shown_text(own or "").splitlines()), "")


def _agents() -> Iterator[dict[str, str]]:
    from react_run.cli.validation import Soundness
    from react_run.config.packages import every_agent, has_front_matter, heading

    soundness = Soundness()
    for directory in (Path(), Path("agents")):
        for path in sorted([*directory.glob("*.yaml"), *filter(has_front_matter, directory.glob("*.md"))]):
            if (texts := heading(path)) is not None:
                name = texts["name"] or path.stem
                yield {**texts, "name": name, "file": str(path), "error": _wrong(str(path), soundness)}
    for name, file, problem in every_agent():
        texts = None if file is None else heading(file)
        about = {"description": "" if texts is None else texts["description"], "file": str(file or "")}
        yield {"name": name, **about, "error": problem or _wrong(name, soundness)}


def _wrong(path: str, soundness: Soundness) -> str:
    """The first mistake in an agent file."""
    from react_run.cli.check import problems_of

    problems = problems_of(path, False, None, soundness)
    if problems and all(problem["code"] == "cfg.untrusted" for problem in problems):
        return "needs trust"
    first = next((str(problem["message"]) for problem in problems if problem["code"] != "cfg.untrusted"), "")
    return f"{first} (and {len(problems) - 1} more: react-run check {path})" if len(problems) > 1 else first
