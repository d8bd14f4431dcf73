"""What can be known of Windows without it: every module can be imported where POSIX is missing.

Nothing is run there: it stays untested, and the documentation says so.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = {"fcntl", "termios", "tty", "pty", "resource", "pwd", "grp", "syslog", "readline", "curses"}
CALLS = {
    "os": "fork forkpty killpg getpgid getpgrp setsid setpgid getuid geteuid getgid getegid getgroups setuid setgid "
    "pread pwrite preadv pwritev fchmod fchown chown lchown mkfifo mknod uname tcgetpgrp tcsetpgrp openpty "
    "posix_fallocate sendfile "
    "statvfs fstatvfs fdatasync nice wait wait3 waitid WNOHANG fchdir chroot memfd_create pipe2 prctl unshare "
    "setns O_NOFOLLOW O_DIRECTORY O_CLOEXEC O_NONBLOCK O_NOCTTY O_SYNC sched_getaffinity",
    "signal": "SIGHUP SIGKILL SIGALRM SIGCHLD SIGUSR1 SIGUSR2 SIGPIPE SIGQUIT SIGTSTP SIGCONT SIGSTOP SIGWINCH "
    "setitimer alarm pthread_sigmask pthread_kill siginterrupt sigwait",
    "socket": "AF_UNIX SO_REUSEPORT",
}
KEYWORDS = {"dir_fd", "src_dir_fd", "dst_dir_fd", "preexec_fn", "pass_fds"}
GUARDED = {
    "src/react_run/cli/line_input.py": "readline: without it, lines have no history",
    "src/react_run/journal/locks.py": "sys.platform decides between fcntl and msvcrt",
    "src/react_run/questions/tty.py": "termios: without it, there is no terminal to ask at",
    "src/react_run/serve/server.py": "hasattr(signal, 'SIGHUP')",
    "src/react_run/support/files/": "os.supports_dir_fd: without it, no path is opened",
    "src/react_run/support/programs/running.py": "hasattr(os, 'killpg')",
    "toolsets/react_toolsets/mcp/stragglers.py": "/proc: without it, nothing is looked for",
    "toolsets/react_toolsets/mcp/watcher.py": "/proc: without it, it is not started",
    "toolsets/react_toolsets/notes.py": "fcntl: without it, there are no directories to lock",
    "toolsets/react_toolsets/programs/confined/": "started by the launcher, on Linux only",
    "toolsets/react_toolsets/programs/means.py": "after a look at sys.platform",
}
"""Where POSIX is used, and what keeps other systems from getting there."""

WHAT_THERE_IS = """
import importlib, json, pkgutil, sys
import react_run, react_toolsets, react_plugins, react_offline
tops = ("react_run", "react_toolsets", "react_plugins", "react_offline")
# What runs inside of the launcher of confined programs, which is started on Linux only, is left out.
ours = [found.name for top in tops for found in pkgutil.walk_packages(sys.modules[top].__path__, f"{top}.")
        if not found.name.startswith("react_toolsets.programs.confined") and not found.name.endswith("__main__")]
for name in ours:
    importlib.import_module(name)
foreign = [name for name in sys.modules if name.partition(".")[0] not in tops and name != "__main__"]
print(json.dumps([ours, foreign]))
"""
ELSEWHERE = """
import importlib, json, os, signal, sys
ours, foreign = json.loads(sys.stdin.read())
for name in foreign:
    try:
        importlib.import_module(name)
    except Exception:
        pass
gone = ("fcntl", "termios", "tty", "pty", "resource", "pwd", "grp", "syslog")
for name in gone:
    sys.modules[name] = None
for module, names in {
    os: "fork forkpty getuid geteuid getgid getegid setsid killpg getpgid uname O_NOFOLLOW O_DIRECTORY O_CLOEXEC "
        "O_NONBLOCK sched_getaffinity pread pwrite fchmod",
    signal: "SIGHUP SIGKILL SIGALRM SIGCHLD SIGUSR1 SIGUSR2 SIGPIPE SIGQUIT SIGTSTP SIGCONT SIGSTOP SIGWINCH setitimer "
            "alarm pthread_sigmask pthread_kill",
}.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
sys.modules["msvcrt"] = type(sys)("msvcrt")
sys.platform = "win32"
failed = {}
for name in ours:
    try:
        importlib.import_module(name)
    except Exception as error:
        failed[name] = f"{type(error).__name__}: {error}"
print(json.dumps(failed))
"""


def _printed(code: str, given: str = "") -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], input=given, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    return done.stdout.splitlines()[-1]


@pytest.mark.slow
def test_every_module_can_be_imported_where_posix_is_missing() -> None:
    assert json.loads(_printed(ELSEWHERE, _printed(WHAT_THERE_IS))) == {}


def posix_in(tree: ast.AST) -> Iterator[str]:
    """What a module uses of POSIX by name; ``getattr`` and ``hasattr`` ask first."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if name in CALLS.get(module, "").split():
                yield f"{module}.{name}"
            case ast.keyword(arg=str(name)) if name in KEYWORDS:
                yield name
            case ast.Import(names=names):
                yield from (name.name for name in names if name.name in MODULES)
            case ast.ImportFrom(module=str(name)) if name in MODULES:
                yield name


def test_posix_is_called_in_guarded_places_only() -> None:
    used: dict[str, list[str]] = {}
    for package in ("src", "toolsets", "plugins", "models"):
        for path in (ROOT / package).rglob("*.py"):
            name = path.relative_to(ROOT).as_posix()
            if found := list(posix_in(ast.parse(path.read_text(encoding="utf-8")))):
                place = next((place for place in GUARDED if name.startswith(place)), name)
                used.setdefault(place, []).extend(found)
    assert {place: found for place, found in used.items() if place not in GUARDED} == {}
    assert set(GUARDED) == set(used), "no longer needed"


WITHOUT_POSIX = """
import asyncio, json, os, signal, sys
from pathlib import Path
import react_run.batch.outputs, react_run.support.programs.running as running
from react_toolsets.mcp import stragglers
from react_toolsets import notes
stragglers.os = type("os", (), {"path": type("path", (), {"exists": staticmethod(lambda _: False)})})
for name in "killpg pread pwrite".split():
    delattr(os, name)
del signal.SIGKILL
notes.fcntl = None
finished = asyncio.run(running.run_program([sys.executable, "-c", "print(6 * 7)"], directory=Path.cwd(), timeout=60))
asyncio.run(stragglers.end_stragglers("x"))
with notes._alone(Path("nowhere")):
    print(finished.output.strip(), finished.status)
"""


def test_what_runs_without_posix_calls_none_of_it() -> None:
    assert _printed(WITHOUT_POSIX) == "42 0"
