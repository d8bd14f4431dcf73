"""``python -m react_run`` is the command line."""

import os
import sys
from contextlib import suppress


def import_nothing_from_here() -> None:
    """Take the working directory off the path: an agent that writes there would write what is imported next."""
    with suppress(OSError):  # there is no such directory any more
        if not sys.flags.safe_path and sys.path[0] in ("", os.getcwd()):
            del sys.path[0]


if __name__ == "__main__":
    import_nothing_from_here()
    from react_run.cli import main

    main()
