"""On a terminal: the status line, the draft as it arrives, chat, and Ctrl-C, once and twice."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.command_line import SCRIPTED, SLOW, command, environment, react_run, views, write
from tests.cli.terminals import Terminal
from tests.pictures import png

from react_run import ImagePart, read_journal

pytestmark = pytest.mark.terminal


@pytest.fixture
def terminals() -> Iterator[list[Terminal]]:
    opened: list[Terminal] = []
    yield opened
    for terminal in opened:
        if terminal.process.poll() is None:
            os.killpg(terminal.process.pid, signal.SIGKILL)
            terminal.process.wait()


NAPS = """\
import time

from react_run import tool


@tool
def nap() -> str:
    \"\"\"Sleep.\"\"\"
    time.sleep(0.6)
    return "ok"
"""


def test_a_status_line_shows_step_tool_and_time_and_leaves_no_trace(tmp_path: Path) -> None:
    write(tmp_path, NAPS, "naps.py")
    write(
        tmp_path,
        "model: {kind: scripted, replies: [{tool_calls: [{name: nap, arguments: {}}], usage: {input_tokens: 9, "
        "output_tokens: 1}}, done]}\ntoolsets: [naps:nap]\nmax_iterations: 7\n",
    )
    terminal = Terminal(tmp_path, "agent.yaml", "go", "--trust")
    terminal.until("iteration 1/7 · nap · ")
    terminal.until("· 10 tokens")
    assert terminal.end() == 0
    last = terminal.raw.decode().rpartition("\x1b[2K")[2]
    assert "step" not in last
    assert last.splitlines()[-2:-1] != []
    assert "done" in terminal.text


def test_the_first_status_line_comes_at_once(tmp_path: Path) -> None:
    write(tmp_path, SCRIPTED)
    terminal = Terminal(tmp_path, "agent.yaml", "go")
    elapsed = terminal.until("starting")
    assert terminal.end() == 0
    bare = time.monotonic()
    subprocess.run(
        command("--version"), cwd=tmp_path, env=environment(tmp_path / "home"), capture_output=True, check=True
    )
    assert elapsed < 1 + 10 * (time.monotonic() - bare)  # benchmarks/ has the figure, which the machine's load decides


def test_a_dumb_terminal_gets_no_status_line_and_no_escapes(tmp_path: Path) -> None:
    write(tmp_path, SCRIPTED)
    terminal = Terminal(tmp_path, "agent.yaml", "go", TERM="dumb")
    assert terminal.end() == 0
    assert b"\x1b" not in terminal.raw


def test_no_color_is_honoured(tmp_path: Path) -> None:
    write(tmp_path, SCRIPTED)
    terminal = Terminal(tmp_path, "agent.yaml", "go", "-v", NO_COLOR="1")
    assert terminal.end() == 0
    assert not re.search(rb"\x1b\[[0-9;]*m", terminal.raw)


def test_a_thought_and_the_tools_that_ran_stay_above_the_answer(tmp_path: Path) -> None:
    write(tmp_path, SCRIPTED)
    terminal = Terminal(tmp_path, "agent.yaml", "go")
    assert terminal.end() == 0
    assert terminal.rows[:3] == ["Let me see.", "· calculate 6*7", "The answer is 42."]
    assert terminal.rows[3].startswith("2 model calls · 1 tool call · ")
    assert "withdrawn" not in terminal.text


REFUSED = """\
model: {kind: scripted, replies: [no JSON, '{"a": 1}']}
output_schema: {type: object, required: [a]}
"""


def test_an_answer_that_is_not_accepted_is_marked(tmp_path: Path) -> None:
    write(tmp_path, REFUSED)
    terminal = Terminal(tmp_path, "agent.yaml", "go")
    assert terminal.end() == 0
    assert terminal.rows[:2] == ["set aside: no JSON", '{"a": 1}']


FAILING = """\
model:
  kind: scripted
  replies:
    - tool_calls: [{name: calculate, arguments: {expression: "1/0"}}]
    - tool_calls: [{name: convert_units, arguments: {value: 1, from_unit: km, to_unit: m}}]
    - done
