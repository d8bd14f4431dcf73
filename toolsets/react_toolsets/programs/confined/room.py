"""A room for a process: namespaces with a file system that contains only what it may touch.

It also contains only its own processes and terminals, and a network without a connection to the outside.
"""

from __future__ import annotations

import os
import sys
from stat import S_ISDIR

from react_toolsets.programs.confined.kernel import MACHINE, call

_MOUNTS, _NAMES, _IPC, _USERS, _PIDS, _NETWORK = 0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000
_READ_ONLY, _NO_SETUID, _NO_DEVICES, _NO_EXEC = 1, 2, 4, 8
_RECURSIVE, _PRIVATE, _DETACH = 0x4000, 0x40000, 2
_HERE, _EMPTY_PATH, _WHOLE_TREE = -100, 0x1000, 0x8000
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442  # the same numbers on every architecture
_CLONE, _FROM_DESCRIPTOR = 1, 4
_SET_FLAGS, _UP = 0x8914, 1
DEVICES = ("full", "null", "random", "tty", "urandom", "zero")
_LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2"}
RESERVED = 300
"""Process ids that the kernel does not reuse."""


def separate(*, network: bool) -> None:
    """Move this process into new namespaces; its next child becomes the first process of the new room.

    Args:
        network: Whether to keep the network; otherwise there is only a loopback interface.

    Raises:
        OSError: The kernel or the container does not allow it.
    """
    spaces = _MOUNTS | _NAMES | _IPC | _PIDS | (0 if network else _NETWORK)
    user, group = os.geteuid(), os.getegid()
    try:
        if user:
            raise PermissionError
        call("unshare", spaces)
    except OSError:
        call("unshare", spaces | _USERS)
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
    call("mount", None, b"/", None, _RECURSIVE | _PRIVATE, None)
    if not network:
        wire = call("socket", 2, 2, 0)
        call("ioctl", wire, _SET_FLAGS, b"lo".ljust(16, b"\0") + _UP.to_bytes(2, sys.byteorder) + bytes(22))
        os.close(wire)


def furnish(at: str, read: list[str], write: list[str], protected: list[str], memory: int) -> None:
    """Create a new root directory and enter it; it contains the given paths in their places, and nothing else.

    Args:
        at: A directory that is not used otherwise.
        read: Files and directories that can be read.
        write: Files and directories that can be changed as well.
        protected: Directories below ``write`` that stay read-only.
        memory: Bytes for files in shared memory.

    Raises:
        OSError: The root directory cannot be created.
    """
    here = os.getcwd()
    plan = _planned(read, write, protected)
    trees = [(path, _tree(path, attributes)) for path, attributes in plan]
    devices = [(f"/dev/{name}", _tree(f"/dev/{name}", _NO_SETUID | _NO_EXEC)) for name in DEVICES]
    call("mount", b"tmpfs", os.fsencode(at), b"tmpfs", _NO_SETUID | _NO_DEVICES, b"mode=755,size=1m")
    os.chdir(at)
    for path, tree in [*trees, *devices]:
        _put(tree, path.lstrip("/"))
    for path in (*read, *write):
        _link(path)
    _own_devices(memory)
    _own_processes()
    call("syscall", MACHINE.pivot_root if MACHINE else -1, b".", b".")
    call("umount2", b".", _DETACH)
    os.chdir("/")
    _set(_HERE, b"/", 0, _READ_ONLY)
    if os.path.isdir(here):
        os.chdir(here)


def limit_processes(most: int) -> bool:
    """Limit this room to about ``most`` processes; return whether the kernel supports that (Linux 6.14 and later)."""
    try:
        _write("/proc/sys/kernel/pid_max", str(most + RESERVED))
    except OSError:
        return False
    return True


def _planned(read: list[str], write: list[str], protected: list[str]) -> list[tuple[str, int]]:
    """The real paths to mount with their attributes, outer paths before inner ones."""
    safe = _NO_SETUID | _NO_DEVICES
    plan: dict[str, int] = {}
    for path in sorted(map(os.path.realpath, read)):
        if os.path.lexists(path) and path not in ("/", "/proc") and not any(_holds(outer, path) for outer in plan):
            plan[path] = safe | _READ_ONLY
    for path in sorted(map(os.path.realpath, write)):
        if not any(_holds(outer, path) and not attributes & _READ_ONLY for outer, attributes in plan.items()):
            plan[path] = safe
    changed = [os.path.realpath(it) for it in write]
    for path in map(os.path.realpath, protected):
        while path not in plan and any(_holds(it, path) for it in changed):
            plan[path] = safe  # a mount point cannot be renamed, so it cannot be replaced
            path = os.path.dirname(path)
    for path in map(os.path.realpath, protected):
        if any(_holds(it, path) for it in changed):
            plan[path] = safe | _READ_ONLY
    return sorted(plan.items())


def _holds(outer: str, path: str) -> bool:
    return path == outer or path.startswith(outer.rstrip("/") + "/")


def _tree(path: str, attributes: int) -> int:
    """A detached copy of the mounts at ``path``."""
    tree = call("syscall", _OPEN_TREE, _HERE, os.fsencode(path), _CLONE | os.O_CLOEXEC | _WHOLE_TREE)
    _set(tree, b"", _EMPTY_PATH | _WHOLE_TREE, attributes)
    return tree


def _set(tree: int, path: bytes, how: int, attributes: int) -> None:
    wanted = attributes.to_bytes(8, sys.byteorder) + bytes(24)
    call("syscall", _MOUNT_SETATTR, tree, path, how, wanted, len(wanted))


def _put(tree: int, path: str) -> None:
    if not os.path.lexists(path):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        if S_ISDIR(os.fstat(tree).st_mode):
            os.mkdir(path)
        else:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))
    call("syscall", _MOVE_MOUNT, tree, b"", _HERE, os.fsencode(path), _FROM_DESCRIPTOR)
    os.close(tree)


def _link(path: str) -> None:
    """Recreate missing symbolic links in ``path``."""
    names = path.strip("/").split("/")
    for end in range(1, len(names) + 1):
        above = "/" + "/".join(names[:end])
        if os.path.islink(above):
            if not os.path.lexists(above[1:]):
                os.makedirs(os.path.dirname(above[1:]) or ".", exist_ok=True)
                os.symlink(os.readlink(above), above[1:])
            return


def _own_devices(memory: int) -> None:
    for name in ("dev/pts", "dev/shm"):
        os.makedirs(name, exist_ok=True)
    call("mount", b"devpts", b"dev/pts", b"devpts", _NO_SETUID | _NO_EXEC, b"newinstance,ptmxmode=0666,mode=600")
    shared = f"mode=1777,size={memory}".encode()
    call("mount", b"tmpfs", b"dev/shm", b"tmpfs", _NO_SETUID | _NO_DEVICES, shared)
    for name, target in {**_LINKS, "ptmx": "pts/ptmx"}.items():
        os.symlink(target, f"dev/{name}")


def _own_processes() -> None:
    """Mount ``/proc`` for the processes of this room; in a container that forbids it, reuse the container's."""
    os.mkdir("proc")
    try:
        call("mount", b"proc", b"proc", b"proc", _NO_SETUID | _NO_DEVICES | _NO_EXEC, None)
    except OSError:
        _put(_tree("/proc", _NO_SETUID | _NO_DEVICES | _NO_EXEC), "proc")


def _write(path: str, text: str) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(file, text.encode())
    finally:
        os.close(file)
