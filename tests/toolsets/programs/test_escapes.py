"""Ways out of the sandbox: what each was once, and its siblings, closed in every way of confining (SECURITY.md)."""

from __future__ import annotations

import ast
import asyncio
import ctypes
import os
import platform
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.toolsets.programs.confinements import BEST, MEANS, ROOM

from react_toolsets.programs import Confinement, Finished, confinement, places, run_program
from react_toolsets.programs.limits import Limits
from react_toolsets.programs.means import Means

PRELUDE = """
import ctypes, os, resource, socket
libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    if libc.syscall(*arguments) < 0:
        raise OSError(ctypes.get_errno(), "refused")
"""


@dataclass
class World:
    """A directory to work in, and what is outside: a file, a server, Unix sockets, and this very process."""

    root: Path
    file: Path
    port: int
    unix: Path
    abstract: str


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    for name in ("root", "own", "outside"):
        (tmp_path / name).mkdir()
    file, unix = tmp_path / "outside" / "file.txt", tmp_path / "outside" / "socket"
    file.write_text("theirs")
    name = f"\0react-run-{os.getpid()}"
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        socket.socket(socket.AF_UNIX) as by_path,
        socket.socket(socket.AF_UNIX) as by_name,
    ):
        for listener, address in ((by_path, str(unix)), (by_name, name)):
            listener.bind(address)
            listener.listen()
        yield World(tmp_path / "root", file, server.getsockname()[1], unix, name)


def attempt(world: World, code: str, means: Means, **options: object) -> Finished:
    """Run Python code in the sandbox."""
    own = world.root.parent / "own"
    confinement = Confinement(write=[world.root], means=means, **options)  # type: ignore[arg-type]  # each test knows
    known = {"PORT": world.port, "UNIX": str(world.unix), "NAME": world.abstract, "FILE": str(world.file)}
    known |= {"VICTIM": os.getpid()}
    assigned = "\n".join(f"{name} = {value!r}" for name, value in known.items())
    command = run_program(
        [sys.executable, "-I", "-S", "-c", f"{PRELUDE}\n{assigned}\n{code}"],
        directory=world.root,
        environment={"PATH": os.environ["PATH"], "TMPDIR": str(own)},
        timeout=30,
        ceiling=20_000,
        launcher=confinement.launcher(own),
    )
    return asyncio.run(command)


EACH = """
for number, code in enumerate(ATTEMPTS):
    child = os.fork()
    if not child:
        try:
            exec(code)
        except BaseException:
            os._exit(1)
        os._exit(0)
    if os.waitpid(child, 0)[1] == 0:
        print(number)
"""


def through(world: World, attempts: list[str], means: Means) -> list[str]:
    """Which of these attempts succeed in the sandbox; each is made in a process of its own."""
    finished = attempt(world, f"ATTEMPTS = {attempts!r}\n{EACH}", means)
    assert finished.status == 0, finished.output
    return [attempts[int(number)] for number in finished.output.split()]


