"""The files toolset: a jail, honest reading, exact editing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.support.files.path_tree import ATTEMPTS, Attempt, build, everything_outside
from tests.toolsets.running import run_in, step, steps

from react_run import ConfigError, ReActAgent, ReActAgentConfig, StopReason
from react_run.support import own_code
from react_run.testing import calls, says
from react_toolsets.files import FilesToolset

READING = FilesToolset()
WRITING = FilesToolset(read_only=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return build(tmp_path)


# -- the jail ---------------------------------------------------------------------------------------------------------

TOOLS = {
    "read": [("read_file", "path", {}), ("edit_file", "path", {"old_text": "A", "new_text": "B"})],
    "write": [("write_file", "path", {"content": "x"})],
    "glob": [("find_files", "pattern", {}), ("search_files", "files", {"pattern": "."})],
}


@pytest.mark.parametrize("case", ATTEMPTS, ids=lambda case: f"{case['op']} {case['path'][:40]!r}")
def test_every_path_is_allowed_or_refused_as_it_must_be(root: Path, case: Attempt) -> None:
    before = everything_outside(root)
    for name, parameter, more in TOOLS[case["op"]]:
        if name == "edit_file" and case["expect"] == "allow":
            continue  # the text to be replaced is not in every file
        taken = step(root, WRITING, name, **{parameter: case["path"], **more})
        assert taken.failed == (case["expect"] == "block"), taken.observation
        assert "CANARY" not in taken.observation
    assert everything_outside(root) == before


@pytest.mark.parametrize("path", ["..", "/etc", "link_out", "sub/up", "C:"])
def test_directories_outside_are_not_listed_searched_or_written(root: Path, path: str) -> None:
    for taken in (
        step(root, WRITING, "list_directory", path=path),
        step(root, WRITING, "find_files", path=path, pattern="*"),
        step(root, WRITING, "search_files", path=path, pattern="CANARY"),
        step(root, WRITING, "write_file", path=f"{path}/new.txt", content="x"),
    ):
        assert taken.failed, taken.observation
        assert "secret" not in taken.observation


def test_a_wrong_path_is_no_reason_to_end_a_run(root: Path) -> None:  # F1
    replies = [calls(("read_file", {"path": f"no{n}.txt"})) for n in range(4)]
    result = run_in(root, [*replies, says("there are none")], toolsets=[READING])
    assert [taken.error_code for taken in result.steps] == ["not_found"] * 4
    assert (result.answer, result.stop_reason) == ("there are none", "completed")
    assert not result.success  # F6: no call succeeded


# -- what it offers ---------------------------------------------------------------------------------------------------


def test_files_can_only_be_read_unless_the_file_says_otherwise(root: Path) -> None:
    names = [tool.name for tool in READING.tools()]
    assert names == ["read_file", "list_directory", "find_files", "search_files"]
    assert all(tool.read_only for tool in READING.tools())
    assert {tool.name for tool in WRITING.tools() if tool.read_only is False} == {"write_file", "edit_file"}
    assert step(root, READING, "write_file", path="a.txt", content="x").error_code == "unknown_tool"


def test_the_root_is_beside_the_agent_file_and_outside_it_only_with_trust(tmp_path: Path) -> None:
    agent = tmp_path / "agents" / "a.yaml"
    agent.parent.mkdir()
    (tmp_path / "agents" / "data").mkdir()
    for root, allowed in (("data", True), (".", True), ("..", False), ("/", False)):
        agent.write_text(
            f"version: 1\nmodel: offline\ntoolsets: [{{kind: react_toolsets.files:FilesToolset, root: {root}}}]\n"
        )
        assert ReActAgentConfig.from_yaml(agent).toolsets[0].root is not None  # type: ignore[attr-defined]  # its option
        if allowed:
            ReActAgentConfig.from_yaml(agent, trusted=False)
        else:
            with pytest.raises(ConfigError, match=r"a\.yaml:3:.*outside its directory.*react-run trust"):
                ReActAgentConfig.from_yaml(agent, trusted=False)


def test_a_module_that_the_model_wrote_is_not_imported_by_the_search(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(root)  # as when Python was started there
    module = "from pathlib import Path\nPath('imported').touch()\n"
    wanted = [
        calls(("write_file", {"path": f"{name}.py", "content": module})) for name in ("dataclasses", "uuid", "codecs")
    ]
    search = calls(("search_files", {"pattern": "touch", "files": "*.py"}))
    result = run_in(root, [*wanted, search, says("done")], toolsets=[WRITING])
    assert "[3 matches in 3 files]" in result.steps[-1].observation
    assert not (root / "imported").exists()


def test_untrusted_files_toolset_cannot_write_outside_its_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent that was downloaded and started at home would write start-up files there."""
    agent = tmp_path / "agents" / "a.yaml"
    (tmp_path / "agents" / "data").mkdir(parents=True)
    reading = agent.with_name("reading.yaml")
    reading.write_text("version: 1\nmodel: offline\ntoolsets: [files]\n")
    agent.write_text("version: 1\nmodel: offline\ntoolsets: [{kind: files, read_only: false}]\n")
    for directory in (tmp_path / "agents", tmp_path / "agents" / "data"):
        monkeypatch.chdir(directory)
        ReActAgentConfig.from_yaml(agent, trusted=False)
    monkeypatch.chdir(tmp_path)
    ReActAgentConfig.from_yaml(reading, trusted=False)
    ReActAgentConfig.from_yaml(agent)
    with pytest.raises(
        ConfigError,
        match=r"a\.yaml:3:.*changes files in the working directory .*react-run trust",
    ):
        ReActAgentConfig.from_yaml(agent, trusted=False)