toolsets: [math]
"""


@pytest.mark.parametrize("columns", [80, 40])
def test_what_ran_is_told_in_one_line_each(tmp_path: Path, columns: int) -> None:
    write(tmp_path, FAILING)
    terminal = Terminal(tmp_path, "agent.yaml", "go", columns=columns)
    terminal.end()
    assert terminal.rows[0].startswith("✗ calculate 1/0 → Division by")
    assert terminal.rows[1].startswith('· convert_units {"value": 1, "from_un')


MARKDOWN = """\
model: {kind: scripted, replies: ["A **bold** list:\\n\\n- one\\n- two"]}
"""


def test_an_answer_is_rendered_on_a_terminal_and_raw_where_that_is_asked_for(tmp_path: Path) -> None:
    write(tmp_path, MARKDOWN)
    terminal = Terminal(tmp_path, "agent.yaml", "go")
    assert terminal.end() == 0
    assert terminal.rows[:4] == ["A bold list:", "", " • one", " • two"]
    assert b"\x1b[1mbold\x1b[0m" in terminal.raw
    terminal = Terminal(tmp_path, "agent.yaml", "go", "--raw")
    assert terminal.end() == 0
    assert terminal.rows[:4] == ["A **bold** list:", "", "- one", "- two"]
    assert react_run(tmp_path, "agent.yaml", "go").stdout == "A **bold** list:\n\n- one\n- two\n"


def test_a_long_answer_is_there_once_and_whole(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(60)]
    write(tmp_path, json.dumps({"model": {"kind": "scripted", "replies": ["\n".join(lines)]}}))
    terminal = Terminal(tmp_path, "agent.yaml", "go")
    assert terminal.end() == 0
    assert terminal.rows[:60] == lines


def test_ctrl_c_leaves_a_clean_line(tmp_path: Path, terminals: list[Terminal]) -> None:
    write(tmp_path, SLOW)
    terminal = Terminal(tmp_path, "agent.yaml", "go", columns=30)
    terminals.append(terminal)
    terminal.until("thinkin")  # the rest does not fit into 30 columns
    terminal.insist("\x03", "interrupted")
    assert terminal.end() == 130
    assert terminal.rows[0].startswith("interrupted; continue with")


def test_a_chat_knows_what_nobody_asks_a_model(tmp_path: Path, terminals: list[Terminal]) -> None:
    write(tmp_path, CHAT)
    terminal = Terminal(tmp_path, "agent.yaml", columns=100)
    terminals.append(terminal)
    terminal.until("/help for help.")
    terminal.type("help\r")
    terminal.until("/quit         leave")
    terminal.type("Exit\r")
    assert terminal.end() == 0
    assert "first answer" not in terminal.text


def test_a_narrow_terminal_cuts_no_name(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "list", "toolsets", columns=40)
    assert terminal.end() == 0
    for name in ("composite", "duckduckgo", "mediawiki"):
        assert re.search(rf"^ *{name} ", terminal.text, re.MULTILINE)
    assert max(map(len, terminal.text.splitlines())) <= 40


@pytest.mark.parametrize(
    ("columns", "rest"),
    [
        (80, r" +\S+ \S+ +scripted +completed +go on"),
        (64, r" +\S+ \S+ +scripted +completed"),
        (40, r" +\S+ \S+"),
        (25, ""),
    ],
)
def test_runs_are_listed_with_whole_ids_on_a_terminal_of_any_width(tmp_path: Path, columns: int, rest: str) -> None:
    write(tmp_path, SCRIPTED)
    run = re.search(r"run ([0-9a-f]{12})", react_run(tmp_path, "agent.yaml", "go on").stderr)
    assert run
    terminal = Terminal(tmp_path, "runs", "list", columns=columns)
    assert terminal.end() == 0
    assert re.search(rf"^ *{run[1]}{rest} *$", terminal.text, re.MULTILINE)


def test_a_run_is_shown_as_a_tree_in_colours_to_its_end(tmp_path: Path) -> None:
    write(tmp_path, SCRIPTED)
    react_run(tmp_path, "agent.yaml", "go")
    terminal = Terminal(tmp_path, "trace", "--last")
    assert terminal.end() == 0
    assert terminal.text.rstrip().endswith("└─ The answer is 42.")
    assert b"\x1b[31m" not in terminal.raw  # red is for what failed


@pytest.mark.parametrize("option", ["--json", "--yes", "--quiet"])
def test_what_a_chat_cannot_do_is_refused(tmp_path: Path, option: str) -> None:
    write(tmp_path, SCRIPTED)
    terminal = Terminal(tmp_path, "agent.yaml", option)
    assert terminal.end() == 2
    assert f"{option} is for a single run" in terminal.text


def test_a_chat_that_is_not_to_be_kept_is_not(tmp_path: Path, terminals: list[Terminal]) -> None:
    write(tmp_path, SCRIPTED)
    terminal = Terminal(tmp_path, "agent.yaml", "--no-save")
    terminals.append(terminal)
    terminal.until("/help for help")
    terminal.type("go\r")
    terminal.until("The answer is 42.")
    terminal.type("/quit\r")
    assert terminal.end() == 0
    assert not list((tmp_path / "home").rglob("*.json*"))


def test_without_streaming_only_the_answer_appears(tmp_path: Path) -> None:
    write(tmp_path, SCRIPTED)
    terminal = Terminal(tmp_path, "agent.yaml", "go", "--no-stream")
    assert terminal.end() == 0
    assert "Let me see." not in terminal.text
    assert "The answer is 42." in terminal.text


def test_control_characters_never_reach_the_terminal_raw(tmp_path: Path) -> None:
    hostile = '"\\e]0;owned\\a\\e[2J\\x9b31m \\u202e evil"'
    write(tmp_path, f"model: {{kind: scripted, replies: [{hostile}]}}\n")
    for arguments in ((), ("--no-stream",)):
        terminal = Terminal(tmp_path, "agent.yaml", "go", *arguments)
        assert terminal.end() == 0
        assert b"\x1b]0;" not in terminal.raw
        assert b"\x1b[2J" not in terminal.raw
        assert "\x9b" not in terminal.raw.decode()
        assert "\u202e" not in terminal.raw.decode()
        assert "\\x1b]0;owned\\x07" in terminal.text


def test_ctrl_c_ends_a_run_within_a_second(tmp_path: Path, terminals: list[Terminal]) -> None:
    write(tmp_path, SLOW)
    terminal = Terminal(tmp_path, "agent.yaml", "go")
    terminals.append(terminal)
    terminal.until("thinking")
    pressed = time.monotonic()
    terminal.type("\x03")
    assert terminal.end() == 130
    assert time.monotonic() - pressed < 10  # the model alone would take thirty seconds
    assert "interrupted" in terminal.text


STUBBORN = """\
import asyncio

