"""Unified diffs: applied all or not at all, and inside only (behaviour G2)."""

from __future__ import annotations

import difflib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from react_run import ToolError
from react_run.support.files import Folder
from react_run.workspace.patches import apply_patch
from react_run.workspace.patches.applying import _patched
from react_run.workspace.patches.diff import lines_of, parse

TEXT = "one\ntwo\nthree\nfour\nfive\n"
PATCH = """\
diff --git a/a.txt b/a.txt
index 1..2 100644
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,4 @@ heading
 one
-two
+TWO
+2
 three
"""


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "a.txt").write_text(TEXT)
    (tmp_path / "sub").mkdir()
    return Folder(tmp_path)


def tree(folder: Folder) -> dict[str, bytes]:
    return {entry.path: folder.read(entry.path, 10_000) for entry in folder.walk()}


def test_a_patch_that_fits_is_applied_and_counted(folder: Folder) -> None:
    assert list(map(str, apply_patch(folder, PATCH))) == ["a.txt (+2 -1)"]
    assert tree(folder) == {"a.txt": b"one\nTWO\n2\nthree\nfour\nfive\n"}


def test_without_prefixes_and_with_times_it_is_the_same(folder: Folder) -> None:
    patch = PATCH.replace("a/a.txt", "a.txt\t2026-01-01 00:00").replace("b/a.txt", "a.txt\t2026-01-02")
    apply_patch(folder, patch)
    assert b"TWO" in tree(folder)["a.txt"]


def test_it_fits_a_few_lines_further_down_when_that_is_the_only_place(folder: Folder) -> None:
    (folder.root / "a.txt").write_text("zero\n" + TEXT)
    apply_patch(folder, PATCH)
    assert tree(folder)["a.txt"].startswith(b"zero\none\nTWO\n2\n")
    (folder.root / "a.txt").write_text("zero\n" + TEXT + TEXT)
    with pytest.raises(ToolError, match=r"line 1 of a\.txt"):
        apply_patch(folder, PATCH)


def test_files_are_made_and_removed(folder: Folder) -> None:
    patch = "--- /dev/null\n+++ b/sub/new/n.txt\n@@ -0,0 +1,2 @@\n+x\n+y\n--- a/a.txt\n+++ /dev/null\n@@ -1,5 +0,0 @@\n"
    patch += "".join(f"-{line}" for line in lines_of(TEXT))
    assert list(map(str, apply_patch(folder, patch))) == ["sub/new/n.txt (+2 -0)", "a.txt (+0 -5)"]
    assert tree(folder) == {"sub/new/n.txt": b"x\ny\n"}


def test_a_missing_line_end_is_kept_missing(folder: Folder) -> None:
    (folder.root / "a.txt").write_bytes(b"one")
    mark = "\\ No newline at end of file\n"
    apply_patch(folder, f"--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-one\n{mark}+two\n{mark}")
    assert tree(folder)["a.txt"] == b"two"
    apply_patch(folder, f"--- a.txt\n+++ a.txt\n@@ -1 +1,2 @@\n-two\n{mark}+two\n+three\n")
    assert tree(folder)["a.txt"] == b"two\nthree\n"


def test_the_line_ends_of_windows_are_lines_of_their_own(folder: Folder) -> None:
    (folder.root / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    apply_patch(folder, "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\r\n-two\r\n+2\r\n")
    assert tree(folder)["a.txt"] == b"one\r\n2\r\n"


def test_lines_that_look_like_headers_are_lines(folder: Folder) -> None:
    (folder.root / "a.txt").write_text("-- x\n")
    apply_patch(folder, "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n--- x\n+++ y\n")
    assert tree(folder)["a.txt"] == b"++ y\n"


@pytest.mark.parametrize(
    ("patch", "why"),
    [
        ("", "not a unified diff"),
        ("Please change line 3.", "not a unified diff"),
        ("--- a.txt\n", "must begin with"),
        ("--- a.txt\n+++ a.txt\n", "not a unified diff"),
        ("--- a.txt\n+++ a.txt\n@@ what @@\n", "no hunk"),
        ("--- a.txt\n+++ a.txt\n@@ -1,9 +1,9 @@\n one\n", "more or fewer lines"),
        ("--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n*one\n", "begins with a space"),
        ("--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-eins\n+uno\n", "not what the patch says"),
        ("--- a/a.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-one\n+uno\n", "cannot rename"),
        ("rename from a.txt\nrename to b.txt\n", "only change the text"),
        ("old mode 100644\nnew mode 100755\n", "only change the text"),
        ("--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1 @@\n+x\n", "already exists"),
        ("--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n", "has more lines"),
        ("--- a/no.txt\n+++ b/no.txt\n@@ -1 +1 @@\n-one\n+uno\n", "does not exist"),
        (PATCH + PATCH, "twice"),
    ],
)
def test_what_is_no_patch_or_does_not_fit_changes_nothing(folder: Folder, patch: str, why: str) -> None:
    with pytest.raises(ToolError, match=why):
        apply_patch(folder, patch)
    assert tree(folder) == {"a.txt": TEXT.encode()}


@pytest.mark.parametrize("path", ["../x.txt", "/tmp/x.txt", "link/x.txt", ".git/config", "sub/../../x.txt"])
def test_nothing_outside_is_written_and_then_nothing_inside_either(folder: Folder, path: str) -> None:
    (folder.root / "link").symlink_to("..")
    with pytest.raises(ToolError):
        apply_patch(folder, f"{PATCH}--- /dev/null\n+++ {path}\n@@ -0,0 +1 @@\n+x\n")
    assert (folder.root / "a.txt").read_text() == TEXT
    assert not (folder.root.parent / "x.txt").exists()


def test_what_was_done_is_taken_back_when_a_later_file_cannot_be_written(folder: Folder) -> None:
    (folder.root / "b.txt").write_text("one\n")
    (folder.root / "b.txt").chmod(0o444)
    patch = PATCH + "--- /dev/null\n+++ b/n.txt\n@@ -0,0 +1 @@\n+x\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-one\n+uno\n"
    with pytest.raises(ToolError, match="write-protected"):
        apply_patch(folder, patch)
    assert tree(folder) == {"a.txt": TEXT.encode(), "b.txt": b"one\n"}


LINES = st.lists(st.sampled_from(["a", "b", "c", "- x", "+ y", "@@", ""]), max_size=12)


@settings(deadline=None)
@given(LINES, LINES, st.integers(0, 3))
def test_what_difflib_describes_is_what_comes_of_it(old: list[str], new: list[str], context: int) -> None:
    before, after = [[f"{line}\n" for line in lines] for lines in (old, new)]
    patch = "".join(difflib.unified_diff(before, after, "a.txt", "a.txt", n=context))
    if patch:
        [file] = parse(patch)
        assert _patched(before, file) == after