# -- reading ----------------------------------------------------------------------------------------------------------


def test_a_root_that_is_not_there_is_a_mistake_in_the_file(tmp_path: Path) -> None:
    agent = tmp_path / "agent.yaml"
    agent.write_text("model: offline\ntoolsets: [{kind: files, root: nowhere}]\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"there is no directory .*nowhere; create it, or name another root"):
        ReActAgent.from_yaml(agent)


def test_a_file_is_read_whole_or_in_parts_with_a_note_on_the_rest(root: Path) -> None:
    (root / "n.txt").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    assert step(root, READING, "read_file", path="n.txt").observation == "\n".join(f"line {n}" for n in range(1, 11))
    part = step(root, READING, "read_file", path="n.txt", offset=3, limit=2).observation
    assert part == "line 3\nline 4\n[lines 3 to 4 of 10; read on with offset=5]"
    assert step(root, READING, "read_file", path="n.txt", offset=9).observation.endswith("[lines 9 to 10 of 10]")
    assert (
        step(root, READING, "read_file", path="n.txt", offset=11).observation
        == "[the file has 10 lines; there is no line 11]"
    )


def test_what_does_not_fit_into_a_result_is_read_in_further_parts(root: Path) -> None:  # T4
    (root / "big.txt").write_text("".join(f"{n} {'x' * 90}\n" for n in range(5000)))
    seen, offset = "", 1
    while offset:
        text = step(root, READING, "read_file", path="big.txt", offset=offset, limit=5000).observation
        assert len(text) < 24_576
        body, _, note = text.rpartition("\n[")
        seen += f"{body}\n"
        offset = int(note.partition("offset=")[2].rstrip("]") or 0)
    assert seen == (root / "big.txt").read_text()


def test_a_line_that_is_longer_than_a_result_is_cut_and_says_so(root: Path) -> None:
    (root / "min.js").write_text("é" * 40_000 + "\nnext\n")
    text = step(root, READING, "read_file", path="min.js").observation
    assert "[line 1 of 2 has 40,000 characters, of which these are the first 12,031; read on with offset=2]" in text


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"", "[the file is empty]"),
        ("grüß\n".encode(), "grüß"),
        (b"\xef\xbb\xbfmark\n", "mark"),
        ("grüß\n".encode("utf-16"), "[stored as utf-16-le]\ngrüß"),
        ("grüß\n".encode("latin-1"), "[stored as latin-1]\ngrüß"),
        (b"one\r\ntwo\r\n", "one\ntwo"),
        (b"\x1b[31mred\x1b[0m\n", "\\x1b[31mred\\x1b[0m"),
    ],
)
def test_encodings_are_found(root: Path, data: bytes, shown: str) -> None:
    (root / "t.txt").write_bytes(data)
    assert step(root, READING, "read_file", path="t.txt").observation == shown