from react_run import Plugin, hookimpl


class Stubborn(Plugin):
    \"\"\"Does not want to end.\"\"\"

    @hookimpl
    async def react_run_failed(self, run, error):
        await asyncio.sleep(30)
"""


def test_a_second_ctrl_c_does_not_wait_for_anything(tmp_path: Path, terminals: list[Terminal]) -> None:
    write(tmp_path, STUBBORN, "stubborn.py")
    write(tmp_path, f"{SLOW}plugins: [stubborn:Stubborn]\n")
    terminal = Terminal(tmp_path, "agent.yaml", "go", "--trust")
    terminals.append(terminal)
    terminal.until("thinking")
    pressed = time.monotonic()
    terminal.type("\x03")
    terminal.read(0.1)
    terminal.type("\x03")
    assert terminal.end() == 130
    assert time.monotonic() - pressed < 1


def test_what_cannot_end_in_good_order_is_left_after_a_second(tmp_path: Path, terminals: list[Terminal]) -> None:
    write(tmp_path, STUBBORN, "stubborn.py")
    write(tmp_path, f"{SLOW}plugins: [stubborn:Stubborn]\n")
    terminal = Terminal(tmp_path, "agent.yaml", "go", "--trust")
    terminals.append(terminal)
    terminal.until("thinking")
    pressed = time.monotonic()
    terminal.type("\x03")
    assert terminal.end() == 130
    assert time.monotonic() - pressed < 10  # the model alone would take thirty seconds


BUSY = """\
from time import monotonic

from react_run import tool