SOCKETS = [
    "socket.create_connection(('127.0.0.1', PORT), 5)",
    "socket.socket(2, 1, 262).connect(('127.0.0.1', PORT))",
    "socket.socket(2, 1, 132).connect(('127.0.0.1', PORT))",
    "socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', PORT))",
    "socket.socket(2, 2).connect(('192.0.2.1', 53))",
    "socket.socket(10, 2).connect(('2001:db8::1', 53))",
    "socket.socket(2, 3, 1)",
    "socket.socket(17, 3)",
    "socket.socket(40, 1)",
    "socket.socket(38, 5)",
    "socket.socket(16, 3, 9)",
    "call(425, 8, ctypes.create_string_buffer(200))",
    "call(0x40000000 + 41, 2, 1, 0)",
    "socket.socket(1).connect(UNIX)",
    "socket.socket(1).connect(NAME)",
    "socket.socket(1, 2).sendto(b'x', UNIX)",
    "socket.socketpair(1, 2)[0].sendto(b'x', UNIX)",
    "socket.socket(10).connect(('::ffff:127.0.0.1', PORT))",
    "socket.socket(10, 1, 262).connect(('::ffff:127.0.0.1', PORT))",
    "socket.socket(10).sendto(b'x', 0x20000000, ('::ffff:127.0.0.1', PORT))",
    "os.open('/dev/vsock', 0)",
    "os.open('/dev/net/tun', 2)",
]
INT_80 = """
import mmap
memory = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=7)
memory.write(bytes.fromhex("53b867010000bb02000000b90100000031d2cd805bc3"))
number = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(memory)))()
if number < 0:
    raise OSError(-number, "refused")
"""
"""Machine code that makes a TCP socket by a 32-bit system call: ``mov eax, 359; …; int 0x80``."""
LISTENING = """
server = socket.socket()
server.listen()
open("port.new", "w").write(str(server.getsockname()[1]))
os.rename("port.new", "port")
server.settimeout(2)
server.accept()
"""


@pytest.mark.parametrize("means", MEANS)
def test_no_socket_reaches_anybody(world: World, means: Means) -> None:
    assert through(world, SOCKETS, means) == []


@pytest.mark.skipif(platform.machine() != "x86_64", reason="32-bit system calls are those of x86-64")
@pytest.mark.parametrize("means", MEANS)
def test_no_socket_is_made_by_a_32_bit_system_call(world: World, means: Means) -> None:
    assert through(world, [INT_80], means) == []


@pytest.mark.parametrize("means", MEANS)
def test_nobody_reaches_a_server_that_listens_without_an_address(world: World, means: Means) -> None:
    port = world.root / "port"
    reached: list[int] = []
    with ThreadPoolExecutor() as pool:
        serving = pool.submit(attempt, world, LISTENING, means)
        while not wait([serving], timeout=0.02).done:
            if port.exists() and not reached:
                with socket.socket() as client:
                    reached.append(client.connect_ex(("127.0.0.1", int(port.read_text()))))
    assert 0 not in reached
    assert serving.result().status != 0  # nobody came, or it might not listen at all


RIGHTS = "print([line.split()[1] for line in open('/proc/self/status') if line.startswith(('CapEff', 'CapBnd'))])"
OWNERS_AND_MODES = 0b11011
"""What root may keep: to own, read and mark files, which mounts and Landlock bound (capabilities(7), 0, 1, 3, 4)."""


@pytest.mark.parametrize("means", MEANS)
def test_root_keeps_no_right_but_those_about_files(world: World, means: Means) -> None:
    effective, bounding = ast.literal_eval(attempt(world, RIGHTS, means).output)
    assert int(effective, 16) & ~OWNERS_AND_MODES == 0
    if os.geteuid() == 0:
        assert int(bounding, 16) & ~OWNERS_AND_MODES == 0
    if means.room == "bubblewrap":
        assert int(effective, 16) == 0


PROCESSES = [
    "os.kill(VICTIM, 0)",
    "resource.prlimit(VICTIM, resource.RLIMIT_NOFILE, (64, 64))",
    "os.sched_setaffinity(VICTIM, [0])",
    "os.setpriority(os.PRIO_PROCESS, VICTIM, 19)",
    "os.sched_setscheduler(VICTIM, os.SCHED_BATCH, os.sched_param(0))",
    "call(101, 16, VICTIM, 0, 0)",  # ptrace, attach
    "open(f'/proc/{VICTIM}/environ').read()",
    "open(f'/proc/{VICTIM}/mem', 'rb')",
    "open(f'/proc/{VICTIM}/oom_score_adj', 'w').write('0')",
]


@pytest.mark.parametrize("means", MEANS)
def test_no_other_process_is_touched(world: World, means: Means) -> None:
    limits = os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0)
    assert through(world, PROCESSES, means) == []
    assert (os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0)) == limits


