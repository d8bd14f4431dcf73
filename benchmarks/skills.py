"""Public skills: how many load?

    python -m benchmarks.skills FOLDER… [--most N]

A FOLDER contains skills at any depth: a clone of a repository, or only its git directory, which is read with ``git``.
Each SKILL.md is loaded on its own. Prints one JSON line per FOLDER and one for all: how many skills there are, how many
load, and how many of these break a rule of the standard and so load with a warning. Skills that cannot be loaded are
listed on stderr. Nothing that is read is executed or stored.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import click

from react_run import read_skills

NAME = "SKILL.md"


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--most", type=int, default=400, show_default=True, help="Skills of one folder at most.")
def main(folders: tuple[Path, ...], most: int) -> None:
    """Count them."""
    total: Counter[str] = Counter(skills=0, loaded=0, with_warnings=0)
    for folder in folders:
        counts = Counter(skills=0, loaded=0, with_warnings=0)
        for path, data in sorted(_skills(folder))[:most]:
            counts += _read(path, data)
        _print(folder=str(folder), **counts)
        total += counts
    _print(folder="all", **total, share=round(total["loaded"] / max(1, total["skills"]), 4))


def _print(**line: object) -> None:
    print(json.dumps({"benchmark": "skills", **line}), flush=True)


def _skills(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The path of each skill in the folder, and its text."""
    if not (folder / "HEAD").is_file():
        yield from ((str(path.relative_to(folder)), path.read_bytes()) for path in folder.rglob(NAME))
        return
    for name in _git(folder, "ls-tree", "-r", "--name-only", "-z", "HEAD").decode().split("\0"):
        if name.rpartition("/")[2] == NAME and (data := _git(folder, "show", f"HEAD:{name}")):
            yield name, data


def _git(folder: Path, *arguments: str) -> bytes:
    done = subprocess.run(["git", f"--git-dir={folder}", *arguments], capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else b""  # some large files of a copy may be absent


def _read(path: str, data: bytes) -> Counter[str]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / (Path(path).parent.name or "skill")
        home.mkdir()
        (home / NAME).write_bytes(data)
        found = read_skills([Path(folder)])
    for problem in found.problems:
        print(f"{path}: {problem.replace(str(folder), '')}", file=sys.stderr)
    loaded = len(found.skills)
    return Counter(skills=1, loaded=loaded, with_warnings=int(bool(loaded and found.doubts)))


if __name__ == "__main__":
    main()