@tool(inline=True)
def ponder() -> str:
    \"""Keep the loop from everything else.\"""
    end = monotonic() + 30
    while monotonic() < end:
        pass
    return "done"
"""


@pytest.mark.parametrize(("insists", "within"), [(False, 1.5), (True, 0.7)])
def test_ctrl_c_reaches_a_run_whose_loop_is_held_up(
    tmp_path: Path, terminals: list[Terminal], insists: bool, within: float
) -> None:
    write(tmp_path, BUSY, "busy.py")
    write(
        tmp_path,
        "model: {kind: scripted, replies: [{tool_calls: [{name: ponder, arguments: {}}]}]}\ntoolsets: [busy:ponder]\n",
    )
    terminal = Terminal(tmp_path, "agent.yaml", "go", "--trust", "--record", "the run.jsonl")
    terminals.append(terminal)
    terminal.until("ponder")
    pressed = time.monotonic()
    terminal.type("\x03")
    while insists and terminal.process.poll() is None:
        terminal.watch(0.05)
        terminal.type("\x03")
    assert terminal.end() == 130
    assert time.monotonic() - pressed < within
    assert "interrupted; continue with: react-run resume 'the run.jsonl'" in terminal.text


GUARDED = """\
model:
  kind: scripted
  replies:
    - tool_calls: [{name: save, arguments: {text: "\\e[2Jhello"}}]
    - done
toolsets: [saving:save]
permissions: [{tool: read, action: allow}]
failure_handling: legacy
"""
SAVING = """\
from react_run import tool


@tool(read_only=False)
def save(text: str) -> str:
    \"\"\"Save a text.\"\"\"
    return "saved"
"""


@pytest.mark.parametrize(("typed", "seen"), [("y\n", "→ saved"), ("n\n", "declined")])
def test_a_call_that_needs_approval_is_asked_for_on_a_quiet_terminal(tmp_path: Path, typed: str, seen: str) -> None:
    write(tmp_path, SAVING, "saving.py")
    write(tmp_path, GUARDED)
    terminal = Terminal(tmp_path, "agent.yaml", "go", "--trust", "-v")
    terminal.until("[N]o: ")
    terminal.read(0.4)
    assert terminal.text.endswith("[N]o: ")  # the status line does not write over the question
    terminal.type(typed)
    assert terminal.end() == (0 if seen == "→ saved" else 1)  # a denied change that stands is no success (F6)
    assert seen in terminal.text
    assert b"\x1b[2Jhello" not in terminal.raw


def test_yes_approves_and_without_a_terminal_a_call_that_needs_approval_ends_the_run(tmp_path: Path) -> None:
    write(tmp_path, SAVING, "saving.py")
    write(tmp_path, GUARDED)
    done = react_run(tmp_path, "agent.yaml", "go", "--trust", "-v")
    assert done.returncode == 4
    assert "needs approval" in done.stderr
    done = react_run(tmp_path, "agent.yaml", "go", "--trust", "-v", "--yes")
    assert (done.returncode, done.stdout) == (0, "done\n")
    assert "→ saved" in done.stderr


# -- chat -------------------------------------------------------------------------------------------------------------

CHAT = """\
name: talker
model: {kind: scripted, scope: agent, replies: [first answer, {delay: 30, text: late}, third answer]}
toolsets: [math]
"""


def test_a_chat_keeps_its_history_and_survives_ctrl_c_of_one_answer(tmp_path: Path, terminals: list[Terminal]) -> None:
    write(tmp_path, CHAT)
    terminal = Terminal(tmp_path, "agent.yaml", columns=100)
    terminals.append(terminal)
    terminal.until("talker · scripted · 2 tools. /help for help.")
    terminal.type("hello\r")
    terminal.until("first answer")
    terminal.until("1 model call")
    terminal.type("and now?\r")
    terminal.until("thinking")
    terminal.type("\x03")
    terminal.until("this turn is discarded")
    terminal.type("again\r")
    terminal.until("third answer")
    terminal.type("/tools\r")
    terminal.until("convert_units")
    terminal.type("/model offline\r")
    terminal.until("now using offline")
    terminal.type("/rest\r")
    terminal.until("Did you mean '/reset'?")
    terminal.type("/save talk.md\r")
    terminal.until("written to talk.md")
    terminal.type("/help\r")
    terminal.until("/quit         leave")
    terminal.type("/quit\r")
    assert terminal.end() == 0
    talk = (tmp_path / "talk.md").read_text(encoding="utf-8")
    assert re.findall(r"^(?!#)\S.*", talk, re.MULTILINE) == ["hello", "first answer", "again", "third answer"]


