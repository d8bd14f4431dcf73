"""Runs the command line with ``python -m react_run``."""

import os
import sys
from contextlib import suppress


def import_nothing_from_here() -> None:
    """Remove the working directory from the path, so that files written by an agent are never imported."""
    with suppress(OSError):  # the directory no longer exists
        if not sys.flags.safe_path and sys.path[0] in ("", os.getcwd()):
            del sys.path[0]


if __name__ == "__main__":
    import_nothing_from_here()
    from react_run.cli import main

    main()