@pytest.mark.parametrize("data", [b"\x7fELF\x02\x01\x01\x00", os.urandom(4000) + b"\0", b"a\x01b\xff"])
def test_what_is_no_text_is_not_shown(root: Path, data: bytes) -> None:
    (root / "t.bin").write_bytes(data)
    taken = step(root, WRITING, "read_file", path="t.bin")
    assert (taken.error_code, f"{len(data):,} bytes" in taken.observation) == ("binary_file", True)
    assert step(root, WRITING, "write_file", path="t.bin", content="x").error_code == "binary_file"
    assert (root / "t.bin").read_bytes() == data


def test_a_directory_is_listed_with_sizes_and_without_following_links(root: Path) -> None:
    text = step(root, READING, "list_directory").observation
    assert "a.txt  1 bytes\n" in text
    assert "sub/\n" in text
    assert "link_out  (a symbolic link, which is not followed)\n" in text
    (root / "empty").mkdir()
    assert step(root, READING, "list_directory", path="empty").observation == "[the directory is empty]"


def test_files_are_found_by_name_but_not_in_what_tools_leave_behind(root: Path) -> None:
    for name in (".git", "node_modules", "sub/__pycache__"):
        (root / name).mkdir()
        (root / name / "b.txt").write_text("x")
    assert step(root, READING, "find_files", pattern="**/b.txt").observation == "sub/b.txt"
    assert step(root, READING, "find_files", pattern="*.txt", path="sub").observation == "sub/b.txt"
    assert step(root, READING, "find_files", pattern="node_modules/*.txt").observation == "node_modules/b.txt"
    assert step(root, READING, "find_files", pattern="**/*.none").observation == "[no file matches]"


def test_more_than_can_be_shown_is_counted(root: Path) -> None:
    (root / "many").mkdir()
    for number in range(505):
        (root / "many" / f"{number:03}.txt").touch()
    assert step(root, READING, "find_files", pattern="many/*").observation.endswith("[5 more are not shown]")
    assert step(root, READING, "list_directory", path="many").observation.endswith("[5 more are not shown]")


# -- searching --------------------------------------------------------------------------------------------------------


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("import os\n\ndef Main():\n    return os\n")
    (tmp_path / "src" / "b.txt").write_text("def nothing\n")
    (tmp_path / "bin.dat").write_bytes(b"def\0")
    (tmp_path / "link.py").symlink_to("src/a.py")
    return tmp_path


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"pattern": "^def"}, "src/a.py:3: def Main():\nsrc/b.txt:1: def nothing\n[2 matches in 2 files]"),
        ({"pattern": "def", "files": "**/*.py"}, "src/a.py:3: def Main():\n[1 match in 1 files]"),
        ({"pattern": "def", "path": "src", "files": "*.txt"}, "src/b.txt:1: def nothing\n[1 match in 1 files]"),
        ({"pattern": "main", "ignore_case": True}, "src/a.py:3: def Main():\n[1 match in 1 files]"),
        (
            {"pattern": "Main", "context": 1},
            "src/a.py-2-\nsrc/a.py:3: def Main():\nsrc/a.py-4-     return os\n[1 match in 1 files]",
        ),
        ({"pattern": "os", "limit": 1}, "src/a.py:1: import os\n[2 matches in 1 files]\n[only the first 1 are shown"),
        ({"pattern": "nowhere"}, "[no match]"),
    ],
)
def test_lines_are_searched(sources: Path, query: dict[str, Any], found: str) -> None:
    assert step(sources, READING, "search_files", **query).observation.startswith(found)


@pytest.mark.parametrize("pattern", ["^$", "^x?$"])
def test_the_end_of_the_last_line_is_no_further_line(tmp_path: Path, pattern: str) -> None:
    (tmp_path / "notes.txt").write_text("one\ntwo\n", encoding="utf-8")
    (tmp_path / "empty.txt").touch()
    assert step(tmp_path, READING, "search_files", pattern=pattern).observation == "[no match]"
    assert "notes.txt-3-" not in step(tmp_path, READING, "search_files", pattern="two", context=2).observation


