"""What programs may touch, enforced by the kernel where it can be, and told honestly where it cannot."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from react_toolsets.programs import Confinement, Finished, NotConfined, RunsPrograms, landlock
from react_toolsets.programs.confinement import _bubblewrap, landlock_gaps
from react_toolsets.programs.running import run_program

MEANS = [
    pytest.param("landlock", marks=pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")),
    pytest.param("bubblewrap", marks=pytest.mark.skipif(not _bubblewrap(), reason="bubblewrap is not installed")),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("root", "own", "outside"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file.txt").write_text(f"CANARY in {name}")
    (tmp_path / "root" / "link").symlink_to("../outside/file.txt")
    return tmp_path / "root"


@pytest.fixture
def port() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def run(root: Path, line: str, means: str, **options: object) -> Finished:
    confinement = Confinement(write=[root], means=means, **options)  # type: ignore[arg-type]  # each test knows its own
    environment = {"PATH": os.environ["PATH"], "TMPDIR": str(root.parent / "own")}
    launcher = confinement.launcher(root.parent / "own")
    command = ["sh", "-c", line]
    return asyncio.run(
        run_program(command, directory=root, environment=environment, timeout=20, ceiling=10_000, launcher=launcher)
    )


@pytest.mark.parametrize("means", MEANS)
@pytest.mark.parametrize(
    "line",
    [
        "cat file.txt && echo new > new.txt && mkdir d && mv new.txt d/ && rm -r d",
        "echo x > $TMPDIR/x && rm $TMPDIR/x",
        "ls /usr/bin > /dev/null && test -s /etc/passwd",
        "echo x > /dev/null && head -c 4 /dev/urandom > r && rm r",
        f"{sys.executable} -c 'import json, ssl'",
        "sh -c 'sh -c \"echo deep\"'",
    ],
)
def test_work_in_the_directory_goes_on_as_usual(root: Path, line: str, means: str) -> None:
    finished = run(root, line, means)
    assert finished.status == 0, finished.output


@pytest.mark.parametrize("means", MEANS)
@pytest.mark.parametrize(
    "line",
    [
        "cat ../outside/file.txt",
        "cat link",
        "echo mine > ../outside/file.txt",
        "echo mine > ../outside/new.txt",
        "echo mine > link",
        "rm ../outside/file.txt",
        "mv ../outside/file.txt .",
        "ln ../outside/file.txt hard",
        "truncate -s 0 ../outside/file.txt",
        "sh -c 'cat ../outside/file.txt'",
        "ls ../outside",
        "cat $HOME_OF_USER/.profile",
        "echo x > /etc/react-run-test",
        "echo x > /usr/react-run-test",
        "sh -c 'cat ../outside/file.txt' 3<.",
        "cd .. && cat outside/file.txt",
        "mknod sda b 8 0",
    ],
)
def test_nothing_outside_is_read_or_changed(root: Path, line: str, means: str) -> None:
    outside = root.parent / "outside"
    finished = run(root, line.replace("$HOME_OF_USER", str(Path.home())), means)
    assert finished.status != 0
    assert "CANARY in outside" not in finished.output
    assert [path.name for path in outside.iterdir()] == ["file.txt"]
    assert (outside / "file.txt").read_text() == "CANARY in outside"


@pytest.mark.parametrize("means", MEANS)
def test_what_is_read_only_stays_so_and_what_is_writable_is(root: Path, means: str) -> None:
    outside = root.parent / "outside"
    line = "cat ../outside/file.txt; echo changed > ../outside/file.txt"
    assert run(root, line, means, read=[outside]).output.startswith("CANARY in outside")
    assert (outside / "file.txt").read_text() == "CANARY in outside"
    confinement = Confinement(write=[root, outside], means=means)
    launcher = confinement.launcher(root.parent / "own")
    asyncio.run(
        run_program(["sh", "-c", line], directory=root, environment={}, timeout=20, ceiling=1000, launcher=launcher)
    )
    assert (outside / "file.txt").read_text() == "changed\n"


@pytest.mark.parametrize("means", MEANS)
def test_our_environment_and_processes_are_out_of_reach(root: Path, means: str) -> None:
    line = f"cat /proc/$PPID/environ; cat /proc/{os.getpid()}/environ; kill -0 {os.getpid()} && echo reached"
    finished = run(root, line, means)
    ours = Path("/proc/self/environ").read_text()
    assert ours
    assert ours not in finished.output
    assert "reached" not in finished.output


@pytest.mark.parametrize("means", MEANS)
def test_there_is_no_tcp_unless_it_is_allowed(root: Path, port: int, means: str) -> None:
    connect = f"{sys.executable} -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5)'"
    if Confinement(write=[root], means=means).enforced:
        assert run(root, connect, means).status != 0
    assert run(root, connect, means, network=True).status == 0


@pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")
def test_what_cannot_be_confined_is_not_started(root: Path) -> None:
    finished = asyncio.run(
        run_program(
            ["touch", "started"],
            directory=root,
            environment={},
            timeout=20,
            ceiling=1000,
            launcher=[
                sys.executable,
                "-I",
                "-S",
                landlock.__file__,
                '{"read": [], "write": ["\\u0000"], "network": true}',
            ],
        )
    )
    assert finished.status != 0
    assert not (root / "started").exists()


# -- the report -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "network", "gaps"),
    [
        (7, True, []),
        (6, False, ["UDP and Unix sockets"]),
        (4, False, ["UDP and Unix sockets", "signals to other processes of the same user (Linux before 6.12)"]),
        (
            3,
            False,
            ["the network (Linux before 6.7)", "signals to other processes of the same user (Linux before 6.12)"],
        ),
        (
            1,
            True,
            [
                "files elsewhere can be cut short (Linux before 6.2)",
                "signals to other processes of the same user (Linux before 6.12)",
            ],
        ),
    ],
)
def test_each_version_of_landlock_says_what_it_leaves_open(version: int, network: bool, gaps: list[str]) -> None:
    assert landlock_gaps(version, network=network) == ["modes, owners and times of files elsewhere", *gaps]


@pytest.mark.parametrize("means", MEANS)
def test_what_is_said_to_stay_open_does_and_nothing_else_of_a_file_elsewhere(root: Path, means: str) -> None:
    outside = root.parent / "outside" / "file.txt"
    run(root, "chmod 400 ../outside/file.txt; touch -d 2001-01-01 ../outside/file.txt", means)
    changed = outside.stat().st_mode & 0o777 == 0o400
    said = "modes, owners and times" in Confinement(write=[root], means=means).report()
    assert changed == said


def test_where_nothing_is_enforced_that_is_said() -> None:
    confinement = Confinement(write=[Path("/w")], means="")
    assert (
        confinement.report()
        == "Not confined: nothing is enforced, for this system has neither Landlock nor bubblewrap."
    )
    assert not confinement.enforced
    assert confinement.launcher(Path("/t")) == []


@pytest.mark.parametrize("means", MEANS)
def test_where_it_is_enforced_the_report_names_by_what_and_where(means: str) -> None:
    report = Confinement(write=[Path("/w")], means=means).report()
    assert report.lower().startswith(f"confined by {means}")
    assert "can write in /w and a temporary directory" in report


def test_required_means_that_nothing_runs_unconfined(root: Path) -> None:
    class Unable(RunsPrograms):
        def confinement(self, directory: Path) -> Confinement:
            return Confinement(write=[directory], means="")

    with pytest.raises(NotConfined, match="sandbox is required"):
        asyncio.run(Unable(sandbox="required").launch(["touch", "started"], root))
    assert not (root / "started").exists()
    assert asyncio.run(Unable().launch(["touch", "started"], root)).status == 0


def test_a_program_gets_a_home_and_a_temporary_directory_of_its_own(root: Path) -> None:
    finished = asyncio.run(RunsPrograms().launch(["sh", "-c", "echo $HOME; echo $TMPDIR; touch $TMPDIR/x"], root))
    home, temporary = finished.output.split()
    assert home == temporary or not RunsPrograms().confinement(root).means
    assert not Path(temporary).exists()


def test_what_programs_on_the_path_need_can_be_read_but_no_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    for name in ("venv/bin", "python/bin", "tools/shims", ".local/bin", ".local/lib", ".cargo/bin", "bin", "lib"):
        (home / name).mkdir(parents=True)
    (home / "venv" / "pyvenv.cfg").write_text(f"home = {home}/python/bin\nversion = 3.12\n")
    monkeypatch.setenv("HOME", str(home))
    names = ("venv/bin", "tools/shims", ".local/bin", ".cargo/bin", "bin")
    monkeypatch.setenv("PATH", os.pathsep.join(["/usr/bin", "relative", *(str(home / name) for name in names)]))
    command = Confinement(write=[], means="landlock").launcher(tmp_path)
    read = {path.removeprefix(f"{home}") for path in json.loads(command[-1])["read"] if path.startswith(str(home))}
    assert read == {"/venv/bin", "/python", "/tools/shims", "/tools", "/.local/bin", "/.cargo/bin", "/bin"}
