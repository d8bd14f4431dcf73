"""Reading, writing and listing while another process swaps a directory for a link that leads out."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from time import monotonic

from benchmarks.measure import report
from react_run.support.files import Folder, PathRefused

SWAPPER = """
import ctypes, os, sys
os.chdir(sys.argv[1])
swap = ctypes.CDLL(None).renameat2
print("ready", flush=True)
while os.getppid() == int(sys.argv[2]):
    for _ in range(1000):
        swap(-100, b"d", -100, b"l", 2)  # RENAME_EXCHANGE: at no time is there nothing
"""


def race(parent: Path, seconds: float) -> dict[str, int]:
    """The number of attempts per outcome; ``escapes`` are reads, writes and listings outside the directory."""
    root, outside = parent / "root", parent / "outside"
    for directory, text in ((root / "d", "inside"), (outside, "CANARY")):
        directory.mkdir(parents=True)
        (directory / "secret.txt").write_text(text)
    (root / "l").symlink_to("../outside")
    swapper = subprocess.Popen(
        [sys.executable, "-c", SWAPPER, str(root), str(os.getpid())], stdout=subprocess.PIPE, text=True
    )
    counts: Counter[str] = Counter(escapes=0)
    try:
        assert swapper.stdout is not None  # it is a pipe
        swapper.stdout.readline()
        end = monotonic() + seconds
        while monotonic() < end:
            _try(Folder(root), counts)
    finally:
        swapper.kill()
        swapper.communicate()
    counts["escapes"] += sorted(path.name for path in outside.iterdir()) != ["secret.txt"]
    counts["escapes"] += (outside / "secret.txt").read_text() != "CANARY"
    return dict(counts)


def _try(folder: Folder, counts: Counter[str]) -> None:
    attempts: dict[str, Callable[[], object]] = {
        "read": lambda: b"CANARY" in folder.read("d/secret.txt", 100),
        "write": lambda: folder.replace("d/new.txt", b"mine"),
        "list": lambda: len(folder.entries("d")) == 0,
        "find": lambda: any(b"CANARY" in folder.read(entry.path, 100) for entry in folder.find("d/**/secret.txt")),
    }
    for name, attempt in attempts.items():
        try:
            counts["escapes"] += bool(attempt())
            counts[f"{name}_done"] += 1
        except PathRefused as error:
            counts[f"{name}_{error.code}"] += 1


def main() -> None:
    """Twenty seconds of it."""
    seconds = 20.0
    with tempfile.TemporaryDirectory() as parent:
        report("symlink_race", seconds=seconds, **race(Path(parent), seconds))


if __name__ == "__main__":
    main()
