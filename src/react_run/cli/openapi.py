"""``react-run openapi fetch``: download the OpenAPI document of a service, and note where it came from.

The toolset of kind ``openapi`` does the work; this module prints and asks.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import click

from react_run.cli.terminal import terminal_text
from react_run.errors import ConfigError

HELP = {"help_option_names": ["-h", "--help"]}
LISTED = 40
"""How many differences to show."""


@click.group("openapi", context_settings=HELP, no_args_is_help=True)
def command() -> None:
    """Work with OpenAPI documents, for toolsets of kind openapi.

    Agents read a document from a file, never from the network.
    """


@command.command("fetch", context_settings=HELP)
@click.argument("url")
@click.option("-o", "--output", metavar="FILE", type=click.Path(), help="Where to write it (default: its own name).")
@click.option("-y", "--yes", is_flag=True, help="Replace a different document without asking.")
def fetch(url: str, output: str | None, yes: bool) -> int:
    """Download the document at URL, and write it to a file, with its digest next to it (FILE.lock).

    If FILE exists, the differences are shown, and you are asked. A document that was changed since it
    was fetched is refused when an agent is built.
    """
    from react_run.components.kinds import resolve

    toolset: Any = resolve("toolsets", "openapi")
    found = toolset.fetched(url)
    path = Path(output) if output else Path(_name(url, found.suffix))
    if path.is_dir():
        raise ConfigError(f"{path} is a directory: give the file's name with -o")
    if path.exists():
        different = found.differences(path)
        print(terminal_text("\n".join(different[:LISTED]) or "nothing has changed"))
        if len(different) > LISTED:
            print(f"and {len(different) - LISTED} more")
        if different and not yes and not click.confirm(f"Replace {path}?", default=False, err=True):
            return 1
    try:
        found.write(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror or error}") from error
    click.echo(terminal_text(f"{path}: {found.summary}"), err=True)
    return 0


def _name(url: str, suffix: str) -> str:
    """A file name made from the last part of the URL."""
    last = PurePosixPath(urlsplit(url).path).name
    return last if last.endswith((".json", ".yaml", ".yml")) else f"{last or 'openapi'}{suffix}"