@pytest.mark.parametrize("means", MEANS)
def test_priorities_of_all_that_a_user_runs_stay_what_they_are(world: World, means: Means) -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    attempt(world, "os.setpriority(os.PRIO_USER, os.getuid(), 7)", means)
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


ATTRIBUTES = [
    "os.chmod(FILE, 0o600)",
    "os.utime(FILE, (1, 1))",
    "os.chown(FILE, 0, 0)",
    "os.setxattr(FILE, 'user.mine', b'1')",
    "os.setxattr('/etc/passwd', 'user.mine', b'1')",
    "os.chmod('/etc', 0o755)",
    "os.utime('/usr/bin')",
]


@pytest.mark.parametrize("means", ROOM)
def test_attributes_of_files_elsewhere_stay_what_they_are(world: World, means: Means) -> None:
    before = world.file.stat()
    assert through(world, ATTRIBUTES, means) == []
    assert (world.file.stat(), os.listxattr(world.file)) == (before, [])


@pytest.mark.parametrize("means", ROOM)
def test_no_terminal_of_others_is_reached(world: World, means: Means) -> None:
    leader, follower = os.openpty()
    try:
        name = os.ttyname(follower)
        opened = [f"os.open({name!r}, os.{how} | os.O_NOCTTY)" for how in ("O_RDONLY", "O_WRONLY", "O_RDWR")]
        written = [f"os.write({code}, b'\\x1b]0;mine\\x07')" for code in opened[1:]]
        assert through(world, [*opened, *written, f"os.chmod({name!r}, 0o666)"], means) == []
        os.set_blocking(leader, False)
        with pytest.raises(BlockingIOError):
            os.read(leader, 100)
    finally:
        os.close(leader)
        os.close(follower)


KERNEL = [
    "call(248, b'user', b'name', b'data', 4, -2)",  # add_key
    "call(249, b'user', b'name', None, -2)",  # request_key
    "call(250, 0, -3, 0)",  # keyctl
    "call(321, 0, None, 0)",  # bpf
    "call(298, None, 0, 0, 0, 0)",  # perf_event_open
    "call(304, 0, None, 0)",  # open_by_handle_at
    "open('/proc/sys/kernel/core_pattern', 'w')",
    "open('/proc/sysrq-trigger', 'w')",
    "call(165, b'none', b'/proc', b'tmpfs', 0, None)",  # mount
    "os.chroot('/')",
    "call(170, b'mine', 4)",  # sethostname
]
"""System calls by their numbers on x86-64; on other machines they are other calls, or none, and fail as well."""


@pytest.mark.parametrize("means", MEANS)
def test_nothing_of_the_kernel_is_used(world: World, means: Means) -> None:
    assert through(world, KERNEL, means) == []


@pytest.mark.parametrize("means", MEANS)
def test_shared_memory_of_others_is_not_reached(world: World, means: Means) -> None:
    key = 0x5EC0DE
    libc = ctypes.CDLL(None)
    ours = libc.shmget(key, 4096, 0o1666)
    try:
        assert attempt(world, f"assert libc.shmget({key}, 0, 0) >= 0", means).status != 0
    finally:
        libc.shmctl(ours, 0, None)


@pytest.mark.parametrize("means", ROOM)
def test_nothing_goes_on_after_its_command(world: World, means: Means) -> None:
    code = "if os.fork() == 0:\n os.setsid()\n import time\n time.sleep(1)\n open('left', 'w')"
    attempt(world, code, means)
    attempt(world, "import time; time.sleep(1.5)", means)
    assert not (world.root / "left").exists()


