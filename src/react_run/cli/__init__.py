"""The command line: ``react-run AGENT.yaml "PROMPT"``."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its status (cli.md)."""
    from react_run.cli.run import run

    sys.exit(run(sys.argv[1:] if arguments is None else arguments))
