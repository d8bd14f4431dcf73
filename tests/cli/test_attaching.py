"""Files that go with a prompt on the command line, and what is said about those that cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.command_line import Call, react_run, write
from tests.pictures import pdf, png

from react_run import read_journal
from react_run.cli import attaching
from react_run.cli.attaching import with_mentioned
from react_run.journal.locate import run_files

ROOT = Path(__file__).parents[2]
SEEING = 'model: {kind: scripted, reads: ["image/*"], replies: [A dot.]}\n'
BLIND = "model: {kind: scripted, replies: [I cannot see it.]}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, SEEING)
    (tmp_path / "dot.png").write_bytes(png())
    (tmp_path / "page.pdf").write_bytes(pdf())
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    return tmp_path


def test_files_go_along_with_a_prompt(call: Call, folder: Path) -> None:
    status, out, err = call("agent.yaml", "What is it?", "--attach", "dot.png", "--attach", "rows.csv")
    assert (status, out) == (0, "A dot.\n"), err
    (path,) = run_files()
    asked = read_journal(path).prompt
    assert [getattr(part, "name", part) for part in asked] == ["What is it?", "dot.png", "rows.csv"]


def test_a_recorded_run_with_a_file_replays(call: Call, folder: Path) -> None:
    assert call("agent.yaml", "What is it?", "--attach", "dot.png", "--record", "run.jsonl")[0] == 0
    status, out, err = call("replay", "run.jsonl")
    assert (status, out.partition(":")[0]) == (0, "identical"), err


def test_the_conversation_remembers_the_file(call: Call, folder: Path) -> None:
    assert call("agent.yaml", "What is it?", "--attach", "dot.png")[0] == 0
    assert call("agent.yaml", "-c", "And now?")[0] == 0
    second = max(map(read_journal, run_files()), key=lambda journal: journal.header["time"])
    assert [part.media_type for part in second.incoming[1].content[1:]] == ["image/png"]  # type: ignore[union-attr]


def test_a_blind_model_is_told_and_so_is_the_user(folder: Path) -> None:
    write(folder, BLIND)
    done = react_run(folder, "agent.yaml", "What is it?", "--attach", "dot.png")
    assert done.returncode == 0
    assert "scripted does not read image/png: it is told of dot.png (image/png," in done.stderr


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("dott.png", None, "--attach dott.png: there is no such file. Did you mean 'dot.png'?"),
        (
            "photo.png",
            b"PK\x03\x04\x00",
            "--attach photo.png: is not a file that models can read; they can read PNG, JPEG",
        ),
        ("empty.txt", b"", "--attach empty.txt: is empty"),
        ("long.txt", b"a" * 1_100_000, "--attach long.txt: is 1.0 MB; 1 MB is the limit"),
        (".", None, "--attach .: it cannot be read"),
    ],
)
def test_a_file_that_cannot_go_along_ends_with_2(
    call: Call, folder: Path, name: str, data: bytes | None, said: str
) -> None:
    if data is not None:
        (folder / name).write_bytes(data)
    status, out, err = call("agent.yaml", "What is it?", "--attach", name)
    assert (status, out) == (2, "")
    assert said in err
    assert run_files() == []


def test_json_tells_about_a_wrong_file_as_json(call: Call, folder: Path) -> None:
    status, out, _ = call("agent.yaml", "What is it?", "--attach", "none.png", "--json")
    assert status == 2
    assert json.loads(out)["error"]["type"] == "ConfigError"


def test_files_that_are_too_large_together_are_refused(
    call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attaching, "MOST", 60)
    status, _, err = call("agent.yaml", "What is it?", "--attach", "dot.png", "--attach", "dot.png")
    assert status == 2
    assert "together" in err


def test_lines_that_are_piped_into_a_chat_send_no_files(call: Call, folder: Path) -> None:
    status, out, _ = call("chat", "agent.yaml", stdin="See @dot.png\n")
    assert (status, out.count("A dot.")) == (0, 1)
    assert [read_journal(path).prompt for path in run_files()] == ["See @dot.png"]


def test_a_line_that_is_typed_names_files_to_send(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    asked, strange = with_mentioned("See @dot.png, and @nothing.png! @missing/x @none")
    assert [getattr(part, "name", part) for part in asked][1:] == ["dot.png"]
    assert strange == ["@nothing.png!", "@missing/x"]


def test_names_with_spaces_are_quoted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "two words.csv").write_text("a")
    asked, strange = with_mentioned('Look at @"two words.csv". Mail me@example.org')
    assert [getattr(part, "name", "") for part in asked] == ["", "two words.csv"]
    assert strange == []


def test_a_chat_has_no_use_for_the_option(call: Call, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("react_run.cli.prompting.prompt_from", lambda words: None)
    status, _, err = call("agent.yaml", "--attach", "dot.png")
    assert status == 2
    assert "write @FILE in a line" in err


def test_a_dry_run_shows_the_beginning_of_files(call: Call, folder: Path) -> None:
    (folder / "large.png").write_bytes(png(200) + bytes(5_000))
    status, out, _ = call("agent.yaml", "What is it?", "--attach", "large.png", "--dry-run")
    assert status == 0
    assert "data:image/png;base64," in out
    assert len(out) < 4_000


def test_the_agent_that_looks_at_pictures_runs_offline(call: Call, tmp_path: Path) -> None:
    picture = str(ROOT / "agents" / "pictures" / "dot.png")
    agent = str(ROOT / "agents" / "pictures.yaml")
    status, out, err = call(agent, "What do the pictures show?", "--attach", picture, "--record", "run.jsonl")
    assert (status, "a blue square" in out) == (0, True), err
    (use,) = [use for iteration in read_journal("run.jsonl").iterations for use in iteration.tools]
    assert [said["name"] for said in use.parts] == ["square.png"]
    assert call("replay", "run.jsonl")[0] == 0
    assert call("runs", "export", "run.jsonl", "-o", "run.html")[0] == 0
    assert Path("run.html").read_text().count("<img ") == 2