# -- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("means", MEANS)
@pytest.mark.parametrize(
    ("limits", "code", "says"),
    [
        (Limits(memory=100 * 2**20), "len(bytearray(300 * 2**20))", "MemoryError"),
        (Limits(file_size=10_000), "open('big', 'wb').write(bytes(100_000))", "File too large"),
        (Limits(cpu_seconds=1), "while True: pass", ""),
    ],
)
def test_a_command_uses_no_more_than_its_limits(
    world: World, limits: Limits, code: str, says: str, means: Means
) -> None:
    finished = attempt(world, code, means, limits=limits)
    assert finished.status != 0
    assert not finished.timed_out
    assert says in finished.output


FORKS = """
children = []
try:
    while len(children) < 700:
        child = os.fork()
        if not child:
            import time
            time.sleep(20)
            os._exit(0)
        children.append(child)
except BlockingIOError:
    print("enough")
for child in children:
    os.kill(child, 9)
"""


@pytest.mark.skipif(not BEST.counted, reason="nothing counts processes here")
@pytest.mark.parametrize("means", MEANS[:1])
def test_a_fork_bomb_comes_to_an_end(world: World, means: Means) -> None:
    assert attempt(world, FORKS, means, limits=Limits(processes=50)).output == "enough\n"


# -- our own code -----------------------------------------------------------------------------------------------------


def our_code_is_in(monkeypatch: pytest.MonkeyPatch, *paths: Path) -> None:
    monkeypatch.setattr(confinement, "own_code", lambda: list(paths))


@pytest.mark.parametrize("means", ROOM)
def test_our_code_in_the_workspace_cannot_be_changed(
    world: World, means: Means, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = world.root / "deep" / "er" / ".venv"
    module = home / "lib" / "site-packages" / "ours.py"
    module.parent.mkdir(parents=True)
    module.write_text("ours")
    our_code_is_in(monkeypatch, home)
    attempts = [
        f"open({str(module)!r}, 'w').write('theirs')",
        f"open({str(home / 'pyvenv.cfg')!r}, 'w')",
        f"open({str(module.parent / 'evil.pth')!r}, 'w')",
        f"open({str(module.parent / 'sitecustomize.py')!r}, 'w')",
        f"os.remove({str(module)!r})",
        f"os.rename({str(home)!r}, 'moved')",
        f"os.rename({str(home.parent)!r}, 'moved')",
        "os.rename('deep', 'moved')",
        f"os.chmod({str(module)!r}, 0o777)",
        f"os.link({str(module)!r}, 'mine'); open('mine', 'w')",
        f"os.symlink('/', {str(home / 'link')!r})",
        "libc.unshare(0x10020000) or libc.umount2(b'deep/er/.venv', 2) == 0 or os._exit(1)",
    ]
    assert through(world, attempts, means) == []
    assert module.read_text() == "ours"
    assert attempt(world, f"open({str(module)!r}).read(); open('deep/er/new', 'w')", means).status == 0


def test_where_nothing_keeps_our_code_apart_that_is_said(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    our_code_is_in(monkeypatch, world.root / ".venv")
    without_room = Confinement(write=[world.root], means=Means(landlock=7, filtered=True, counted=True))
    assert "change the code of react-run, which lies in their directory" in without_room.gaps
    assert "change the code of react-run" not in " ".join(
        Confinement(write=[world.file], means=without_room.means).gaps
    )


@pytest.mark.parametrize("place", ["lib/site-packages/react_toolsets", "bin", "lib/site-packages", ""])
def test_a_workspace_within_our_code_is_a_gap_everywhere(
    tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "own_code", lambda: [tmp_path])
    kept = Means(landlock=7, room="own", filtered=True, counted=True)
    [gap] = Confinement(write=[tmp_path / place], means=kept).gaps
    assert gap.startswith("change the code of react-run")


def test_the_launcher_is_read_from_no_file_that_is_written_later(world: World) -> None:
    command = Confinement(write=[world.root], means=BEST).launcher(world.root)
    assert not [word for word in command[1:5] if word.endswith(".py")]
    assert not Path(command[0]).is_symlink()
    assert not (Path(command[0]).parent.parent / "pyvenv.cfg").exists()
