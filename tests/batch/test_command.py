"""``react-run batch``, as its users call it."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.batch.batch_agents import lines_of

from react_run.batch.home import Home, network_file_system
from react_run.cli.exit import ended

Call = Callable[..., tuple[int, str, str]]
AGENT = """\
name: sums
model:
  kind: scripted
  replies:
    - tool_calls: [{name: calculate, arguments: {expression: "6*7"}}]
      usage: {input_tokens: 120, output_tokens: 10, cost: 0.01}
    - {text: "42", usage: {input_tokens: 150, output_tokens: 10, cost: 0.01}}
toolsets: [math]
"""
SLOW = AGENT.replace('- {text: "42"', '- {text: "42", delay: 0.3')


@pytest.fixture
def call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Calls the command line in a directory with an agent and five rows: status, standard output, standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))
    (tmp_path / "agent.yaml").write_text(AGENT, encoding="utf-8")
    write_rows(tmp_path / "rows.jsonl", 5)

    def called(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        capsys.readouterr()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = ended(list(arguments))
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return status, out, err

    return called


def write_rows(path: Path, number: int) -> None:
    path.write_text("".join(f'"row {index}"\n' for index in range(number)), encoding="utf-8")


def test_a_batch_writes_a_line_per_row_and_sums_up(call: Call, tmp_path: Path) -> None:
    status, out, err = call("batch", "agent.yaml", "rows.jsonl", "-o", "out.jsonl")
    assert (status, out) == (0, "")
    assert "5 rows: 5 ok, 0 unsuccessful, 0 failed · $0.1000" in err
    lines = lines_of(tmp_path / "out.jsonl")
    assert [(line["index"], line["status"], line["answer"]) for line in lines] == [(n, "ok", "42") for n in range(5)]
    keys = "index id status answer value stop_reason usage cost seconds attempts run_id error"
    assert list(lines[0]) == keys.split()


def test_the_same_command_again_writes_nothing_twice_and_adds_new_rows(call: Call, tmp_path: Path) -> None:
    call("batch", "agent.yaml", "rows.jsonl", "-o", "out.jsonl")
    before = (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    write_rows(tmp_path / "rows.jsonl", 7)
    assert call("batch", "agent.yaml", "rows.jsonl", "-o", "out.jsonl")[0] == 0
    after = (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    assert after.startswith(before)
    assert [line["index"] for line in lines_of(tmp_path / "out.jsonl")] == list(range(7))


@pytest.mark.parametrize("options", [[], ["--unordered"]])
def test_a_torn_or_shortened_output_is_made_whole(call: Call, tmp_path: Path, options: list[str]) -> None:
    command = ["batch", "agent.yaml", "rows.jsonl", "-o", "out.jsonl", *options]
    call(*command)
    out = tmp_path / "out.jsonl"
    whole = out.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        out.write_bytes(whole[:size])
        assert call(*command)[0] == 0
        assert sorted(out.read_bytes().splitlines()) == sorted(whole.splitlines())


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda folder: (folder / "rows.jsonl").write_text('"x"\n' * 5), "rows.jsonl:1: row 1 is not what it was"),
        (lambda folder: write_rows(folder / "rows.jsonl", 3), "the input has 3 rows, but the batch was started with 5"),
        (lambda folder: (folder / "agent.yaml").write_text(f"max_iterations: 3\n{AGENT}"), "max_iterations: now 3"),
        (lambda folder: (folder / "out.jsonl").write_text("mine\n"), "out.jsonl:1: this line is not what the batch"),
    ],
)
def test_what_has_changed_is_named_and_fresh_starts_anew(
    call: Call, tmp_path: Path, change: Callable[[Path], object], problem: str
) -> None:
    command = ["batch", "agent.yaml", "rows.jsonl", "-o", "out.jsonl"]
    call(*command)
    change(tmp_path)
    status, _, err = call(*command)
    assert status == 2
    assert problem in err
    assert "--fresh" in err
    assert call(*command, "--fresh")[0] == 0
    assert {line["status"] for line in lines_of(tmp_path / "out.jsonl")} == {"ok"}


def test_a_file_that_no_batch_wrote_is_left_alone(call: Call, tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_text("precious\n", encoding="utf-8")
    status, _, err = call("batch", "agent.yaml", "rows.jsonl", "-o", "out.jsonl")
    assert (status, (tmp_path / "out.jsonl").read_text(encoding="utf-8")) == (2, "precious\n")
    assert "no batch saved here wrote it" in err


def test_bad_rows_are_lines_and_only_bad_rows_are_an_error(call: Call, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('"one"\n{broken\n', encoding="utf-8")
    assert call("batch", "agent.yaml", "rows.jsonl", "-o", "out.jsonl")[0] == 1
    assert lines_of(tmp_path / "out.jsonl")[1]["error"].startswith("rows.jsonl:2: is not JSON")
    (tmp_path / "bad.jsonl").write_text("{broken\n", encoding="utf-8")
    status, _, err = call("batch", "agent.yaml", "bad.jsonl", "-o", "bad.out")
    assert (status, "bad.jsonl:1: is not JSON" in err) == (2, True)


def test_why_rows_failed_is_said_where_the_output_is_a_file(call: Call, tmp_path: Path) -> None:
    failing = "model: {kind: scripted, replies: [{error: {message: no such key, status: 401}}]}\n"
    (tmp_path / "agent.yaml").write_text(failing, encoding="utf-8")
    status, out, err = call("batch", "agent.yaml", "rows.jsonl", "-o", "out.jsonl")
    assert (status, out) == (1, "")
    assert "5 rows: 0 ok, 0 unsuccessful, 5 failed" in err
    assert "\n  5 failed: ModelError: no such key\n" in err
    assert "no such key" not in call("batch", "agent.yaml", "rows.jsonl", "-o", "out2.jsonl", "-q")[2]


def test_an_agent_without_a_key_for_its_model_begins_no_row(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    command = ["batch", "agent.yaml", "rows.jsonl", "-o", "out.jsonl"]
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    keyless = "model: {kind: openai, model: gpt-5-mini}\n"
    (tmp_path / "agent.yaml").write_text(keyless, encoding="utf-8")
    for arguments in (command, ["worker", "agent.yaml", "--once"]):
        status, _, err = call(*arguments)
        assert (status, "no key for gpt-5-mini: set OPENAI_API_KEY" in err) == (2, True), err
    assert not (tmp_path / "out.jsonl").exists()
    assert "no batches so far" in call("batch", "status")[2]
    other = "fallback_models: [{kind: scripted, replies: [{text: fine}]}]\n"
    (tmp_path / "agent.yaml").write_text(keyless + other, encoding="utf-8")
    assert call(*command)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["agent.yaml"], "name the INPUTS"),
        (["none.yaml", "rows.jsonl"], "there is no file none.yaml"),
        (["agent.yaml", "none.jsonl"], "cannot read none.jsonl"),
        (["agent.yaml", "rows.jsonl", "-o", "no/where.jsonl"], "cannot write no/where.jsonl"),
        (["agent.yaml", "rows.jsonl", "--rate", "fast"], "is not a rate"),
        (["agent.yaml", "rows.jsonl", "-j", "0"], "0 is not in the range"),
        (["agent.yaml", "rows.jsonl", "--engine", "redis://x"], "--engine redis://x"),
        (["agent.yaml", "--resume", "nothing"], ": none so far"),
        (["agent.yaml", "rows.jsonl", "--name", "../x"], "cannot name a batch"),
    ],
)
def test_wrong_use_is_told_with_a_way_out(call: Call, arguments: list[str], problem: str) -> None:
    status, _, err = call("batch", *arguments)
    assert status == 2
    assert problem in err


def test_standard_output_and_input_go_on_by_the_batch_s_name(call: Call) -> None:
    status, out, err = call("batch", "agent.yaml", "-", stdin=b'"one"\n"two"\n')
    assert (status, len(out.splitlines())) == (0, 2)
    name = next(line.split()[1] for line in err.splitlines() if line.startswith("batch "))
    again = call("batch", "agent.yaml", "--resume", name)
    assert (again[0], again[1]) == (0, out)


def test_csv_with_a_template_is_a_batch(call: Call, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("id,text\nfirst,6*7\n", encoding="utf-8")
    status, out, _ = call("batch", "agent.yaml", "rows.csv", "--prompt", "What is {text}?")
    assert (status, json.loads(out)["id"]) == (0, "first")


def test_status_results_and_stop_find_a_batch_by_the_file_it_writes(call: Call) -> None:
    call("batch", "agent.yaml", "rows.jsonl", "-o", "out.jsonl")
    data = json.loads(call("batch", "status", "out.jsonl", "--json")[1])
    assert (data["state"], data["rows"], data["ok"], data["cost"]) == ("finished", 5, 5, 0.1)
    assert data["batch"] in call("batch", "status")[1]
    assert len(call("batch", "results", "out", "--status", "ok")[1].splitlines()) == 5
    assert call("batch", "results", "out", "--status", "error")[1] == ""
    assert call("batch", "stop", "out.jsonl")[0] == 0
    assert "there is no batch 'x'" in call("batch", "status", "x")[2]


def test_a_place_where_no_batch_can_be_kept_is_wrong_use(call: Call, tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file, where the directory should be", encoding="utf-8")
    status, out, err = call("batch", "agent.yaml", "rows.jsonl", "-o", "out.jsonl")
    assert (status, out) == (2, "")
    assert "the batch cannot be saved in " in err
    assert "REACT_RUN_HOME sets another directory" in err


def test_a_damaged_batch_does_not_hide_the_others(call: Call, tmp_path: Path) -> None:
    call("batch", "agent.yaml", "rows.jsonl", "-o", "out.jsonl")
    home = Home.named("torn").directory
    home.mkdir(parents=True)
    (home / "queue.db").write_bytes(b"this is no database at all" * 100)
    status, out, err = call("batch", "status")
    assert (status, "finished" in out, "torn" in out) == (0, True, False)
    assert "batch torn is damaged: " in err
    assert f"to discard it, remove {home}" in err


def test_a_row_s_run_can_be_looked_at_and_replayed(call: Call, tmp_path: Path) -> None:
    call("batch", "agent.yaml", "rows.jsonl", "-o", "out.jsonl")
    run_id = lines_of(tmp_path / "out.jsonl")[0]["run_id"]
    assert "calculate" in call("trace", run_id[:10])[1]
    assert call("replay", run_id)[0] == 0


def test_limit_takes_the_first_rows_and_the_rest_later(call: Call, tmp_path: Path) -> None:
    command = ["batch", "agent.yaml", "rows.jsonl", "-o", "out.jsonl"]
    assert call(*command, "--limit", "2")[0] == 0
    assert len(lines_of(tmp_path / "out.jsonl")) == 2
    assert call(*command)[0] == 0
    assert len(lines_of(tmp_path / "out.jsonl")) == 5


def test_the_limit_of_cost_ends_with_5_and_the_next_command_goes_on(call: Call, tmp_path: Path) -> None:
    command = ["batch", "agent.yaml", "rows.jsonl", "-o", "out.jsonl", "-j", "1"]
    status, _, err = call(*command, "--max-cost", "0.03")
    assert status == 5
    assert "the same command continues the batch" in err
    assert len(lines_of(tmp_path / "out.jsonl")) == 2
    assert call(*command)[0] == 0
    assert len(lines_of(tmp_path / "out.jsonl")) == 5


def test_retried_errors_get_new_lines_in_their_places(call: Call, tmp_path: Path) -> None:
    failing = AGENT.replace('- {text: "42"', '- {error: {status: 400, message: "no"}}\n    - {text: "42"')
    (tmp_path / "agent.yaml").write_text(failing, encoding="utf-8")
    command = ["batch", "agent.yaml", "rows.jsonl", "-o", "out.jsonl"]
    assert call(*command)[0] in (1, 3)
    assert {line["status"] for line in lines_of(tmp_path / "out.jsonl")} == {"error"}
    assert call(*command, "--retry-errors")[0] in (1, 3)
    assert [line["attempts"] for line in lines_of(tmp_path / "out.jsonl")] == [2] * 5


PATIENCE = 300
"""Seconds that a process may take on a busy machine."""


@contextmanager
def started(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A command in a process of its own; whatever happens in the block, neither it nor its pipes outlive it."""
    with subprocess.Popen(
        [sys.executable, "-m", "react_run", *arguments],
        cwd=folder,
        env={**os.environ, "REACT_RUN_HOME": str(folder / "home")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def until(condition: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Wait until ``condition`` holds; ``process`` works towards it."""
    give_up = time.monotonic() + PATIENCE
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < give_up
        time.sleep(0.02)


@pytest.mark.slow
def test_ctrl_c_lets_rows_end_and_the_same_command_goes_on(call: Call, tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(SLOW, encoding="utf-8")
    write_rows(tmp_path / "rows.jsonl", 30)
    command = ["batch", "agent.yaml", "rows.jsonl", "-o", "out.jsonl", "-j", "2"]
    out = tmp_path / "out.jsonl"
    with started(tmp_path, *command) as process:
        until(lambda: out.exists() and out.read_bytes().count(b"\n") >= 2, process)
        status, _, err = call(*command)
        assert (status, f"process {process.pid} on" in err) == (2, True)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, said.decode()
    assert b"the same command continues the batch" in said
    assert {line["attempts"] for line in lines_of(out)} == {1}
    assert call(*command, "-j", "30")[0] == 0
    assert [(line["index"], line["attempts"]) for line in lines_of(out)] == [(n, 1) for n in range(30)]


@pytest.mark.slow
def test_a_worker_helps_with_the_rows_of_a_batch(call: Call, tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(SLOW, encoding="utf-8")
    write_rows(tmp_path / "rows.jsonl", 60)
    out = tmp_path / "out.jsonl"
    with started(tmp_path, "batch", "agent.yaml", "rows.jsonl", "-o", "out.jsonl", "-j", "1") as batch:
        until(lambda: out.exists() and out.stat().st_size > 0, batch)
        with started(tmp_path, "worker", "agent.yaml", "-j", "20") as worker:
            _, said = batch.communicate(timeout=PATIENCE)
            assert batch.returncode == 0, said.decode()
            worker.send_signal(signal.SIGTERM)
            worker.communicate(timeout=PATIENCE)
    assert {line["status"] for line in lines_of(out)} == {"ok"}


@pytest.mark.slow
def test_a_stopped_batch_ends_with_rows_left_to_do(call: Call, tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(SLOW, encoding="utf-8")
    write_rows(tmp_path / "rows.jsonl", 2_000)
    out = tmp_path / "out.jsonl"
    with started(tmp_path, "batch", "agent.yaml", "rows.jsonl", "-o", "out.jsonl", "-j", "2") as batch:
        until(lambda: out.exists() and out.stat().st_size > 0, batch)
        assert call("batch", "stop", "out.jsonl")[0] == 0
        _, said = batch.communicate(timeout=PATIENCE)
    assert (batch.returncode, b"rows are left" in said) == (1, True)


@pytest.mark.slow
def test_a_reader_that_leaves_ends_the_batch_in_silence(call: Call, tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl", 2_000)
    with started(tmp_path, "batch", "agent.yaml", "rows.jsonl", "-q") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b'{"index":0')
        process.stdout.close()
        assert (process.wait(timeout=PATIENCE), process.stderr.read()) == (0, b"")


def test_an_output_that_breaks_ends_the_batch_before_the_loop(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left to the end of the event loop is cancelled there, in the middle of giving its rows back."""
    ended_first: list[bool] = []

    def write(output: object, results: object) -> None:
        raise BrokenPipeError

    close = asyncio.Runner.close

    def closed(runner: asyncio.Runner) -> None:
        ended_first.append(not asyncio.all_tasks(runner.get_loop()))
        close(runner)

    monkeypatch.setattr("react_run.cli.batch_run.StandardOutput.write", write)
    monkeypatch.setattr(asyncio.Runner, "close", closed)
    monkeypatch.setattr("react_run.cli.exit._to_nowhere", lambda stream: None)
    assert call("batch", "agent.yaml", "rows.jsonl", "-q") == (0, "", "")
    assert ended_first == [True]


def test_network_file_systems_are_refused(tmp_path: Path) -> None:
    mounts = tmp_path / "mountinfo"
    lines = "1 0 8:1 / / rw - ext4 /dev/a rw\n2 1 0:5 / /mnt/my\\040share rw shared:1 - nfs4 host:/x rw\n"
    mounts.write_text(lines, encoding="utf-8")
    assert network_file_system(Path("/mnt/my share/react"), mounts) == "nfs4"
    assert network_file_system(Path("/home/x"), mounts) is None
    assert network_file_system(tmp_path, tmp_path / "none") is None


def test_a_refused_file_system_names_the_way_out(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("react_run.batch.home.network_file_system", lambda path: "nfs4")
    status, _, err = call("batch", "agent.yaml", "rows.jsonl", "-o", "out.jsonl")
    assert (status, "network file system (nfs4)" in err, "postgres" in err) == (2, True, True)
    assert Home(tmp_path).exists is False
