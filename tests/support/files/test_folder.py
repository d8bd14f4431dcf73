"""Files reached by name, and nothing outside, whatever the name says."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.files.path_tree import ATTEMPTS, TREE, Attempt, build, everything_outside

from react_run.support.files import Folder, PathRefused, parts_of, replacing
from react_run.support.files.opening import PART
from react_run.support.files.run_files import write_new


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(build(tmp_path))


def decided(folder: Folder, case: Attempt) -> str:
    """Why the attempt is refused, or that it leads inside."""
    try:
        found = attempt(folder, case)
    except PathRefused as refused:
        return "a secret was told" if "CANARY" in str(refused) else refused.code
    assert found == TREE["tree"]["files"][os.path.normpath(case["path"])].encode()
    return "inside"


def attempt(folder: Folder, case: Attempt) -> object:
    match case["op"]:
        case "read":
            return folder.read(case["path"], 1000)
        case "write":
            folder.replace(case["path"], b"x")
            return None
        case op:
            assert op == "glob"
            return list(folder.find(case["path"]))


@pytest.mark.parametrize("case", ATTEMPTS, ids=lambda case: f"{case['op']} {case['path'][:40]!r}")
def test_every_path_is_allowed_or_refused_as_it_must_be(folder: Folder, case: Attempt) -> None:
    assert case.keys() <= {"path", "op", "expect", "reason", "why"}
    before = everything_outside(folder.root)
    assert decided(folder, case) == case["reason"]
    assert case["expect"] == ("allow" if case["reason"] == "inside" else "block")
    assert everything_outside(folder.root) == before
    assert not (folder.root.parent / "nowhere").exists()


@pytest.mark.parametrize("path", ["link_in/b.txt", "loop", "loop/x", "sub/up/a.txt", "link_in"])
def test_links_are_not_followed_even_when_they_stay_inside(folder: Folder, path: str) -> None:
    with pytest.raises(PathRefused, match="symbolic link"):
        folder.read(path, 1000)


@pytest.mark.parametrize("path", [".", "sub", "sub/..", "pipe"])
def test_what_is_no_file_is_not_read(folder: Folder, path: str) -> None:
    with pytest.raises(PathRefused) as refused:
        folder.read(path, 1000)
    assert refused.value.code == "not_a_file"


def test_a_file_above_the_limit_is_refused(folder: Folder) -> None:
    assert folder.read("a.txt", 1) == b"A"
    with pytest.raises(PathRefused, match="more than 0 bytes"):
        folder.read("a.txt", 0)


@given(st.lists(st.sampled_from(["..", ".", "", "sub", "deep", "x"]), max_size=8))
def test_a_path_that_is_accepted_stays_below(names: list[str]) -> None:
    path = "/".join(["x", *names])
    try:
        parts = parts_of(path)
    except PathRefused:
        assert os.path.normpath(path).startswith("..")
    else:
        assert "/".join(parts) == os.path.normpath(path).removeprefix(".").lstrip("/")


# -- writing ----------------------------------------------------------------------------------------------------------


def test_a_file_is_replaced_at_once_and_keeps_its_mode(folder: Folder) -> None:
    path = folder.root / "a.txt"
    path.chmod(0o754)
    inode = path.stat().st_ino
    folder.replace("a.txt", b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o754)
    assert path.stat().st_ino != inode  # another file took its place: a reader sees all of one or all of the other
    assert not [name for name in os.listdir(folder.root) if "part" in name]


def test_what_is_being_written_is_not_shown(folder: Folder) -> None:
    (folder.root / f"sub/x{PART}").touch()
    assert not [entry for entry in [*folder.entries("sub"), *folder.walk("sub")] if "part" in entry.path]


def test_a_set_user_id_bit_does_not_survive(folder: Folder) -> None:
    (folder.root / "a.txt").chmod(0o4755)
    folder.replace("a.txt", b"new")
    assert stat.S_IMODE((folder.root / "a.txt").stat().st_mode) == 0o755


def test_directories_are_made_on_the_way(folder: Folder) -> None:
    folder.replace("new/er/file.txt", b"x")
    assert (folder.root / "new" / "er" / "file.txt").read_bytes() == b"x"


def test_another_name_of_the_same_file_keeps_its_content(folder: Folder) -> None:
    os.link(folder.root.parent / "outside" / "secret.txt", folder.root / "hard.txt")
    folder.replace("hard.txt", b"new")
    assert (folder.root.parent / "outside" / "secret.txt").read_text() == "CANARY"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("sub", "not_a_file"),
        ("pipe", "not_a_file"),
        ("link_file_out", "symbolic_link"),
        ("link_out/new.txt", "symbolic_link"),
        ("link_in/new.txt", "symbolic_link"),
        ("a.txt/b", "not_found"),
        (".git/hooks/pre-commit", "not_permitted"),
        ("sub/.GIT/config", "not_permitted"),
        (".react-run/runs/x", "not_permitted"),
        (".", "not_a_file"),
    ],
)
def test_nothing_else_is_written(folder: Folder, path: str, code: str) -> None:
    with pytest.raises(PathRefused) as refused:
        folder.replace(path, b"x")
    assert refused.value.code == code


def test_a_write_protected_file_stays_as_it_is(folder: Folder) -> None:
    (folder.root / "a.txt").chmod(0o444)
    with pytest.raises(PathRefused, match="write-protected"):
        folder.replace("a.txt", b"x")


def test_what_somebody_else_changed_meanwhile_is_not_overwritten(folder: Folder) -> None:
    data, version = folder.read_version("a.txt", 100)
    (folder.root / "a.txt").write_text("theirs")
    with pytest.raises(PathRefused) as refused:
        folder.replace("a.txt", data + b" ours", version)
    assert refused.value.code == "changed"
    assert (folder.root / "a.txt").read_text() == "theirs"
    _, version = folder.read_version("a.txt", 100)
    folder.replace("a.txt", b"both", version)
    assert (folder.root / "a.txt").read_text() == "both"


def test_only_files_are_removed(folder: Folder) -> None:
    folder.remove("a.txt")
    assert not folder.exists("a.txt")
    for path in ("sub", "link_in", "a.txt"):
        with pytest.raises(PathRefused):
            folder.remove(path)


# -- looking around ---------------------------------------------------------------------------------------------------


def test_a_directory_is_listed_with_kinds_and_sizes(folder: Folder) -> None:
    listed = {entry.path: (entry.kind, entry.size) for entry in folder.entries()}
    assert listed["a.txt"] == ("file", 1)
    assert listed["sub"] == ("directory", 0)
    assert {listed[name][0] for name in ("link_in", "link_out", "loop", "dangling")} == {"link"}
    assert listed["pipe"] == ("other", 0)
    assert [entry.path for entry in folder.entries("sub")] == ["sub/b.txt", "sub/deep", "sub/up"]


def test_walking_follows_no_link_and_skips_what_it_is_told_to(folder: Folder) -> None:
    walked = [entry.path for entry in folder.walk()]
    assert "sub/deep/c.txt" in walked
    assert not [path for path in walked if path.startswith(("link_in/", "link_out/", "sub/up/"))]
    assert "sub/deep/c.txt" not in [entry.path for entry in folder.walk(skipped=frozenset({"deep"}))]


def test_a_tree_that_is_too_deep_is_said_to_be(folder: Folder) -> None:
    assert [entry.path for entry in folder.walk("sub", depth=1) if entry.kind == "closed"] == ["sub/deep"]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.txt", ["a.txt", "sp ace.txt", "é.txt"]),
        ("**/*.txt", ["a.txt", "sp ace.txt", "sub/b.txt", "sub/deep/c.txt", "é.txt"]),
        ("**/c.txt", ["sub/deep/c.txt"]),
        ("sub/*", ["sub/b.txt", "sub/up"]),
        ("sub/**", ["sub/b.txt", "sub/deep/c.txt", "sub/up"]),
        ("sub/../[a-c].txt", ["a.txt"]),
        ("?.txt", ["a.txt", "é.txt"]),
        ("[!a].txt", ["é.txt"]),
        ("sub", ["sub"]),
        ("sub/b.txt", ["sub/b.txt"]),
        ("-r*", ["-rf"]),
        ("nowhere/b.txt", []),
        ("*.none", []),
    ],
)
def test_patterns_find_what_they_say(folder: Folder, pattern: str, found: list[str]) -> None:
    assert [entry.path for entry in folder.find(pattern)] == found


@pytest.mark.parametrize("pattern", ["nowhere/*", "a.txt/*", "[z-a].txt"])
def test_patterns_that_can_find_nothing_are_refused(folder: Folder, pattern: str) -> None:
    with pytest.raises(PathRefused):
        list(folder.find(pattern))


def test_no_descriptor_stays_open(folder: Folder) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for case in ATTEMPTS * 3:
        with suppress(PathRefused):
            attempt(folder, case)
    next(folder.walk())
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_file_is_on_disk_before_it_takes_the_place_of_another(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[object] = []
    fsync, rename = os.fsync, os.rename

    def synced(descriptor: int) -> None:
        done.append(os.fstat(descriptor).st_size)
        fsync(descriptor)

    def renamed(old: str, new: str, **directories: int) -> None:
        done.append("renamed")
        rename(old, new, **directories)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "rename", renamed)
    folder.replace("a.txt", b"new")
    assert done == [3, "renamed"]


def test_what_lies_under_the_name_of_a_file_being_written_is_left_alone(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replacing, "uuid4", lambda: UUID(int=1))
    there = folder.root / f".{UUID(int=1).hex}{PART}"
    there.write_bytes(b"somebody's")
    with pytest.raises(PathRefused, match="exists"):
        folder.replace("a.txt", b"new")
    assert there.read_bytes() == b"somebody's"


def test_a_file_of_a_run_is_written_once(tmp_path: Path) -> None:
    write_new(tmp_path, ("runs",), "a.txt", [b"first"])
    with pytest.raises(FileExistsError):
        write_new(tmp_path, ("runs",), "a.txt", [b"second"])
    assert (tmp_path / "runs" / "a.txt").read_bytes() == b"first"
