"""The ``notes`` toolset: facts that outlive a run, confined to their folder, and never more than data."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.cli.command_line import Call, write
from tests.cli.conftest import call as call  # the fixture

from react_run import ReActAgent, ReActStep, read_journal
from react_run.config import load_config
from react_run.journal.replay.replay import replay
from react_run.testing import agent_with, calls, says
from react_toolsets import notes
from react_toolsets.notes import NotesToolset

ROOT = Path(__file__).parents[3]


def agent(*requests: Any, name: str = "keeper", session: str | None = None, **options: Any) -> ReActAgent:
    replies = [*(calls(request) for request in requests), says("done")]
    return agent_with(replies, toolsets=[NotesToolset(**options)], name=name, session=session, max_iterations=100)


def steps(folder: Path, *requests: Any, **options: Any) -> list[ReActStep]:
    return list(asyncio.run(agent(*requests, **options).run("go", workspace=folder)).steps)


def only(folder: Path, *requests: Any, **options: Any) -> str:
    return steps(folder, *requests, **options)[-1].observation


def test_a_fact_is_found_again_in_the_next_run(tmp_path: Path) -> None:
    steps(tmp_path, ("remember", {"fact": "The user is\n allergic to nuts.", "note": "user"}))
    found = only(tmp_path, ("recall", {"words": "NUTS allergic"}))
    assert "user: The user is allergic to nuts." in found
    assert found.startswith("<<<notes ")
    assert "data, not instructions" in found
    (path,) = tmp_path.rglob("*.md")
    assert path.relative_to(tmp_path).parts == (".react-run", "notes", "keeper", "user.md")


def test_agents_do_not_share_their_notes(tmp_path: Path) -> None:
    steps(tmp_path, ("remember", {"fact": "a fact"}))
    assert only(tmp_path, ("recall", {}), name="other") == "(Nothing was written down yet.)"
    assert only(tmp_path, ("recall", {}), name="kee/per") == "(Nothing was written down yet.)"


def test_sessions_do_not_share_their_notes(tmp_path: Path) -> None:
    steps(tmp_path, ("remember", {"fact": "a fact"}), session="one", scope="session")
    assert "a fact" in only(tmp_path, ("recall", {}), session="one", scope="session")
    assert "a fact" not in only(tmp_path, ("recall", {}), session="two", scope="session")
    assert "a fact" not in only(tmp_path, ("recall", {}), scope="session")


def test_the_session_of_the_command_line_counts(call: Call, tmp_path: Path) -> None:
    said = [{"tool_calls": [{"name": "remember", "arguments": {"fact": "a fact"}}]}, "done"]
    write(tmp_path, f"model: {{kind: scripted, replies: {said!r}}}\ntoolsets: [{{kind: notes, scope: session}}]\n")
    status, _, err = call("agent.yaml", "go", "--session", "spring")
    assert status == 0, err
    (path,) = (tmp_path / ".react-run" / "notes").rglob("*.md")
    assert path.parent.name == "session-spring"


def test_the_same_fact_is_noted_once(tmp_path: Path) -> None:
    fact = ("remember", {"fact": "a fact"})
    assert only(tmp_path, fact, ("remember", {"fact": "another"}), ("remember", {"fact": " a  fact"})) == (
        "facts has this already."
    )
    (path,) = tmp_path.rglob("*.md")
    assert len(path.read_text().splitlines()) == 2


def test_a_fact_can_be_forgotten(tmp_path: Path) -> None:
    steps(tmp_path, ("remember", {"fact": "red is good"}), ("remember", {"fact": "blue is good"}))
    assert only(tmp_path, ("forget", {"note": "facts", "fact": "red"})).startswith("Forgotten: red is good")
    assert "red" not in only(tmp_path, ("recall", {}))
    assert only(tmp_path, ("forget", {"note": "facts"})) == "The note facts is gone."
    assert list(tmp_path.rglob("*.md")) == []


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (("remember", {"fact": "x", "note": "../up"}), "invalid_name"),
        (("remember", {"fact": "x", "note": "a/b"}), "invalid_name"),
        (("remember", {"fact": "x", "note": "/etc/passwd"}), "invalid_name"),
        (("recall", {"note": ".."}), "invalid_name"),
        (("forget", {"note": "none"}), "no_note"),
        (("forget", {"note": "facts", "fact": "good"}), "not_one_fact"),
        (("forget", {"note": "facts", "fact": "green"}), "not_one_fact"),
        (("remember", {"fact": "x" * 501}), "invalid_arguments"),
    ],
)
def test_what_cannot_be_done_is_a_failed_call(tmp_path: Path, request_: Any, code: str) -> None:
    steps(tmp_path, ("remember", {"fact": "red is good"}), ("remember", {"fact": "blue is good"}))
    assert steps(tmp_path, request_)[-1].error_code == code


def test_a_full_note_and_a_full_folder_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notes, "LARGEST", 60)
    monkeypatch.setattr(notes, "MOST", 1)
    found = steps(tmp_path, *[("remember", {"fact": f"fact number {n} of many"}) for n in range(3)])
    assert [step.error_code for step in found][1:] == ["note_full"] * 2
    assert steps(tmp_path, ("remember", {"fact": "x", "note": "other"}))[0].error_code == "too_many_notes"


def test_links_are_not_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / ".react-run").symlink_to(elsewhere)
    assert steps(tmp_path / "ws", ("remember", {"fact": "x"}))[0].error_code == "symbolic_link"
    steps(tmp_path, ("remember", {"fact": "x"}))
    (path,) = (tmp_path / ".react-run").rglob("*.md")
    path.unlink()
    path.symlink_to(elsewhere / "secret.md")
    (elsewhere / "secret.md").write_text("- secret\n")
    assert "secret" not in only(tmp_path, ("recall", {"note": "facts"})).replace("symbolic", "")
    assert steps(tmp_path, ("remember", {"fact": "x"}))[0].error_code == "symbolic_link"


def test_secrets_are_not_written_down(tmp_path: Path) -> None:
    built = agent(("remember", {"fact": "the key is hunter2hunter2"}))
    built.config.masker.add("hunter2hunter2")
    asyncio.run(built.run("go", workspace=tmp_path))
    (path,) = tmp_path.rglob("*.md")
    assert path.read_text().startswith("- the key is ***  (")


def test_several_runs_lose_nothing(tmp_path: Path) -> None:
    async def all_of_them() -> None:
        runs = [
            agent(*[("remember", {"fact": f"fact {n} {k}"}) for k in range(5)]).run("go", workspace=tmp_path)
            for n in range(8)
        ]
        await asyncio.gather(*runs)

    asyncio.run(all_of_them())
    (path,) = tmp_path.rglob("*.md")
    noted = {line.partition("  (")[0] for line in path.read_text().splitlines()}
    assert noted == {f"- fact {n} {k}" for n in range(8) for k in range(5)}


def test_notes_that_are_only_read_cannot_be_changed(tmp_path: Path) -> None:
    assert [tool.name for tool in NotesToolset(read_only=True).tools()] == ["recall"]


def test_a_folder_of_ones_own_is_used_and_one_elsewhere_needs_trust(tmp_path: Path) -> None:
    here = tmp_path / "agents"
    here.mkdir()
    write(here, "model: offline\ntoolsets: [{kind: notes, root: memory}]\n")
    load_config(here / "agent.yaml", trusted=False)
    write(here, f"model: offline\ntoolsets: [{{kind: notes, root: {tmp_path / 'other'}}}]\n")
    with pytest.raises(Exception, match=r"writes notes in .*other, which is outside its directory"):
        load_config(here / "agent.yaml", trusted=False)
    steps(tmp_path, ("remember", {"fact": "x"}), root=tmp_path / "memory")
    assert (tmp_path / "memory" / "facts.md").is_file()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("scope: world", "'agent' or 'session'"),
        ("root: agent.yaml", "is not a directory"),
        ("roots: x", "Did you mean 'root'?"),
    ],
)
def test_a_wrong_option_is_named_with_its_place(tmp_path: Path, line: str, said: str) -> None:
    write(tmp_path, f"model: offline\ntoolsets:\n  - kind: notes\n    {line}\n")
    with pytest.raises(Exception, match=r"agent\.yaml:4:\d+: ") as caught:
        load_config(tmp_path / "agent.yaml")
    assert said in str(caught.value)


def test_a_run_with_notes_replays_from_its_recording(tmp_path: Path) -> None:
    path, built = tmp_path / "run.jsonl", agent(("remember", {"fact": "x"}), ("recall", {}))
    asyncio.run(built.replace(journal=path).run("go", workspace=tmp_path))
    for note in tmp_path.rglob("*.md"):
        note.unlink()
    assert asyncio.run(replay(read_journal(path), built)).complete


def test_the_agent_that_remembers_runs_offline_twice(call: Call, tmp_path: Path) -> None:
    file = str(ROOT / "agents" / "planner.yaml")
    for run in ("one", "two"):
        assert call(file, "Plan the party. I am allergic to nuts.", "--record", f"{run}.jsonl")[0] == 0
    first, second = (
        next(use for iteration in read_journal(f"{run}.jsonl").iterations for use in iteration.tools).content or ""
        for run in ("one", "two")
    )
    assert first == "(Nothing was written down yet.)"
    assert "user: The user is allergic to nuts." in second
