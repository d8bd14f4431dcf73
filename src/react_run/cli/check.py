"""``react-run check FILE…``: report everything that is wrong with agent files, at once and offline."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from react_run.cli.app import no_such_file
from react_run.cli.terminal import json_text

if TYPE_CHECKING:
    from react_run.cli.validation import Soundness


WARNING = "warning: "


@click.command("check", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("files", metavar="FILE…", nargs=-1, required=True, type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for CI.")
@click.option("--trust", is_flag=True, help="Trust the files' directories for this check.")
@click.option("--env-file", metavar="FILE", help="Read variables from a .env file; the environment wins.")
def command(files: tuple[str, ...], as_json: bool, trust: bool, env_file: str | None) -> int:
    """Report every mistake in agent files.

    Nothing is run and no provider is contacted. A directory means all YAML files in it.
    """
    from react_run.cli.validation import Soundness

    soundness = Soundness()
    notes: dict[str, list[str]] = {}
    reports = {name: problems_of(name, trust, env_file, soundness, notes) for name in _files(files)}
    wrong = sum(map(bool, reports.values()))
    if as_json:
        entries = [
            {"file": name, "ok": not problems, "problems": problems, "notes": notes.get(name, [])}
            for name, problems in reports.items()
        ]
        print(json_text({"ok": not wrong, "files": entries}, indent=2))
    else:
        _show(reports, wrong, notes)
    return 2 if wrong else 0


def _files(names: tuple[str, ...]) -> Iterator[str]:
    from react_run.config.packages import has_front_matter, heading

    for name in names:
        path = Path(name)
        if path.is_dir():
            markdown = (each for each in path.glob("*.md") if has_front_matter(each) and heading(each) is not None)
            found = sorted([*path.glob("*.yaml"), *path.glob("*.yml"), *markdown])
            yield from map(str, found or [path])
        else:
            yield name


def _missing(name: str) -> str:
    from react_run.config.packages import is_packaged

    path = Path(name)
    if path.is_dir():
        return f"there is no agent file in {name}"
    return "" if path.exists() or is_packaged(name) else no_such_file(name)


def problems_of(
    name: str, trust: bool, env_file: str | None, soundness: Soundness, notes: dict[str, list[str]] | None = None
) -> list[dict[str, object]]:
    """The problems of one file: none, mistakes in the file, or the reason why no agent can be built from it. Warnings
    go into ``notes``, by file.
    """
    from react_run.cli.exit import complain, warnings_to
    from react_run.components.looking import looking
    from react_run.config import AgentFileError, load_config
    from react_run.config.composing import CompositionError
    from react_run.errors import ReactError

    if missing := _missing(name):
        return [{"file": name, "code": "cfg.path_missing", "message": missing, "text": missing}]
    warned: list[str] = []

    def say(text: str) -> None:
        complain(text)
        warned.append(text)

    try:
        with warnings_to(say):
            config = load_config(name, trusted=True if trust else None, env_file=env_file)
            with looking():
                doubts = soundness.check(config)
    except (AgentFileError, CompositionError) as error:
        texts = error.texts()
        return [{**problem.to_dict(), "text": text} for problem, text in zip(error.problems, texts, strict=True)]
    except ReactError as error:
        text = f"{name}: {error}"
        code = f"agent.{getattr(error, 'code', 'build')}"
        return [{"file": name, "code": code, "message": str(error), "text": text}]
    if notes is not None:
        notes[name] = [*warned, *doubts]
    return []


def _show(reports: dict[str, list[dict[str, object]]], wrong: int, notes: dict[str, list[str]]) -> None:
    from react_run.support.text import printable

    for name, problems in reports.items():
        for problem in problems:
            print(printable(str(problem["text"])))
        if not problems:
            print(f"{printable(name)}: ok")
            if notes.get(name):
                for note in notes[name]:
                    if not note.startswith(WARNING):  # which was already printed on stderr
                        print(printable(f"  note: {note}"))
    if len(reports) > 1 or wrong:
        count = sum(map(len, reports.values()))
        print(f"{len(reports)} checked, {wrong} wrong, {count} problem{'' if count == 1 else 's'}")
