"""Remove each fsync, each lock and many conditions, one by one: ``python -m benchmarks.mutants [WORD…]``.

One place of the source is changed in a copy of the project, and the tests that ``mutants.toml`` lists for it are run:
at least one must fail. fsyncs and locks are found in the source, so a new one must be entered with its test, or with
the reason why no test can notice it; the other changes are invented. With words, only places whose file or text
contains one of them are tried.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LIST = Path(__file__).with_suffix(".toml")
PACKAGES = ("src", "toolsets", "plugins", "models")
SECONDS = 180.0
"""After which a test that hangs has noticed."""
_FSYNCS = {"fsync", "_fsync", "fdatasync"}
_LOCKS = {"Lock", "RLock", "Semaphore", "BoundedSemaphore", "Condition"}
_LOCK_MODULES = {"asyncio", "threading", "multiprocessing", "anyio"}
_FILE_LOCKS = {"flock", "lockf", "try_lock"}
_SQL = ("advisory_xact_lock", " for update", "begin immediate", "synchronous =")
_ANYTHING = '__import__("unittest.mock").mock.MagicMock()'
"""A lock that lets everybody in, also as ``async with``."""
_AT_ONCE = '(lambda *_: __import__("asyncio").sleep(0))'


@dataclass(frozen=True)
class Mutant:
    """One change of a file: the old text, which occurrence of it, and the new text."""

    file: str
    what: str
    nth: int
    changed: str
    """The whole text of the file with the change."""

    @property
    def name(self) -> str:
        """The name in the list and in messages."""
        return f"{self.file}: {self.what}" + (f" ({self.nth})" if self.nth > 1 else "")


def protections() -> Iterator[Mutant]:
    """A mutant without it for every fsync and every lock of the source."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            tree = ast.parse(text)
            seen: Counter[str] = Counter()
            names = _lock_names(tree)
            nodes = list(ast.walk(tree))
            pieces = {id(piece) for node in nodes if isinstance(node, ast.JoinedStr) for piece in node.values}
            changes = ((node, _instead(node, text, names)) for node in nodes if id(node) not in pieces)
            found = [(node, instead) for node, instead in changes if instead is not None]
            for node, instead in sorted(found, key=lambda pair: (pair[0].lineno, pair[0].col_offset)):  # type: ignore[attr-defined]  # they have a place
                what = " ".join(str(ast.get_source_segment(text, node)).split())[:80]
                seen[what] += 1
                yield Mutant(str(path.relative_to(ROOT)), what, seen[what], _with(text, node, instead))


def _instead(node: ast.AST, source: str, locks: set[str]) -> str | None:
    """The replacement for an fsync or a lock; ``None`` for everything else."""
    match node:
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in _FSYNCS:
            return "(lambda *_: None)"
        case ast.Attribute(attr="O_EXCL"):
            return "0"
        case ast.Call(func=ast.Attribute(attr="sync"), args=[]):
            return f"{_AT_ONCE}()"
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in _FILE_LOCKS:
            return "True"
        case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name)):
            return _ANYTHING if module in _LOCK_MODULES and name in _LOCKS else None
        case ast.Call(func=ast.Name(id=name)):
            return _ANYTHING if name in locks else None
        case ast.JoinedStr(values=pieces) if any(_has_lock(piece) for piece in pieces):
            return _without_lock(str(ast.get_source_segment(source, node)))
        case ast.Constant() if _has_lock(node):
            return _without_lock(str(ast.get_source_segment(source, node)))
        case _:
            return None


