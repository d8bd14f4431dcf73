"""What programs may touch, enforced by the kernel where it can be, and told honestly where it cannot."""

from __future__ import annotations

import asyncio
import marshal
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.programs.confinements import BEST, EXACT, MEANS

from react_run.support.programs.running import run_program
from react_toolsets.programs import Confinement, Finished, NotConfined, RunsPrograms
from react_toolsets.programs.means import Means
from react_toolsets.programs.promises import PROMISES


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


def run(root: Path, line: str, means: Means, **options: object) -> Finished:
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
def test_work_in_the_directory_goes_on_as_usual(root: Path, line: str, means: Means) -> None:
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
def test_nothing_outside_is_read_or_changed(root: Path, line: str, means: Means) -> None:
    outside = root.parent / "outside"
    finished = run(root, line.replace("$HOME_OF_USER", str(Path.home())), means)
    assert finished.status != 0
    assert "CANARY in outside" not in finished.output
    assert [path.name for path in outside.iterdir()] == ["file.txt"]
    assert (outside / "file.txt").read_text() == "CANARY in outside"


@pytest.mark.parametrize("means", MEANS)
def test_what_is_read_only_stays_so_and_what_is_writable_is(root: Path, means: Means) -> None:
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
def test_our_environment_and_processes_are_out_of_reach(root: Path, means: Means) -> None:
    line = f"cat /proc/$PPID/environ; cat /proc/{os.getpid()}/environ; kill -0 {os.getpid()} && echo reached"
    finished = run(root, line, means)
    ours = Path("/proc/self/environ").read_text()
    assert ours
    assert ours not in finished.output
    assert "reached" not in finished.output


@pytest.mark.parametrize("means", MEANS)
def test_there_is_no_tcp_unless_it_is_allowed(root: Path, port: int, means: Means) -> None:
    connect = f"{sys.executable} -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5)'"
    assert run(root, connect, means).status != 0
    assert run(root, connect, means, network=True).status == 0


@pytest.mark.skipif(not BEST, reason="nothing is confined here")
def test_what_cannot_be_confined_is_not_started(root: Path) -> None:
    launcher = Confinement(write=[Path("\0")], means=BEST).launcher(root.parent / "own")
    command = run_program(
        ["touch", "started"], directory=root, environment={}, timeout=20, ceiling=1000, launcher=launcher
    )
    assert asyncio.run(command).status != 0
    assert not (root / "started").exists()


@pytest.mark.parametrize("means", EXACT)
def test_how_a_command_ends_is_how_its_confined_process_ends(root: Path, means: Means) -> None:
    assert [run(root, line, means).status for line in ("exit 7", "kill -TERM $$", "kill -KILL $$")] == [7, -15, -9]


@pytest.mark.parametrize("means", MEANS)
def test_signals_that_python_ignores_are_as_usual(root: Path, means: Means) -> None:
    finished = run(root, "yes | head -1; grep SigIgn /proc/self/status", means)
    said, _, ignored = finished.output.split()
    assert said == "y"
    python_ignores = 1 << signal.SIGPIPE - 1 | 1 << signal.SIGXFSZ - 1  # in the bits; the others are inherited
    assert not int(ignored, 16) & python_ignores


# -- the report -------------------------------------------------------------------------------------------------------


def gaps(root: Path, **means: Any) -> set[str]:
    confinement = Confinement(write=[root], means=Means(**means))
    return {promise.name for promise in PROMISES if not promise.kept(confinement)}


LIMITS = {"number of processes", "left behind"}


def test_a_room_with_a_filter_keeps_every_promise(root: Path) -> None:
    assert gaps(root, landlock=7, room="own", filtered=True, counted=True) == set()
    assert gaps(root, room="own", filtered=True, counted=True) == set()


@pytest.mark.parametrize(
    ("version", "filtered", "open_here"),
    [
        (6, True, set()),
        (4, True, {"signals"}),
        (6, False, {"other sockets", "Unix sockets", "limits of others", "keyrings", "shared objects"}),
        (
            3,
            False,
            {"TCP", "other sockets", "Unix sockets", "signals", "limits of others", "keyrings", "shared objects"},
        ),
        (1, True, {"truncation", "signals"}),
    ],
)
def test_each_version_of_landlock_says_what_it_leaves_open(
    root: Path, version: int, filtered: bool, open_here: set[str]
) -> None:
    assert gaps(root, landlock=version, filtered=filtered) == {"attributes", *LIMITS, *open_here}


def test_with_the_network_open_unix_sockets_are_a_gap_outside_a_room(root: Path) -> None:
    free = Confinement(write=[root], network=True, means=Means(landlock=7, filtered=True))
    assert "connect to Unix sockets that the user may use" in free.gaps


@pytest.mark.parametrize("means", MEANS)
def test_what_is_said_to_stay_open_does_and_nothing_else_of_a_file_elsewhere(root: Path, means: Means) -> None:
    outside = root.parent / "outside" / "file.txt"
    run(root, "chmod 400 ../outside/file.txt; touch -d 2001-01-01 ../outside/file.txt", means)
    changed = outside.stat().st_mode & 0o777 == 0o400
    said = "change modes, owners, times" in Confinement(write=[root], means=means).report()
    assert changed == said


def test_where_nothing_is_enforced_that_is_said() -> None:
    confinement = Confinement(write=[Path("/w")], means=Means())
    assert confinement.report().startswith("Not confined: this system has neither Landlock")
    assert len(confinement.gaps) == len(PROMISES) - 1  # no code of ours is in /w
    assert confinement.launcher(Path("/t")) == []


@pytest.mark.parametrize("means", MEANS)
def test_where_it_is_enforced_the_report_names_by_what_and_where(means: Means) -> None:
    report = Confinement(write=[Path("/w")], means=means).report()
    assert report.startswith("Confined by Landlock (version")
    assert ("namespaces" in report, "bubblewrap" in report) == (means.room == "own", means.room == "bubblewrap")
    assert "can write in /w and a private temporary directory" in report


def test_required_means_that_nothing_runs_unconfined(root: Path) -> None:
    class Unable(RunsPrograms):
        def confinement(self, directory: Path) -> Confinement:
            return Confinement(write=[directory], means=Means(landlock=7, filtered=True))

    with pytest.raises(NotConfined, match="could change modes, owners"):
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
    command = Confinement(write=[], means=Means(landlock=7)).launcher(tmp_path)
    rules = marshal.loads(bytes.fromhex(command[-1]))
    read = {path.removeprefix(f"{home}") for path in rules["read"] if path.startswith(str(home))}
    assert read == {"/venv/bin", "/python", "/tools/shims", "/tools", "/.local/bin", "/.cargo/bin", "/bin"}
