"""``react-run schema``: the JSON Schema of agent files, installed kinds included."""

from __future__ import annotations

import json
from pathlib import Path

import click


@click.command("schema", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("-o", "--output", metavar="FILE", type=click.Path(dir_okay=False), help="Write to FILE.")
def command(output: str | None) -> int:
    """Print the JSON Schema (2020-12) of agent files.

    It covers the installed kinds and their options. Editors use it when a file begins with

    \b
      # yaml-language-server: $schema=react-run.schema.json
    """
    from react_run.config.json_schema import agent_file_schema

    text = json.dumps(agent_file_schema(), indent=2, ensure_ascii=False)
    if output in (None, "-"):
        print(text)
    else:
        Path(output).write_text(text + "\n", encoding="utf-8")
    return 0