def _has_lock(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and any(word in node.value for word in _SQL)


def _without_lock(text: str) -> str:
    if "advisory" in text:
        return '"select true"'
    for lock, none in ((" for update", ""), ("begin immediate", "begin deferred"), ("synchronous =", "encoding =")):
        text = text.replace(lock, none)
    return text


def _lock_names(tree: ast.Module) -> set[str]:
    """The names of imported locks."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module in _LOCK_MODULES)
    return {name.asname or name.name for node in imports for name in node.names if name.name in _LOCKS}


def _with(text: str, node: ast.AST, instead: str) -> str:
    lines = text.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    start = starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
    end = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
    data = text.encode()
    return (data[:start] + instead.encode() + data[end:]).decode()


@dataclass(frozen=True)
class Entry:
    """An entry of the list: the tests that notice a change, or why no test can."""

    tests: tuple[str, ...] = ()
    reason: str = ""


def listed() -> dict[str, Entry]:
    """The list of fsyncs and locks, by the names of their mutants."""
    return {name: _entry(found) for name, found in _list()["protection"].items()}


def edits() -> list[tuple[Mutant, Entry]]:
    """The other changes of the list."""
    found = []
    for number, one in enumerate(_list()["edit"], 1):
        text = (ROOT / one["file"]).read_text(encoding="utf-8")
        if text.count(one["old"]) != 1:
            raise SystemExit(f"{LIST.name}: edit {number}: {one['old']!r} is there {text.count(one['old'])} times")
        mutant = Mutant(one["file"], " ".join(one["old"].split()), 1, text.replace(one["old"], one["new"]))
        found.append((mutant, _entry(one)))
    return found


def _list() -> Any:
    return tomllib.loads(LIST.read_text(encoding="utf-8"))


def _entry(found: Any) -> Entry:
    return Entry(tuple(found.get("tests", ())), found.get("reason", ""))


class Copy:
    """A copy of the project in which one file at a time is changed.

    Args:
        root: An empty directory.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._turn = int(time.time())
        names = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name in filter(None, names.split("\0")):
            if (ROOT / name).is_file():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, root / name, follow_symlinks=False)

    def put(self, file: str, text: str) -> None:
        """Change a file so that cached bytecode is not used for it."""
        path = self.root / file
        path.write_text(text, encoding="utf-8")
        self._turn += 2
        os.utime(path, (self._turn, self._turn))

    def verdict(self, tests: Sequence[str], seconds: float = SECONDS) -> str:
        """Run tests: ``passed``, ``failed``, ``hung`` after ``seconds``, or another outcome."""
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--no-header", *tests]
        paths = os.pathsep.join(str(self.root / package) for package in PACKAGES)
        try:
            done = subprocess.run(
                command,
                cwd=self.root,
                env={**os.environ, "PYTHONPATH": paths},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return "hung"
        if done.returncode == 0 and " skipped" in done.stdout.splitlines()[-1]:
            return "skipped"
        return {0: "passed", 1: "failed"}.get(done.returncode, done.stdout[-2_000:] + done.stderr[-2_000:])


def tried(copy: Copy, mutant: Mutant, entry: Entry) -> str:
    """The verdict of an entry's tests on its mutant; see :meth:`Copy.verdict`."""
    original = (copy.root / mutant.file).read_text(encoding="utf-8")
    copy.put(mutant.file, mutant.changed)
    try:
        return copy.verdict(entry.tests)
    finally:
        copy.put(mutant.file, original)


def missing() -> Iterator[str]:
    """The problems of the list, one line each: a fsync or lock without an entry, and an entry that is not valid."""
    entries, names = listed(), [mutant.name for mutant in protections()]
    yield from (f"not in {LIST.name}: {name}" for name in names if name not in entries)
    yield from (f"no longer in the source: {name}" for name in entries if name not in names)
    for name, entry in [*entries.items(), *((mutant.name, entry) for mutant, entry in edits())]:
        if bool(entry.tests) == bool(entry.reason):
            yield f"{name}: give tests, or the reason for which none notices it"
        for test in entry.tests:
            path, _, function = test.partition("::")
            text = (ROOT / path).read_text(encoding="utf-8") if (ROOT / path).is_file() else ""
            if not text or (function and f"def {function.partition('[')[0]}(" not in text):
                yield f"{name}: there is no test {test}"


def main() -> int:
    """Try the places; the exit status is 0 if every mutant was noticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", metavar="WORD", help="Only places that have one of these words.")
    words = parser.parse_args().words
    wrong, started = list(missing()), time.monotonic()
    entries = listed()
    places = [(mutant, entries[mutant.name]) for mutant in protections() if mutant.name in entries] + edits()
    chosen = [(mutant, entry) for mutant, entry in places if not words or any(word in mutant.name for word in words)]
    verdicts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Copy(Path(folder))
        tests = sorted({test for _, entry in chosen for test in entry.tests})
        if tests and (before := copy.verdict(tests, SECONDS * len(tests))) not in ("passed", "skipped"):
            wrong.append(f"the tests do not pass as things are: {before}")
        for mutant, entry in chosen:
            verdict = tried(copy, mutant, entry) if entry.tests else "declared"
            verdicts[verdict if verdict in _WORDS else "broken"] += 1
            if verdict not in ("failed", "hung", "declared", "skipped"):
                wrong.append(f"{mutant.name}: the tests say {verdict}")
            print(f"{_WORDS.get(verdict, 'broken'):<12}{mutant.name}", flush=True)
    print(*wrong, sep="\n")
    print(f"{dict(verdicts)}, {time.monotonic() - started:.0f} s")
    return 1 if wrong else 0


_WORDS = {"failed": "noticed", "hung": "noticed", "passed": "NOT NOTICED", "skipped": "not run", "declared": "declared"}


if __name__ == "__main__":
    sys.exit(main())
