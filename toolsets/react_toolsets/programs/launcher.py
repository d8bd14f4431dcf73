"""Builds the command that starts the launcher, so that an agent cannot have changed the code it runs.

The launcher's code is read when this module is imported, and passed as an argument. It runs in the base interpreter,
which uses no virtual environment, no ``site-packages`` and no variables (``-I -S``).
"""

from __future__ import annotations

import marshal
import os
import shutil
import sys
import zlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import CodeType

from react_toolsets.programs.confined.start import Rules

PYTHON = os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)
"""The base interpreter of ours."""
_SYSTEM_PATH = ("/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin", "/run/wrappers/bin")
_PACKAGE = "react_toolsets.programs.confined"
_MODULES = ("kernel", "landlock", "filtering", "capabilities", "room", "limits", "start")
_BOOT = """
import marshal, sys, zlib
sys.modules["__future__"] = type(sys)("__future__")
sys.modules["__future__"].annotations = None
modules = marshal.loads(zlib.decompress(bytes.fromhex(sys.argv[1])))
rules = marshal.loads(bytes.fromhex(sys.argv[2]))
for name, code in modules:
    module = sys.modules[name] = type(sys)(name)
    package, _, last = name.rpartition(".")
    if package in sys.modules:
        setattr(sys.modules[package], last, module)
    exec(code, module.__dict__)
module.main(module.Rules(**rules), sys.argv[3:])
"""


def _code(name: str) -> CodeType:
    spec = find_spec(name)
    read = getattr(spec.loader, "get_code", None) if spec else None
    code = read(name) if read else None
    if not isinstance(code, CodeType):
        raise ImportError(f"the code of {name} cannot be read")
    return _without_lines(code)


def _without_lines(code: CodeType) -> CodeType:
    """``code`` without line numbers, which are a third of its size; its tracebacks are never shown."""
    inner = tuple(_without_lines(it) if isinstance(it, CodeType) else it for it in code.co_consts)
    return code.replace(co_consts=inner, co_linetable=b"", co_filename="")


CODE = zlib.compress(
    marshal.dumps(
        [
            (_PACKAGE, compile("", _PACKAGE, "exec")),
            *((name, _code(name)) for name in (f"{_PACKAGE}.{module}" for module in _MODULES)),
        ]
    ),
    9,
).hex()
"""All modules of the launcher, compiled and compressed: Python decodes arguments slowly, so a short one is faster."""


def launcher(rules: Rules, *, bubblewrap: str = "") -> list[str]:
    """The command prefix that confines a command by ``rules``; ``bubblewrap``, if given, makes the room."""
    command = [PYTHON, "-I", "-S", "-c", _BOOT, CODE, marshal.dumps(vars(rules)).hex()]
    return [*_wrapped(rules, bubblewrap), *command] if bubblewrap else command


@cache
def bubblewrap() -> str:
    """The path of bubblewrap in a system directory, since other directories may be writable by anyone; else empty."""
    if not sys.platform.startswith("linux"):
        return ""
    return shutil.which("bwrap", path=os.pathsep.join(_SYSTEM_PATH)) or ""


def _wrapped(rules: Rules, program: str) -> list[str]:
    command = [program, "--die-with-parent", "--unshare-all", *(["--share-net"] if rules.network else [])]
    command += ["--cap-drop", "ALL", "--proc", "/proc", "--dev", "/dev"]
    for path in rules.read:
        if path not in ("/proc", "/sys") and not path.startswith("/dev/"):
            command += ["--ro-bind-try", path, path]
    for path in rules.write:
        if not path.startswith("/dev/"):
            command += ["--bind", path, path]
    for path in rules.protected:
        command += [*_parent_mounts(path, rules.write), "--ro-bind", path, path]
    return [*command, "--"]


def _parent_mounts(path: str, write: list[str]) -> list[str]:
    """Mounts on the parents of ``path``: a mount point cannot be renamed, so it cannot be replaced."""
    above = [
        parent for parent in Path(path).parents if any(parent.is_relative_to(it) and parent != Path(it) for it in write)
    ]
    return [word for parent in reversed(above) for word in ("--bind", str(parent), str(parent))]
