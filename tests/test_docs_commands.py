"""The command lines that the documentation shows are ones that the command line takes."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from react_run.cli.app import application

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if path.name != "cli.md")]
_BLOCK = re.compile(r"```(?:sh|console)\n(.*?)```|`(react-run [^`\n]+)`", re.DOTALL)


def command_lines(text: str) -> list[list[str]]:
    """The words behind each ``react-run``, in blocks for a shell and inline; a pipe begins another command."""
    found = []
    for block, inline in _BLOCK.findall(text):
        for line in (block or inline).replace("\\\n", " ").splitlines():
            try:
                words = shlex.split(line.removeprefix("$ "), comments=True)
            except ValueError:
                continue  # a line of output, with an apostrophe
            while "react-run" in words:
                rest = words[words.index("react-run") + 1 :]
                end = next((at for at, word in enumerate(rest) if word in ("|", "&&", ";", "&", ">", "<", "2>")), None)
                if not line.startswith("react-run:"):
                    found.append(rest[:end])
                words = rest[end:] if end is not None else []
    return found


def parsed(words: list[str]) -> None:
    """Read ``words`` as click would, without running anything: what names no command of a group is for its ``run``."""
    command: click.Command = application
    context = click.Context(application, info_name="react-run", **application.context_settings)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        command = found or command.get_command(context, "run") or command
        words = words[1:] if found else words
        context = click.Context(command, parent=context, **command.context_settings)
        if found is None:
            break
    command.make_parser(context).parse_args(list(words))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_of_a_page_is_taken_by_the_command_line(page: Path) -> None:
    wrong = []
    for words in command_lines(page.read_text(encoding="utf-8")):
        try:
            parsed(words)
        except click.UsageError as error:
            wrong.append(f"react-run {shlex.join(words)}: {error.format_message()}")
    assert wrong == []


def test_a_wrong_option_of_a_page_would_be_noticed() -> None:
    with pytest.raises(click.UsageError, match="--limit"):
        parsed(command_lines("```sh\nreact-run runs list --limit 5  # which\n```")[0])
