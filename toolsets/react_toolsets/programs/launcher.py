"""The command that starts the launcher, so that nobody can have changed what it runs.

Its code is read when this module is, and handed over as an argument. It runs in the Python that ours is built on, which
reads neither a virtual environment, nor ``site-packages``, nor variables (``-I -S``).
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
"""The Python that ours is built on."""
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
    """``code`` without the lines that it comes from: a third of it, and nobody sees its tracebacks."""
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
"""All modules of the launcher, compiled. Python decodes each argument letter by letter: a short one starts sooner."""


def launcher(rules: Rules, *, bubblewrap: str = "") -> list[str]:
    """The command that confines by ``rules`` what is appended to it; the room is made by ``bubblewrap``, if given."""
    command = [PYTHON, "-I", "-S", "-c", _BOOT, CODE, marshal.dumps(vars(rules)).hex()]
    return [*_wrapped(rules, bubblewrap), *command] if bubblewrap else command


@cache
def bubblewrap() -> str:
    """The path of bubblewrap, when it is in a directory of the system: others may be anybody's to write in."""
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
        command += [*_held(path, rules.write), "--ro-bind", path, path]
    return [*command, "--"]


def _held(path: str, write: list[str]) -> list[str]:
    """Mounts on the directories above ``path``: what is mounted on cannot be renamed, so nothing takes its place."""
    above = [
        parent for parent in Path(path).parents if any(parent.is_relative_to(it) and parent != Path(it) for it in write)
    ]
    return [word for parent in reversed(above) for word in ("--bind", str(parent), str(parent))]
