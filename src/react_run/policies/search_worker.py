"""Searches text with a regular expression, in a process that can be stopped; run as a program by ``search_result``."""

from __future__ import annotations

import json
import re
import sys
from contextlib import suppress

CPU_SECONDS = 30
"""After this it is ended by the system, even when whoever started it was killed and cannot."""


def main() -> None:
    """Read a query (one line of JSON) and the text from standard input; write where it matches as JSON."""
    with suppress(ImportError):  # no such thing on Windows
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    query = json.loads(sys.stdin.buffer.readline())
    text = sys.stdin.buffer.read().decode()
    total = 0
    found: list[tuple[int, int]] = []
    for match in re.finditer(query["pattern"], text, re.MULTILINE):
        total += 1
        if len(found) < query["limit"]:
            found.append(match.span())
    sys.stdout.write(json.dumps({"total": total, "found": found}))


if __name__ == "__main__":
    main()
