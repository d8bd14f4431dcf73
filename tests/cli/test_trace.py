"""``trace --html FILE --open``: the page in a browser, or where it is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.cli.command_line import SCRIPTED, react_run, write

PAGE = ("trace", "run.jsonl", "--html", "a page.html")
may_lack_a_browser = pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="there is always a browser here")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A directory with the journal of a run."""
    write(tmp_path, SCRIPTED)
    assert react_run(tmp_path, "agent.yaml", "6*7", "--record", "run.jsonl").returncode == 0
    return tmp_path


def program(folder: Path, name: str, text: str) -> str:
    path = write(folder, f"#!/bin/sh\n{text}\n", name)
    path.chmod(0o755)
    return str(path)


def test_the_page_is_opened_in_the_browser_of_the_user(folder: Path) -> None:
    browser = program(folder, "browser", f'printf "%s\\n" "$@" > "{folder}/opened"')
    done = react_run(folder, *PAGE, "--open", BROWSER=browser)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "written to a page.html\n")
    assert (folder / "opened").read_text() == f"{(folder / 'a page.html').as_uri()}\n"


def test_without_open_no_browser_is_started(folder: Path) -> None:
    browser = program(folder, "browser", f'touch "{folder}/opened"')
    assert react_run(folder, *PAGE, BROWSER=browser).returncode == 0
    assert not (folder / "opened").exists()


@may_lack_a_browser
@pytest.mark.parametrize("browser", ["", "/no/such/program", "'%s", "fails"])
def test_without_a_browser_the_place_of_the_page_is_said(folder: Path, browser: str) -> None:
    browser = program(folder, "fails", "exit 1") if browser == "fails" else browser
    done = react_run(folder, *PAGE, "--open", BROWSER=browser)
    said = f"no browser could be started here: open {folder / 'a page.html'} in one\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"written to a page.html\n{said}")


@may_lack_a_browser
def test_a_text_browser_does_not_take_the_terminal(folder: Path) -> None:
    browser = program(folder, "www-browser", f'touch "{folder}/opened"')
    done = react_run(folder, *PAGE, "--open", PATH=str(Path(browser).parent), TERM="xterm")
    assert (done.returncode, "no browser could be started here" in done.stderr) == (0, True)
    assert not (folder / "opened").exists()


@pytest.mark.parametrize("options", [(), ("--html", "-"), ("--html",)])
def test_only_a_page_in_a_file_can_be_opened(folder: Path, options: tuple[str, ...]) -> None:
    done = react_run(folder, "trace", "run.jsonl", *options, "--open")
    assert (done.returncode, done.stdout) == (2, "")
    assert "add --html FILE" in done.stderr
