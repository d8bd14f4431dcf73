"""What scripts rely on: exit statuses, what goes to stdout, pipes, and no traceback anywhere."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.command_line import ENDLESS, SCRIPTED, SLOW, Call, command, environment, react_run, write

AMBIGUOUS = """\
model:
  kind: scripted
  replies:
    - tool_calls: [{name: convert_units, arguments: {value: 1, from_unit: gallon, to_unit: l}}]
toolsets: [math]
"""
REPLIES = "model: {{kind: scripted, replies: [{reply}]}}\n"


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        (SCRIPTED, 0, ""),
        (REPLIES.format(reply='""'), 1, "stopped: the model gave no answer"),
        ("model: [\n", 2, "agent.yaml:2:1"),
        ("toolsets: [mth]\n", 2, "Did you mean 'math'?"),
        (REPLIES.format(reply="{error: {status: 401, message: bad key}}"), 3, "bad key"),
        (AMBIGUOUS, 4, "stopped: it needs an answer from you"),
        (ENDLESS + "max_iterations: 2\n", 5, "the iteration limit was reached (--max-iterations)"),
    ],
    ids=["answered", "no answer", "no YAML", "unknown toolset", "provider failed", "needs the user", "limit"],
)
def test_every_way_to_end_has_its_exit_status(tmp_path: Path, text: str, status: int, said: str) -> None:
    write(tmp_path, text)
    done = react_run(tmp_path, "agent.yaml", "go")
    assert done.returncode == status, done.stderr
    assert said in done.stderr


def test_the_answer_goes_to_stdout_and_everything_else_to_stderr(tmp_path: Path) -> None:
    write(tmp_path, SCRIPTED)
    done = react_run(tmp_path, "agent.yaml", "what is 6*7?", "-v")
    assert done.stdout == "The answer is 42.\n"
    call, footer = done.stderr.splitlines()
    assert call.startswith('✓ calculate {"expression": "6*7"} → ')
    assert footer.startswith("2 model calls · 1 tool call · 268 tokens · $0.0300 · ")


def test_quiet_says_nothing_but_the_answer(tmp_path: Path) -> None:
    write(tmp_path, SCRIPTED)
    done = react_run(tmp_path, "agent.yaml", "go", "-q")
    assert (done.stdout, done.stderr) == ("The answer is 42.\n", "")


def test_very_verbose_shows_steps_and_thoughts(tmp_path: Path) -> None:
    write(tmp_path, SCRIPTED)
    done = react_run(tmp_path, "agent.yaml", "go", "-vv")
    assert "  iteration 1: tool_calls, 110 tokens\n  Let me see.\n" in done.stderr


def test_json_is_one_object_on_stdout(tmp_path: Path) -> None:
    write(tmp_path, SCRIPTED)
    result = json.loads(react_run(tmp_path, "agent.yaml", "go", "--json").stdout)
    assert (result["answer"], result["success"], result["usage"]["requests"]) == ("The answer is 42.", True, 2)


def test_json_tells_of_errors_too(tmp_path: Path) -> None:
    write(tmp_path, "model: offline\nmax_iterations: 0\n")
    done = react_run(tmp_path, "agent.yaml", "go", "--json")
    assert done.returncode == 2
    error = json.loads(done.stdout)["error"]
    assert error["problems"][0] == {
        "file": "agent.yaml",
        "line": 2,
        "column": 17,
        "code": "cfg.range",
        "key": "max_iterations",
        "message": "must be at least 1, not 0",
    }
    write(tmp_path, REPLIES.format(reply="{error: {status: 401, message: bad key}}"))
    done = react_run(tmp_path, "agent.yaml", "go", "--json")
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["status"], error["result"]["stop_reason"]) == (3, 401, "model_error")


def test_stream_json_is_an_event_per_line_and_the_result_last(tmp_path: Path) -> None:
    write(tmp_path, SCRIPTED)
    done = react_run(tmp_path, "agent.yaml", "go", "--output-format", "stream-json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = [event["type"] for event in events]
    assert kinds[0] == "text_delta"
    assert kinds.index("tool_started") < kinds.index("tool_finished") < kinds.index("result") == len(kinds) - 1
    assert events[-1]["answer"] == "The answer is 42."


def test_a_missing_file_is_an_error_in_json_like_any_other(tmp_path: Path) -> None:
    done = react_run(tmp_path, "gone.yaml", "go", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout) == {
        "success": False,
        "error": {"type": "ConfigError", "message": "there is no file gone.yaml"},
    }


# -- where the prompt comes from --------------------------------------------------------------------------------------

ECHO = "model: {kind: scripted, replies: [ok]}\n"


def asked(result: str) -> str:
    messages = json.loads(result)["messages"]
    return str(next(message["content"] for message in messages if message["role"] == "user"))


@pytest.mark.parametrize(
    ("words", "piped", "prompt"),
    [
        (["one", "two"], None, "one two"),
        (["-"], "from a pipe\n", "from a pipe"),
        ([], "from a pipe\n", "from a pipe"),
        (["sum up"], "the text\n", "sum up\n\nthe text"),
        (["sum up", "-"], "the text\n", "sum up\n\nthe text"),
        (["-2**2"], None, "-2**2"),
        (["--", "--json"], None, "--json"),
    ],
)
def test_the_prompt_is_made_of_words_and_standard_input(
    tmp_path: Path, words: list[str], piped: str | None, prompt: str
) -> None:
    write(tmp_path, ECHO)
    stdin = subprocess.DEVNULL if piped is None else piped
    assert asked(react_run(tmp_path, "agent.yaml", "--json", *words, stdin=stdin).stdout) == prompt


def test_an_idle_pipe_that_was_merely_inherited_does_not_hold_up_a_run(tmp_path: Path) -> None:
    write(tmp_path, ECHO)
    reading, writing = os.pipe()
    try:
        done = react_run(tmp_path, "agent.yaml", "--json", "go", stdin=reading)
    finally:
        os.close(reading)
        os.close(writing)
    assert asked(done.stdout) == "go"
    assert "nothing arrived on standard input" in done.stderr


def test_a_closed_standard_input_is_no_input(tmp_path: Path) -> None:
    write(tmp_path, ECHO)
    shell = f"{' '.join(command('agent.yaml', 'go'))} <&-"
    done = subprocess.run(
        shell, shell=True, cwd=tmp_path, env=environment(tmp_path / "h"), capture_output=True, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, b"ok\n")
    shell = f"{' '.join(command('agent.yaml'))} <&-"
    done = subprocess.run(
        shell, shell=True, cwd=tmp_path, env=environment(tmp_path / "h"), capture_output=True, timeout=60
    )
    assert done.returncode == 2
    assert b"the prompt is empty" in done.stderr
    assert b"Traceback" not in done.stderr


def test_an_empty_prompt_is_wrong_use(tmp_path: Path) -> None:
    write(tmp_path, ECHO)
    done = react_run(tmp_path, "agent.yaml", stdin="  \n")
    assert done.returncode == 2
    assert "the prompt is empty" in done.stderr


# -- where the output goes --------------------------------------------------------------------------------------------


def test_a_closed_pipe_is_no_failure_and_silent(tmp_path: Path) -> None:
    write(tmp_path, "model: {kind: scripted, replies: ['" + "line\\n" * 3 + "x" * 200_000 + "']}\n")
    shell = f"set -o pipefail; {' '.join(command('agent.yaml', 'go', '-q'))} | head -c 5 >/dev/null"
    done = subprocess.run(
        ["bash", "-c", shell], cwd=tmp_path, env=environment(tmp_path / "h"), capture_output=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_device_is_reported_without_a_traceback(tmp_path: Path) -> None:
    write(tmp_path, ECHO)
    shell = f"{' '.join(command('agent.yaml', 'go'))} >/dev/full"
    done = subprocess.run(
        shell, shell=True, cwd=tmp_path, env=environment(tmp_path / "h"), capture_output=True, timeout=60
    )
    assert done.returncode == 1
    assert b"cannot write the output" in done.stderr
    assert b"Traceback" not in done.stderr + done.stdout


POOR = {
    "C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "dumb": {"TERM": "dumb", "NO_COLOR": "1"},
    "narrow": {"COLUMNS": "40"},
}


@pytest.mark.parametrize("terminal", POOR)
@pytest.mark.parametrize("arguments", [["agent.yaml", "go", "-vv"], ["explain", "agent.yaml"]], ids=["run", "explain"])
def test_a_poor_terminal_is_enough(tmp_path: Path, arguments: list[str], terminal: str) -> None:
    write(tmp_path, SCRIPTED)
    done = react_run(tmp_path, *arguments, **POOR[terminal])
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr


# -- signals ----------------------------------------------------------------------------------------------------------


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        command(*arguments),
        cwd=folder,
        env=environment(folder / "home"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline()  # the first event: the run is under way
    return process


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_run_within_a_second(tmp_path: Path, number: signal.Signals, status: int) -> None:
    tool = "{text: hello, tool_calls: [{name: calculate, arguments: {expression: '1+1'}}]}"
    write(tmp_path, f"model: {{kind: scripted, replies: [{tool}, {{delay: 30, text: late}}]}}\ntoolsets: [math]\n")
    process = started(tmp_path, "agent.yaml", "go", "--output-format", "stream-json")
    begun = time.monotonic()
    process.send_signal(number)
    _, stderr = process.communicate(timeout=60)
    assert time.monotonic() - begun < 10  # the model alone would take thirty seconds
    assert process.returncode == status
    assert "interrupted" in stderr
    assert "Traceback" not in stderr


HANGING = """\
import asyncio
import time

