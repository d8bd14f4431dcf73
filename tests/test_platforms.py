"""What can be known of Windows without it: every module can be imported where POSIX is missing.

Nothing is run there: it stays untested, and the documentation says so.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

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
