"""Answers as Markdown on a terminal: what has some, and that nothing of it is lost."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from react_run.cli.markdown import has_markdown, show


@pytest.mark.parametrize(
    "text",
    [
        "# Title",
        "a **bold** word",
        "use `ls`",
        "- one\n- two",
        "1. one\n\n2. two",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "a | b\n--|--\n1 | 2",
        "```\ncode\n```",
        "> said",
        "see [there](https://e.org)",
    ],
)
def test_markdown_is_seen(text: str) -> None:
    assert has_markdown(text)


@pytest.mark.parametrize(
    "text",
    [
        "345",
        "- 5",
        "-5",
        "2**3**4",
        "2 ** 3 ** 4",
        "a\nb",
        "5 * 3 * 2",
        "__init__",
        "x_1 and x_2",
        "#5",
        "1. May",
        "a | b",
    ],
)
def test_plain_text_and_sums_stay_as_they_are(text: str) -> None:
    assert not has_markdown(text)


def shown(text: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    show(text)
    return [line.rstrip() for line in capsys.readouterr().out.rstrip().split("\n")]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("**a**\nb", ["a", "b"]),
        ("`2**3**4` is 2**3**4", ["2**3**4 is 2**3**4"]),
        ("**a** 2*3*4", ["a 2*3*4"]),
        ("**a** <b>x</b> & <think>", ["a <b>x</b> & <think>"]),
        ("<div>\n**a**\n</div>", ["<div>", "a", "</div>"]),
        ("**a** [there](https://e.org/x)", ["a there (https://e.org/x)"]),
        ("**a** <https://e.org/x>", ["a https://e.org/x"]),
        ("**a** ![chart](c.png)", ["a chart (c.png)"]),
        ("# Title\n\n**a**", ["Title", "", "a"]),
        ("**a**\n5\n---\n6", ["a", "5", "-" * 80, "6"]),
    ],
)
def test_nothing_is_lost(text: str, lines: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert [line for line in shown(text, capsys) if line] == [line for line in lines if line]


def test_nothing_steers_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show("**a** \x1b[2J `\x9b2J` \u202e")
    out = capsys.readouterr().out
    assert "\x1b[2J" not in out
    assert "\x9b" not in out
    assert "\u202e" not in out


@pytest.mark.parametrize(
    "text", ["**a " * 6000, "|" * 24_000, "[a" * 8000, "`" * 24_000, "1. a\n" + "b\n" * 12_000, "*" * 24_000]
)
def test_hostile_text_is_judged_at_once(text: str) -> None:
    started = time.process_time()
    has_markdown(text)
    assert time.process_time() - started < 1


def test_rich_is_imported_for_markdown_only() -> None:
    code = (
        "import sys; from react_run.cli.markdown import has_markdown; has_markdown('345'); print('rich' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