from react_run import Plugin, hookimpl


class Hanging(Plugin):
    \"\"\"Leaves a thread of asyncio's own executor behind.\"\"\"

    @hookimpl
    async def react_run_started(self, run):
        asyncio.get_running_loop().run_in_executor(None, time.sleep, 60)
"""


def test_a_hung_thread_does_not_keep_the_process(tmp_path: Path) -> None:
    write(tmp_path, HANGING, "hanging.py")
    write(tmp_path, ECHO + "plugins: [hanging:Hanging]\n")
    begun = time.monotonic()
    done = react_run(tmp_path, "agent.yaml", "go", "--trust")
    assert (done.returncode, done.stdout) == (0, "ok\n")
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize("module", ["click.core", "pydantic_core", "react_run.config", "react_run.agent"])
def test_a_signal_while_modules_are_imported_ends_quietly_too(tmp_path: Path, module: str) -> None:
    write(tmp_path, SLOW)
    interpreter, *rest = command("agent.yaml", "go")
    process = subprocess.Popen(
        [interpreter, "-X", "importtime", *rest],
        cwd=tmp_path,
        # An interrupted import leaves its open file to the interpreter, which warns about it.
        env=environment(tmp_path / "home", PYTHONWARNINGS="error,ignore::ResourceWarning"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    while line := process.stderr.readline():
        if line.split("|")[-1].strip() == module:
            process.send_signal(signal.SIGINT)
            break
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in stderr


# -- mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["chekc", "go"], "there is no file chekc. Did you mean the command 'check'?"),
        (["agent.yaml", "go", "--modle", "x"], "Did you mean '--model'?"),
        (["list", "toolset"], "toolsets"),
        (["agent.yaml", "go", "--set", "max_iterations"], "write KEY=VALUE"),
        (["agent.yaml", "go", "--set", "max_iteration=3"], "Did you mean 'max_iterations'?"),
        (["agent.yaml", "go", "--set", "max_iteration=3"], "--set max_iteration: unknown key"),
        (["agent.yaml", "go", "--max-cost", "-1"], "--max-cost: max_cost: must be at least 0"),
        (["agent.yaml", "go", "-m", "scripted"], "--model: model.replies: 'replies' is missing"),
        (["agent.yaml", "go", "-p", "cahce"], "-p cahce: unknown plugin"),
        (["agent.yaml", "go", "-p", "math"], "'math'. It is the name of a toolset."),
        (["agent.yaml", "go", "-p", "validate"], "-p validate: schemas: 'schemas' is missing"),
        (
            ["agent.yaml", "go", "-p", "{kind: retry, attempts: x}"],
            "attempts: must be a whole number (integer), not the",
        ),
        (["agent.yaml", "go", "-p", "no:cache"], "the file has no such plugin"),
        (["agent.yaml", "go", "--max-iterations", "0"], "--max-iterations: max_iterations: must be at least 1, not 0"),
        (["agent.yaml", "go", "--session", "../x"], "is not a valid session name"),
        (["agent.yaml", "go", "--session", ""], "is not a valid session name"),
        (["gone.yaml", "go"], "there is no file gone.yaml"),
        (["help"], "react-run --help lists the commands"),
        (["check", "empty"], "there is no agent file in empty"),
        (["."], "Is a directory"),
    ],
)
def test_a_mistake_on_the_command_line_is_explained(
    call: Call, tmp_path: Path, arguments: list[str], said: str
) -> None:
    write(tmp_path, SCRIPTED)
    (tmp_path / "empty").mkdir()
    status, out, err = call(*arguments, stdin="x")
    assert status == 2
    assert said in f"{out}{err}"


def test_control_characters_of_a_model_are_shown_on_stderr_and_never_sent(tmp_path: Path) -> None:
    write(tmp_path, SCRIPTED.replace("Let me see.", '"\\e]0;owned\\a see"'))
    done = react_run(tmp_path, "agent.yaml", "go", "-vv")
    assert "\x1b" not in done.stderr
    assert "\\x1b]0;owned" in done.stderr


LEAKY = """\
api_key: ${MY_API_KEY}
model:
  kind: scripted
  replies:
    - text: the key is ${MY_API_KEY}
      tool_calls: [{name: calculate, arguments: {expression: "1 + ${MY_API_KEY}"}}]
    - it is ${MY_API_KEY}!