def test_a_glob_that_found_nothing_where_it_looked_says_how_to_look_deeper(sources: Path) -> None:
    deeper = "looks in one directory only; **/*.py looks in those below it, too]"
    (sources / "deep").mkdir()
    assert deeper in step(sources / "deep", READING, "find_files", pattern="*.py").observation
    assert deeper in step(sources / "deep", READING, "search_files", pattern="x", files="*.py").observation


def test_a_file_is_not_said_to_be_missing_because_it_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    said = step(tmp_path, READING, "list_directory", path="notes.txt").observation
    assert said == "Error: 'notes.txt' is not a directory, or leads through something that is not one"


def test_what_is_no_pattern_is_explained(sources: Path) -> None:
    taken = step(sources, READING, "search_files", pattern="(")
    assert taken.error_code == "invalid_pattern"
    assert "not a regular expression" in taken.observation
    assert step(sources, READING, "search_files", pattern="x", files="../*").error_code == "search_failed"
    assert "leads out" in step(sources, READING, "search_files", pattern="x", files="../*").observation


def test_a_pattern_that_takes_for_ever_ends_with_the_call_and_leaves_the_run_alone(sources: Path) -> None:
    (sources / "evil.txt").write_text("x" * 5_000 + "\n")
    [taken] = steps(sources, READING, ("search_files", {"pattern": "(x+x+)+y"}))
    assert taken.error_code == "timeout"
    assert "use a simpler one" in taken.observation


@pytest.mark.parametrize(
    "path",
    [
        ".venv/lib/python3.11/site-packages/react_toolsets/files/searching.py",
        ".venv/bin/python",
        ".venv/pyvenv.cfg",
        ".VENV/x.pth",
        "tools/env/lib/sitecustomize.py",
    ],
)
def test_no_code_that_runs_unconfined_is_written(root: Path, path: str) -> None:
    (root / "tools" / "env").mkdir(parents=True)
    (root / "tools" / "env" / "pyvenv.cfg").write_text("home = /usr/bin\n")
    taken = step(root, WRITING, "write_file", path=path, content="import os")
    assert taken.error_code == "not_permitted"
    assert not (root / path).exists()


def test_nothing_is_written_to_our_own_code(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_code, "own_code", lambda: [root / "src" / "react_run"])
    for path, refused in (("src/react_run/loop.py", True), ("src/mine.py", False)):
        assert (step(root, WRITING, "write_file", path=path, content="x").error_code is not None) is refused


# -- writing ----------------------------------------------------------------------------------------------------------


def test_a_file_is_written_and_that_is_a_fact(root: Path) -> None:  # F5
    taken = step(root, WRITING, "write_file", path="new/n.txt", content="hällo\n")
    assert (root / "new" / "n.txt").read_text() == "hällo\n"
    assert taken.observation == "Made new/n.txt (7 bytes)."
    assert taken.outcome is not None
    assert taken.outcome.verified_summary == taken.observation
    assert step(root, WRITING, "write_file", path="a.txt", content="").observation == "Replaced a.txt (0 bytes)."


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"one\r\ntwo\r\n", "1\n2\n", b"1\r\n2\r\n"),
        (b"one\r\ntwo\r\n", "1\r\n2\r\n", b"1\r\n2\r\n"),
        (b"one\r\ntwo\n", "1\n2\n", b"1\n2\n"),
        (b"\xef\xbb\xbfone\n", "1\n", b"\xef\xbb\xbf1\n"),
        ("grüß\n".encode("latin-1"), "süß\n", "süß\n".encode("latin-1")),
        ("grüß\n".encode("latin-1"), "5 €\n", "5 €\n".encode()),
        ("a\n".encode("utf-16"), "b\n", "b\n".encode("utf-16")),
    ],
)
def test_the_form_of_a_file_is_kept(root: Path, before: bytes, content: str, after: bytes) -> None:
    path = root / "t.txt"
    path.write_bytes(before)
    path.chmod(0o640)
    step(root, WRITING, "write_file", path="t.txt", content=content)
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (after, 0o640)


# -- editing ----------------------------------------------------------------------------------------------------------


