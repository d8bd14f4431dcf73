"""Lines appended to files, each whole."""

from __future__ import annotations

from pathlib import Path


def append_line(path: Path, line: str) -> None:
    """Append ``line`` to the file at ``path``, which is made, with its directory, when it is not there.

    Raises:
        OSError: It cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
        file.write(f"{line}\n")