toolsets: [math]
failure_handling: legacy
"""


def test_secrets_of_the_environment_never_come_out(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "sk-CANARY-0123456789"
    monkeypatch.setenv("MY_API_KEY", secret)
    write(tmp_path, LEAKY)
    for arguments in (["-vv"], ["--json"], ["--output-format", "stream-json"], ["--dry-run"]):
        _, out, err = call("agent.yaml", "go", *arguments)
        assert secret not in out + err
    assert call("agent.yaml", "go")[1] == "it is ***!\n"
    kept = [path for path in (tmp_path / "home").rglob("*") if path.is_file()]
    assert kept
    assert not any(secret.encode() in path.read_bytes() for path in kept)


def test_a_working_directory_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    agent = write(tmp_path, "model: offline\n")
    gone = tmp_path / "gone"
    gone.mkdir()
    removed = "import os, sys; os.chdir(sys.argv[1]); os.rmdir(sys.argv[1]); os.execv(sys.executable, sys.argv[2:])"
    done = subprocess.run(
        [sys.executable, "-c", removed, str(gone), *command(str(agent), "hi")],
        env=environment(tmp_path / "home"),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "react-run: the working directory no longer exists; change to another one\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_prompt_is_read_however_windows_pipes_it(tmp_path: Path, encoding: str) -> None:
    agent = write(tmp_path, SCRIPTED)
    done = subprocess.run(
        command(str(agent), "--json"),
        cwd=tmp_path,
        env=environment(tmp_path / "home"),
        input="Grüß Gott\r\n".encode(encoding),
        capture_output=True,
        check=True,
    )
    assert asked(done.stdout.decode()) == "Grüß Gott"


LOGGING = """\
from react_run import Plugin, hookimpl


class Loud(Plugin):
    @hookimpl
    def react_run_started(self, run):
        raise RuntimeError("not today")
"""


@pytest.mark.parametrize("words", [("agent.yaml", "go"), ("agent.yaml", "go", "--dry-run"), ("replay", "--last")])
def test_what_only_a_log_hears_is_a_warning_without_a_traceback(tmp_path: Path, words: tuple[str, ...]) -> None:
    write(tmp_path, f"{SCRIPTED}plugins: [{{kind: 'loud:Loud'}}]\n")
    write(tmp_path, LOGGING, "loud.py")
    react_run(tmp_path, "agent.yaml", "go", "--trust", "-q")
    done = react_run(tmp_path, *words, "--trust")
    assert done.returncode == 0
    assert "warning: plugin 'Loud' failed in event react_run_started: RuntimeError: not today\n" in done.stderr
    shown = subprocess.run(
        command("--debug", *words, "--trust"),
        cwd=tmp_path,
        env=environment(tmp_path / "home"),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert "Traceback" in shown.stderr