def edit(root: Path, before: bytes, **arguments: object) -> tuple[bytes, str, str | None]:
    (root / "t.txt").write_bytes(before)
    taken = step(root, WRITING, "edit_file", path="t.txt", **arguments)
    return (root / "t.txt").read_bytes(), taken.observation, taken.error_code


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\nb\nc\n", "b\n", "B\n", b"a\nB\nc\n"),
        (b"a\r\nb\r\nc\r\n", "a\nb", "A\nB\nBB", b"A\r\nB\r\nBB\r\nc\r\n"),
        (b"a\r\nb\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\n"),
        (b"a\nb\r\n", "b\r\n", "c\n", b"a\nc\n"),
        ("grüß gott\n".encode("latin-1"), "gott", "dich", "grüß dich\n".encode("latin-1")),
        (b"\xef\xbb\xbfa\n", "a", "b", b"\xef\xbb\xbfb\n"),
        (b"last line", "last", "the last", b"the last line"),
    ],
)
def test_a_passage_is_replaced_and_the_rest_is_kept_to_the_byte(
    root: Path, before: bytes, old: str, new: str, after: bytes
) -> None:
    assert edit(root, before, old_text=old, new_text=new) == (
        after,
        f"Edited t.txt at line {1 + before[: before.find(old[:1].encode())].count(10)}.",
        None,
    )


def test_every_place_is_replaced_only_when_asked(root: Path) -> None:
    text = b"a = 1\nb = 2\na = 1\n"
    after, said, code = edit(root, text, old_text="a = 1", new_text="a = 3")
    assert (after, code) == (text, "text_not_unique")
    assert "occurs 2 times in 't.txt' (lines 1, 3)" in said
    assert edit(root, text, old_text="a = 1", new_text="a = 3", everywhere=True)[0] == b"a = 3\nb = 2\na = 3\n"


@pytest.mark.parametrize(
    ("old", "new", "code", "hint"),
    [
        ("", "x", "invalid_edit", "old_text is empty"),
        ("one", "one", "invalid_edit", "are the same"),
        ("three", "x", "text_not_found", "Read the file"),
        ("  one\ntwo", "x", "text_not_found", "Line 1 differs from it in white space only"),
        ("one\nthree", "x", "text_not_found", "Its first line is at line 1"),
    ],
)
def test_an_edit_that_does_not_fit_changes_nothing_and_says_how_to_correct_it(
    root: Path, old: str, new: str, code: str, hint: str
) -> None:
    after, said, got = edit(root, b"one\n\ttwo\n", old_text=old, new_text=new)
    assert (after, got) == (b"one\n\ttwo\n", code)
    assert hint in said


def test_a_character_that_the_file_cannot_hold_is_refused(root: Path) -> None:
    before = "grüß\n".encode("latin-1")
    after, said, code = edit(root, before, old_text="ß", new_text="€")
    assert (after, code, "latin-1, which has no '€'" in said) == (before, "encoding", True)


def test_edits_of_one_reply_happen_one_after_the_other(root: Path) -> None:  # L4
    (root / "t.txt").write_text("".join(f"{n}\n" for n in range(20)))
    edits = [("edit_file", {"path": "t.txt", "old_text": f"\n{n}\n", "new_text": f"\n{n}!\n"}) for n in range(1, 20)]
    result = run_in(root, [calls(*edits), says("done")], toolsets=[WRITING])
    assert not any(taken.failed for taken in result.steps)
    assert (root / "t.txt").read_text() == "0\n" + "".join(f"{n}!\n" for n in range(1, 20))


def test_what_was_written_is_read_again(root: Path) -> None:  # F4
    read = ("read_file", {"path": "a.txt"})
    taken = steps(root, WRITING, read, ("write_file", {"path": "a.txt", "content": "B"}), read)
    assert [taken[0].observation, taken[2].observation, taken[2].executed] == ["A", "B", True]


def test_a_run_that_only_met_missing_files_still_ends_by_its_limits(root: Path) -> None:
    replies = [calls(("read_file", {"path": "no.txt"}))] * 5
    assert run_in(root, [*replies, says("x")], toolsets=[READING]).stop_reason == StopReason.TOOL_RETRY_EXHAUSTED
