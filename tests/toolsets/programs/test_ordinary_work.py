"""Ordinary work goes on in the sandbox: tests, version control, packages, a compiler, a pager, a server of its own."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest
from tests.toolsets.programs.confinements import MEANS, ROOM

from react_toolsets.programs import Confinement, Finished, places, run_program
from react_toolsets.programs.means import Means

GIT = {f"GIT_{who}_{what}": "me@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
SERVER = """
import http.server, threading, urllib.request
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/").status)
"""
POOL = """
import multiprocessing
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        print(pool.map(abs, [-1, -2]))
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "own").mkdir()
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def run(root: Path, line: str, means: Means) -> Finished:
    own = root.parent / "own"
    launcher = Confinement(write=[root], means=means).launcher(own)
    environment = {"PATH": os.environ["PATH"], "TMPDIR": str(own), "HOME": str(own), **GIT}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return asyncio.run(
        run_program(
            ["sh", "-c", line], directory=root, environment=environment, timeout=60, ceiling=20_000, launcher=launcher
        )
    )


@pytest.mark.parametrize("means", MEANS)
@pytest.mark.parametrize(
    ("program", "line", "says"),
    [
        (
            "git",
            "git init -q && echo x > f && git add f && git commit -qm one && git log --format=%s",
            "one",
        ),
        ("gcc", "printf 'int puts(const char *);int main(){puts(\"hi\");}' > a.c && gcc a.c && ./a.out", "hi"),
        ("less", "seq 3 > f && less f | tail -1", "3"),
        ("make", "printf 'all:\\n\\t@echo made\\n' > Makefile && make", "made"),
        ("tar", "mkdir d && echo x > d/f && tar czf d.tgz d && rm -r d && tar xzf d.tgz && cat d/f", "x"),
        ("sh", f"{sys.executable} -c 'import asyncio; print(asyncio.run(asyncio.sleep(0, 5)))'", "5"),
    ],
)
def test_programs_work_as_usual(root: Path, program: str, line: str, says: str, means: Means) -> None:
    if not shutil.which(program):
        pytest.skip(f"{program} is not installed")
    finished = run(root, line, means)
    assert (finished.status, finished.output.split()[-1:]) == (0, [says]), finished.output


@pytest.mark.parametrize("means", MEANS)
def test_a_test_suite_runs(root: Path, means: Means) -> None:
    (root / "test_it.py").write_text("def test_it(tmp_path):\n    (tmp_path / 'x').write_text('x')\n")
    finished = run(root, f"{sys.executable} -m pytest -q test_it.py", means)
    assert "1 passed" in finished.output


@pytest.mark.parametrize("means", MEANS)
def test_packages_are_installed_from_a_directory_of_wheels(root: Path, means: Means) -> None:
    if find_spec("pip") is None:
        pytest.skip("pip is not installed")
    pip = (
        f"PYTHONPATH={sysconfig.get_path('purelib')} {sys.executable} -S -m pip"  # without editable projects elsewhere
    )
    (root / "wheels").mkdir()
    wheel(root / "wheels" / "tiny-1.0-py3-none-any.whl")
    install = f"{pip} install -q --no-index --find-links wheels --target site tiny"
    finished = run(root, f"{install} && PYTHONPATH=site {sys.executable} -c 'import tiny; print(tiny.SIZE)'", means)
    assert finished.output.split()[-1:] == ["1"], finished.output


def wheel(path: Path) -> None:
    with ZipFile(path, "w") as archive:
        archive.writestr("tiny.py", "SIZE = 1\n")
        archive.writestr("tiny-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr("tiny-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("tiny-1.0.dist-info/RECORD", "")


@pytest.mark.parametrize("means", ROOM)
def test_a_room_has_a_network_of_its_own_to_test_servers_in(root: Path, means: Means) -> None:
    (root / "server.py").write_text(SERVER)
    assert run(root, f"{sys.executable} server.py 2>&1 | tail -1", means).output == "200\n"


@pytest.mark.parametrize("means", ROOM)
def test_a_room_has_terminals_and_shared_memory_of_its_own(root: Path, means: Means) -> None:
    (root / "pool.py").write_text(POOL)
    assert run(root, f"{sys.executable} pool.py", means).output == "[1, 2]\n"
    assert run(root, "script -qec 'echo on a terminal' /dev/null < /dev/null", means).output.split() == [
        "on",
        "a",
        "terminal",
    ]


def test_directories_of_the_path_that_we_may_not_look_into_do_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = tmp_path / "closed"
    (closed / "bin").mkdir(parents=True)
    closed.chmod(0)
    monkeypatch.setenv("PATH", f"{closed / 'bin'}{os.pathsep}{os.environ['PATH']}")
    as_nobody = os.geteuid() == 0  # root may look into everything
    if as_nobody:
        os.seteuid(65534)
    try:
        found = list(places.interpreters())
    finally:
        if as_nobody:
            os.seteuid(0)
        closed.chmod(0o700)
    assert str(closed / "bin") in found
