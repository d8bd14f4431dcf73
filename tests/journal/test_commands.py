"""trace, replay, resume, runs, test and sessions, as their users call them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from react_run.cli.exit import ended
from react_run.journal.locate import find_run, run_files
from react_run.journal.reading import read_journal
from react_run.journal.sessions import Session

Call = Callable[..., tuple[int, str, str]]
AGENT = """\
name: sums
model:
  kind: scripted
  replies:
    - text: Let me see.
      tool_calls: [{name: calculate, arguments: {expression: "1/"}}]
      usage: {input_tokens: 100, output_tokens: 10, cost: 0.01}
    - tool_calls: [{name: calculate, arguments: {expression: "6*7"}}]
      usage: {input_tokens: 120, output_tokens: 10, cost: 0.01}
    - {text: The answer is 42., usage: {input_tokens: 150, output_tokens: 10, cost: 0.01}}
toolsets: [math]
"""


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Calls the command line in a directory of its own: status, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")

    def called(*arguments: str) -> tuple[int, str, str]:
        capsys.readouterr()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
        status = ended(list(arguments))
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return called


def cut(path: Path, lines: int) -> None:
    """Leave the first lines of a journal, as a crash would."""
    kept = path.read_bytes().splitlines(keepends=True)[:lines]
    path.write_bytes(b"".join(kept))


def test_trace_shows_thoughts_actions_results_and_what_they_cost(call: Call) -> None:
    assert call("agent.yaml", "what is 6*7?" + " please" * 30)[0] == 0
    status, out, err = call("trace", "--last")
    assert (status, err) == (0, "")
    for text in (
        "· sums · scripted ·",
        "├─ prompt what is 6*7?",
        "│  ├─ model call 1 · ",
        "110 tokens · $0.0100 · tool_calls",
        "thought Let me see.",
        '✓ calculate {"expression": "6*7"}',
        '✗ calculate {"expression": "1/"}',
        "│     ├─ ",
        "answer The answer is 42.",
        "3 iterations · 3 model calls · 2 tool calls · 400 tokens · $0.0300",
    ):
        assert text in out
    assert all(len(line) <= 160 for line in out.splitlines())
    assert len(max(call("trace", "--last", "--full")[1].splitlines(), key=len)) > 160


def test_a_run_is_named_by_the_beginning_of_its_id_by_its_file_or_as_the_last(call: Call, tmp_path: Path) -> None:
    for prompt in ("one", "two", "three"):
        call("agent.yaml", prompt)
    newest = read_journal(run_files()[0])
    assert newest.header["prompt"] == "three"
    for name in (newest.run_id, newest.run_id[:10], str(run_files()[0])):
        assert "prompt three" in call("trace", name)[1]
    assert call("trace", "")[0] == 2
    status, _, err = call("trace", "nothing")
    assert (status, "there is no run 'nothing'" in err) == (2, True)
    status, _, err = call("trace")
    assert (status, "or --last" in err) == (2, True)
    status, _, err = call("trace", newest.run_id[:10], "--last")
    assert status == 2
    twin = run_files()[0].with_name(f"{newest.run_id[:8]}{'0' * 24}.jsonl")
    twin.write_bytes(run_files()[0].read_bytes())
    status, _, err = call("trace", newest.run_id[:4])
    assert (status, "2 runs have ids that begin with" in err) == (2, True)


def test_without_any_runs_the_last_one_is_said_not_to_exist(call: Call) -> None:
    status, _, err = call("trace", "--last")
    assert (status, "there are no saved runs in" in err) == (2, True)
    assert call("runs", "list")[:2] == (0, "")


def test_trace_writes_records_a_page_and_a_trace_for_perfetto(call: Call, tmp_path: Path) -> None:
    call("agent.yaml", "go", "--record", "run.jsonl")
    status, out, _ = call("trace", "run.jsonl", "--json")
    records = [json.loads(line) for line in out.splitlines()]
    assert (status, records) == (0, [*read_journal("run.jsonl").records])
    assert call("trace", "run.jsonl", "--html", "run.html", "--chrome-trace", "run.json")[0] == 0
    assert (tmp_path / "run.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    events = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))["traceEvents"]
    spans = [event for event in events if event["ph"] == "X"]
    assert [span["name"] for span in spans if span["cat"] == "tool"] == ["calculate", "calculate"]
    assert all(isinstance(span["ts"], int) and span["dur"] >= 1 for span in spans)
    iterations = [span for span in spans if span["cat"] == "iteration"]
    for span in spans:
        assert any(r["ts"] - 1 <= span["ts"] and span["ts"] + span["dur"] <= r["ts"] + r["dur"] + 2 for r in iterations)


def test_replay_says_identical_or_shows_the_first_difference_with_status_6(call: Call, tmp_path: Path) -> None:
    call("agent.yaml", "go", "--max-iterations", "5")
    for options in ((), ("--tools", "recorded"), ("--tools", "live")):
        assert call("replay", "--last", *options) == (0, "identical: 3 iterations, 3 model calls, 2 tool calls\n", "")
    (tmp_path / "agent.yaml").write_text(AGENT + "system_prompt: Be brief.\n", encoding="utf-8")
    status, out, err = call("replay", "--last")
    assert (status, out) == (6, "")
    assert "iteration 1: message 1 of the request of model call 1 differs from the recording" in err
    (tmp_path / "other.yaml").write_text(AGENT, encoding="utf-8")
    assert call("replay", "--last", "--agent", "other.yaml")[0] == 0


def test_a_run_can_take_its_replies_from_a_recording(call: Call, tmp_path: Path) -> None:
    call("agent.yaml", "go", "--record", "run.jsonl")
    (tmp_path / "agent.yaml").write_text(AGENT.replace("42", "43"), encoding="utf-8")
    assert call("agent.yaml", "go", "--replay", "run.jsonl")[:2] == (0, "The answer is 42.\n")
    status, _, err = call("agent.yaml", "something else", "--replay", "run.jsonl")
    assert (status, 'expected: {"role":"user","content":"go"}' in err) == (6, True)


def test_resume_goes_on_and_says_what_has_changed(call: Call, tmp_path: Path) -> None:
    call("agent.yaml", "what is 6*7?", "-q")
    path = find_run(None)
    cut(path, 8)
    (tmp_path / "agent.yaml").write_text(AGENT + "max_iterations: 7\n", encoding="utf-8")
    status, out, err = call("resume", "--last")
    assert (status, out) == (2, "")
    assert "the agent has changed since" in err
    assert "max_iterations: now 7" in err
    status, out, err = call("resume", "--last", "--force")
    assert (status, out) == (0, "The answer is 42.\n")
    assert "changed: max_iterations: now 7" in err
    assert read_journal(path).resumed
    status, _, err = call("resume", "--last")
    assert (status, "had already ended: this is its recorded answer" in err) == (0, True)


def test_a_run_of_another_directory_is_resumed_and_replayed_there(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("agent.yaml", "go")
    cut(find_run(None), 8)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert call("resume", "--last")[:2] == (0, "The answer is 42.\n")
    assert Path.cwd() == tmp_path
    monkeypatch.chdir(elsewhere)
    assert call("replay", "--last")[0] == 0


def test_a_run_from_python_needs_an_agent_file_to_be_replayed(call: Call, tmp_path: Path) -> None:
    from tests.journal.recording import agent_of

    agent_of(journal=tmp_path / "run.jsonl").run_sync("go")
    status, _, err = call("replay", "run.jsonl")
    assert (status, "name one that builds the same agent (--agent)" in err) == (2, True)


def test_runs_are_listed_shown_exported_and_removed(call: Call, tmp_path: Path) -> None:
    for prompt in ("one", "two", "three"):
        call("agent.yaml", prompt, "--session", "talk")
    listed = json.loads(call("runs", "list", "--json")[1])
    assert [(run["prompt"], run["status"], run["tokens"], run["session"]) for run in listed] == [
        (prompt, "completed", 400, "talk") for prompt in ("three", "two", "one")
    ]
    assert [line.split()[0] for line in call("runs", "list", "-n", "2")[1].splitlines()] == [
        run["run_id"][:12] for run in listed[:2]
    ]
    assert call("runs", "list", "--session", "other")[1] == ""
    shown = call("runs", "show", listed[1]["run_id"][:12])[1]
    assert "prompt     two" in shown
    assert "tools      calculate 2 (1 failed, " in shown
    assert json.loads(call("runs", "show", "--last", "--json")[1])["answer"] == "The answer is 42."
    call("runs", "export", "--last", "-o", "run.md")
    markdown = (tmp_path / "run.md").read_text(encoding="utf-8")
    assert markdown.startswith("# sums: three\n")
    assert '"expression": "6*7"' in markdown
    exported = json.loads(call("runs", "export", "--last", "--format", "json")[1])
    assert [message["role"] for message in exported["messages"]][-5:] == [
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
    ]
    assert call("runs", "export", "--last", "--format", "html")[1].startswith("<!doctype html>")
    assert call("runs", "rm", listed[1]["run_id"])[1] == "removed 1 run\n"
    assert len(run_files()) == 2
    assert call("runs", "rm", "--older-than", "1h")[1] == "removed 0 runs\n"
    assert call("runs", "rm", "--keep", "1")[1] == "removed 1 run\n"
    assert [read_journal(path).header["prompt"] for path in run_files()] == ["three"]
    assert call("runs", "rm", "--all")[1] == "removed 1 run\n"
    assert call("runs", "rm")[0] == 2
    assert call("runs", "rm", "--older-than", "soon")[0] == 2


def test_rm_rejects_negative_keep_and_oversized_age(call: Call) -> None:
    call("agent.yaml", "go")
    assert call("runs", "rm", "--keep", "-1")[0] == 2
    assert call("runs", "list", "-n", "-1")[0] == 2
    for age in ("99999999999d", "9" * 25 + "d", "9" * 400 + "w", "9" * 5000 + "d"):
        assert call("runs", "rm", "--older-than", age)[0] == 2
    assert len(run_files()) == 1


def test_removing_a_run_removes_what_it_saved(call: Call, tmp_path: Path) -> None:
    call("agent.yaml", "go")
    run_id = read_journal(find_run(None)).run_id
    saved = tmp_path / ".react-run" / "runs" / run_id / "spill"
    saved.mkdir(parents=True)
    (saved / "1-x.txt").write_text("long", encoding="utf-8")
    call("runs", "rm", "--last")
    assert not saved.exists()


def test_a_run_that_goes_on_is_listed_as_running_and_not_removed(call: Call, tmp_path: Path) -> None:
    (tmp_path / "slow.yaml").write_text(
        "model: {kind: scripted, replies: [{delay: 30, text: late}]}\n", encoding="utf-8"
    )
    program = [sys.executable, "-m", "react_run", "slow.yaml", "go"]
    with subprocess.Popen(program, cwd=tmp_path, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 30
        while not any(b"model_request" in path.read_bytes() for path in run_files()):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert json.loads(call("runs", "list", "--json")[1])[0]["status"] == "running"
        status, _, err = call("runs", "rm", "--last")
        assert (status, "is still running: stop it first" in err) == (1, True)
        assert call("runs", "rm", "--all")[1] == "removed 0 runs\n"
        process.kill()
    assert json.loads(call("runs", "list", "--json")[1])[0]["status"] == "unfinished"


def test_two_processes_in_one_conversation_take_turns(call: Call, tmp_path: Path) -> None:
    (tmp_path / "slow.yaml").write_text(
        "model: {kind: scripted, replies: [{delay: 0.6, text: done}]}\n", encoding="utf-8"
    )
    command = [sys.executable, "-m", "react_run", "slow.yaml", "--session", "talk"]
    started = time.monotonic()
    several = [
        subprocess.Popen(
            [*command, f"prompt {number}"], cwd=tmp_path, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        for number in range(3)
    ]
    said = [process.communicate(timeout=60)[1] for process in several]
    assert time.monotonic() - started > 3 * 0.6
    assert sum("waiting for another process to finish its turn of this conversation" in text for text in said) >= 1
    messages = Session.named("talk").read()
    users = [message.text for message in messages if message.role == "user"]
    assert sorted(users) == ["prompt 0", "prompt 1", "prompt 2"]
    assert [message.role for message in messages if message.role != "system"] == ["user", "assistant"] * 3


def test_waiting_for_a_conversation_is_said_once_and_ends_with_the_other_turn(tmp_path: Path) -> None:
    session = Session(tmp_path / "sessions" / "talk.json")
    order: list[str] = []
    waits = threading.Event()

    def say_waiting() -> None:
        order.append("waits")
        waits.set()

    def other() -> None:
        with session.turn(say_waiting):
            order.append("second")

    with session.turn(lambda: order.append("never")):
        thread = threading.Thread(target=other)
        thread.start()
        assert waits.wait(10)
        order.append("first")
    thread.join(60)
    assert order == ["waits", "first", "second"]


def test_a_resumed_turn_is_added_to_its_conversation_unless_that_has_gone_on(call: Call) -> None:
    def users() -> list[str]:
        return [message.text for message in Session.named("talk").read() if message.role == "user"]

    call("agent.yaml", "one", "--session", "talk")
    call("agent.yaml", "two", "--session", "talk")
    second = find_run(None)
    before = Session.named("talk").path.read_bytes()
    cut(second, 8)
    assert users() == ["one", "two"]
    status, _, err = call("resume", str(second))
    assert (status, "has continued since: this turn is not added" in err) == (0, True)
    assert Session.named("talk").path.read_bytes() == before


CASES = """\
cases:
  - name: scripted
    prompt: 6*7
    replies: [{tool_calls: [{name: calculate, arguments: {expression: "6*7"}}]}, "42"]
    answer: "42"
    contains: ["4", "2"]
    matches: "^4"
    tools: [calculate]
    stop_reason: completed
    max_iterations: 2
  - name: recorded
    recording: run.jsonl
    recorded_tools: true
  - name: its own replies
    prompt: 6*7
    contains: "42"
    success: true
