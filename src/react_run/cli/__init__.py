"""The command line: ``react-run AGENT.yaml "PROMPT"``, and a module for each other command.

Nothing heavy is imported before a command needs it: ``--version`` imports nothing, ``--help`` only click.
"""

from __future__ import annotations

import sys
from typing import NoReturn


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with its status; docs/cli.md lists them."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments in (["--version"], ["-V"]):
        from react_run import __version__

        print(f"react-run {__version__}")
        sys.exit(0)
    import gc

    from react_run.cli.exit import ended, leave

    gc.set_threshold(20_000, 20, 50)  # imports leave no garbage: collecting took a tenth of the start-up
    leave(ended(arguments))