def test_a_chat_ends_with_ctrl_d_and_not_with_ctrl_c(tmp_path: Path, terminals: list[Terminal]) -> None:
    write(tmp_path, CHAT)
    terminal = Terminal(tmp_path, "chat", "agent.yaml", columns=100)
    terminals.append(terminal)
    terminal.until("/help for help.")
    terminal.until("\n>")
    terminal.insist("\x03", "Ctrl-D to leave)\n>")
    terminal.type("\x04")
    assert terminal.end() == 0


def test_a_chat_sends_files_that_a_line_names(tmp_path: Path, terminals: list[Terminal]) -> None:
    write(tmp_path, 'model: {kind: scripted, reads: ["image/*"], replies: [A dot.]}\n')
    (tmp_path / "dot.png").write_bytes(png())
    (tmp_path / "odd.bin").write_bytes(b"\0\1")
    terminal = Terminal(tmp_path, "chat", "agent.yaml", columns=100)
    terminals.append(terminal)
    terminal.until("/help for help.")
    terminal.type("See @odd.bin\r")
    terminal.until("@odd.bin: is not a file that models can read")
    terminal.type("See @dot.png and @none.png\r")
    terminal.until("@none.png is not a file here: it is sent as text")
    terminal.until("1 model call")
    terminal.type("/quit\r")
    assert terminal.end() == 0
    (path,) = (tmp_path / "home" / "data" / "runs").glob("*.jsonl")
    assert read_journal(path).prompt == ["See @dot.png and @none.png", ImagePart(png(), name="dot.png")]


HOSTILE = "A\x9b2J\x1b[2J\x1b]52;c;YQ==\x07\u202eB\u2066\u200b\x7f"
"""What erases the screen, fills the clipboard, and turns text around; the first in one character."""
HOSTILE_AGENT = f"""\
name: {json.dumps(HOSTILE)}
model:
  kind: scripted
  replies: [{{text: {json.dumps(HOSTILE)}, tool_calls: [{{name: {json.dumps(HOSTILE)}, arguments: {{}}}}]}}, "no"]
"""


@pytest.mark.parametrize(
    "words",
    [
        ["agent.yaml", HOSTILE, "--json"],
        ["agent.yaml", HOSTILE, "--output-format", "stream-json"],
        ["agent.yaml", HOSTILE, "--dry-run"],
        ["agent.yaml", "go", "--debug", "--set", f"{HOSTILE}=1"],
        ["explain", "agent.yaml", "--json"],
        ["explain", "agent.yaml", "--mermaid"],
        ["check", f"{HOSTILE}.yaml"],
        ["trust", "."],
        ["init", f"new{HOSTILE}"],
        ["trace", "--last", "--html", f"{HOSTILE}.html"],
        ["runs", "list", "--json"],
        *([*view, "--last"] for view in views()),
    ],
    ids=lambda words: " ".join(words).encode("ascii", "replace").decode()[:40],
)
def test_nothing_from_a_file_a_name_or_a_model_steers_the_terminal(tmp_path: Path, words: list[str]) -> None:
    folder = tmp_path / HOSTILE
    folder.mkdir()
    for name in ("agent", HOSTILE):
        write(folder, HOSTILE_AGENT, f"{name}.yaml")
    if words[0] in ("trace", "runs"):
        react_run(folder, "agent.yaml", HOSTILE)
    terminal = Terminal(folder, *words)
    terminal.watch(30)
    while terminal.read(0):
        pass
    left = re.sub(r"\x1b\[[0-9;]*m|\r\x1b\[2K", "", terminal.raw.decode())  # our own colours and status line
    assert "2J" in left
    assert not set(left) & set(HOSTILE) - set("A2J[]52;c;YQ==B")