"""


TRUSTED = """\
model: {kind: scripted, replies: [{tool_calls: [{name: mark, arguments: {}}]}, done]}
toolsets: [{kind: functions, path: marks.py}]
"""
MARKS = """\
from pathlib import Path

Path(__file__).with_name("loaded").touch()


def mark() -> str:
    '''Leave a mark.'''
    return "left"
"""


@pytest.mark.parametrize("command", ["replay", "resume"])
def test_only_a_journal_of_our_own_says_that_its_agent_was_trusted(call: Call, tmp_path: Path, command: str) -> None:
    (tmp_path / "agent.yaml").write_text(TRUSTED, encoding="utf-8")
    (tmp_path / "marks.py").write_text(MARKS, encoding="utf-8")
    assert call("agent.yaml", "go", "--trust")[0] == 0
    (kept,) = run_files()
    foreign = tmp_path / "foreign.jsonl"
    foreign.write_bytes(kept.read_bytes())
    for journal in (kept, foreign) if command == "resume" else ():
        cut(journal, 4)
    (tmp_path / "loaded").unlink()
    status, _, err = call(command, "foreign.jsonl")
    assert (status, "only in a trusted directory" in err) == (2, True)
    other = call(command, str(kept), "--agent", "agent.yaml")
    assert (other[0], "only in a trusted directory" in other[2]) == (2, True)
    assert not (tmp_path / "loaded").exists()
    assert call(command, str(kept))[0] == 0


@pytest.mark.parametrize("command", ["replay", "resume"])
def test_a_journal_of_somebody_else_drives_no_trusted_agent_and_changes_none(
    call: Call, tmp_path: Path, command: str
) -> None:
    (tmp_path / "agent.yaml").write_text(TRUSTED, encoding="utf-8")
    (tmp_path / "marks.py").write_text(MARKS, encoding="utf-8")
    call("trust", ".")
    assert call("agent.yaml", "go", "--record", "foreign.jsonl", "--no-save")[0] == 0
    foreign = tmp_path / "foreign.jsonl"
    header, *records = map(json.loads, foreign.read_text(encoding="utf-8").splitlines())
    (tmp_path / "loaded").unlink()
    status, _, err = call(command, "foreign.jsonl")
    assert (status, "only in a trusted directory" in err) == (2, True)
    changes: list[dict[str, object]] = [
        {"sets": ["toolsets=[{kind: functions, path: marks.py}]"]},
        {"plugins": ["{kind: python_sensor, function: 'marks:mark'}"]},
        {"model": "{kind: marks.Model}"},
        {"overrides": {"toolsets": [{"kind": "functions", "path": "marks.py"}]}},
        {"env_file": "marks.py"},
    ]
    for changed in changes:
        header["options"] = {"file": str(tmp_path / "agent.yaml"), **changed}
        foreign.write_text("".join(json.dumps(record) + "\n" for record in (header, *records[:3])), encoding="utf-8")
        status, _, err = call(command, "foreign.jsonl")
        assert (status, "it changes the agent" in err, "--trust" in err) == (2, True, True)
    assert not (tmp_path / "loaded").exists()


def test_cases_that_nobody_trusts_drive_no_trusted_agent(call: Call, tmp_path: Path) -> None:
    for name, content in (("agent.yaml", TRUSTED), ("marks.py", MARKS)):
        (tmp_path / "agents").mkdir(exist_ok=True)
        (tmp_path / "agents" / name).write_text(content, encoding="utf-8")
    (tmp_path / "cases.yaml").write_text("cases: [{name: a, prompt: go, answer: done}]\n", encoding="utf-8")
    call("trust", "agents")
    status, _, err = call("test", "agents/agent.yaml", "cases.yaml")
    assert (status, "only in a trusted directory" in err) == (2, True)
    assert not (tmp_path / "agents" / "loaded").exists()
    assert call("test", "agents/agent.yaml", "cases.yaml", "--trust")[0] == 0
    (tmp_path / "cases.yaml").rename(tmp_path / "agents" / "cases.yaml")
    assert call("test", "agents/agent.yaml", "agents/cases.yaml")[0] == 0


def test_cases_pass_or_fail_each_with_its_reasons(call: Call, tmp_path: Path) -> None:
    call("agent.yaml", "go", "--record", "run.jsonl")
    (tmp_path / "cases.yaml").write_text(CASES, encoding="utf-8")
    status, out, _ = call("test", "agent.yaml", "cases.yaml")
    assert (status, out.splitlines()) == (0, ["✓ scripted", "✓ recorded", "✓ its own replies", "3 passed, 0 failed"])
    failing = CASES.replace('answer: "42"', 'answer: "43"').replace("max_iterations: 2", "max_iterations: 1")
    (tmp_path / "cases.yaml").write_text(failing, encoding="utf-8")
    (tmp_path / "agent.yaml").write_text(AGENT + "system_prompt: Be brief.\n", encoding="utf-8")
    status, out, _ = call("test", "agent.yaml", "cases.yaml", "--junit", "out.xml", "--json")
    assert status == 1
    report = json.loads(out)
    assert [case["passed"] for case in report["cases"]] == [False, False, True]
    assert report["cases"][0]["problems"] == [
        "answer: expected '43', got '42'",
        "max_iterations: expected at most 1, got 2",
    ]
    assert "ReplayMismatch: iteration 1: message 1" in report["cases"][1]["problems"][0]
    suite = ElementTree.parse(tmp_path / "out.xml").getroot()
    assert (suite.tag, suite.get("tests"), suite.get("failures")) == ("testsuite", "3", "2")
    assert [len(case.findall("failure")) for case in suite] == [1, 1, 0]
    assert call("test", "agent.yaml", "cases.yaml", "-k", "own")[1].endswith("1 passed, 0 failed\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("cases: []\n", "cases.yaml:1:8: cases"),
        ("cases:\n  - {name: x, promt: y}\n", "Did you mean 'prompt'?"),
        ("cases:\n  - {name: x}\n", "'prompt' is missing"),
        ("cases:\n  - {name: x, prompt: a}\n  - {name: x, prompt: b}\n", "two cases are called 'x'"),
        ("cases:\n  - {name: x, prompt: a, matches: '('}\n", "cases[0].matches: this is not a regular expression"),
        ("cases:\n  - {name: x, recording: r.jsonl, prompt: a}\n", "leave them out"),
        (
            "cases:\n  - {name: x, prompt: a, replies: [a, 5]}\n",
            "cases[0].replies: reply 2: a reply is text or a mapping",
        ),
        ("cases:\n  - {name: x, prompt: a, replies: [{txet: a}]}\n", "cases[0].replies: reply 1: unknown key 'txet'"),
        ("cases:\n  - {name: x, prompt: a, replies: []}\n", "must have at least one reply"),
        ("- name: x\n", "cases.yaml:1:1"),
        ("cases: [\n", "cases.yaml:2:1"),
    ],
)
def test_what_is_wrong_with_cases_is_said_with_its_position(call: Call, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "cases.yaml").write_text(text, encoding="utf-8")
    status, _, err = call("test", "agent.yaml", "cases.yaml")
    assert status == 2
    assert said in err


def test_a_case_that_would_need_the_network_is_refused_before_anything_runs(call: Call, tmp_path: Path) -> None:
    (tmp_path / "cases.yaml").write_text("cases:\n  - {name: far, prompt: hello}\n", encoding="utf-8")
    status, out, err = call("test", "agent.yaml", "cases.yaml", "-m", "openai/gpt-4o-mini", "--set", "api_key=none")
    assert (status, out) == (2, "")
    assert "far: it would call" in err
