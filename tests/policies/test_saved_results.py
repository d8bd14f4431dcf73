"""Reading and searching saved results (behaviour T4)."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from react_run import RunResult, Tool
from react_run.policies import saved_results
from react_run.policies.spill import Spill, one_per_line
from react_run.support.files.run_files import safe_name
from react_run.support.preview import size_of
from react_run.testing import calls, run_agent, says

LINES = "".join(f"line {n}: {'é' * 40}\n" for n in range(2_000))


def after_big(*requests: tuple[str, dict[str, object]], text: str = LINES) -> RunResult:
    big = Tool.from_function(lambda: text, name="big", description="Big.")
    replies = [calls(("big", {})), *[calls(request) for request in requests], says("done")]
    return run_agent(replies, tools=[big])


def test_a_saved_result_can_be_read_to_its_end(workspace: Path) -> None:
    read, offset = "", 0
    while offset < len(LINES):
        result = after_big(("read_result", {"name": "1-big.txt", "offset": offset, "limit": 50_000}))
        shown, _, note = result.steps[1].observation.rpartition("\n[")
        assert size_of(result.steps[1].observation) <= 24_576  # never spilled again
        assert note
        read += shown
        offset += len(shown)
    assert read == LINES


def test_a_pattern_finds_lines_and_shows_where(workspace: Path) -> None:
    result = after_big(("search_result", {"name": "1-big.txt", "pattern": "^line 19[0-9]{2}:", "limit": 3}))
    first, *found = result.steps[1].observation.splitlines()
    assert "100 matches in 1-big.txt; 3 shown" in first
    assert [line.split(": ", 1)[0] for line in found] == [str(LINES.index(f"line 190{n}")) for n in range(3)]


@pytest.mark.parametrize(
    ("request_", "says_"),
    [
        (("read_result", {"name": "nope"}), "there are: 1-big.txt"),
        (("read_result", {"name": "../../../../etc/passwd"}), "no saved result is named"),
        (("read_result", {"name": "1-big.txt", "offset": -1}), "offset must be 0 or more"),
        (("read_result", {"name": "1-big.txt", "offset": 10**9}), "nothing at offset"),
        (("search_result", {"name": "1-big.txt", "pattern": "("}), "not a regular expression"),
        (("search_result", {"name": "1-big.txt", "pattern": "absent+"}), "no match"),
        (("search_result", {"name": "1-big.txt", "pattern": "absent"}), "no match"),
    ],
)
def test_what_cannot_be_read_says_why(workspace: Path, request_: tuple[str, dict[str, object]], says_: str) -> None:
    assert says_ in after_big(request_).steps[1].observation


def test_a_path_is_as_good_as_a_name(workspace: Path) -> None:
    result = after_big(("read_result", {"name": ".react-run/runs/x/spill/1-big.txt", "limit": 6}))
    assert result.steps[1].observation.startswith("line 0")


def test_a_pattern_that_takes_for_ever_is_stopped(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_results, "SEARCH_SECONDS", 0.5)
    started = time.perf_counter()
    result = after_big(("search_result", {"name": "1-big.txt", "pattern": "(é+)+$x"}), text="é" * 40_000)
    assert "use a simpler one" in result.steps[1].observation
    assert time.perf_counter() - started < 60  # without the limit it would take years


def test_a_saved_result_that_was_replaced_by_a_link_is_not_read(workspace: Path) -> None:
    secret = workspace / "secret"
    secret.write_text("the secret")

    def swap() -> str:
        """Put a link in the place of the saved result."""
        (file,) = workspace.rglob("1-big.txt")
        file.unlink()
        file.symlink_to(secret)
        return "swapped"

    big = Tool.from_function(lambda: LINES, name="big", description="Big.")
    replies = [calls(("big", {})), calls(("swap", {})), calls(("read_result", {"name": "1-big.txt"})), says("done")]
    result = run_agent(replies, tools=[big, swap])
    assert "can no longer be read" in result.steps[2].observation


@pytest.mark.parametrize("name", ["../../x", "a/b", "..", "", "x\0y", "a" * 300, "CON", "é", "~root"])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    saved = Spill().save(tmp_path, name, name, "text")
    (file,) = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != ".gitignore"]
    assert file.relative_to(tmp_path).as_posix() == saved.path
    assert len(file.relative_to(tmp_path).parts) == 5
    assert safe_name(name) not in ("", ".", "..")


def test_a_resumed_run_finds_what_it_saved_and_overwrites_nothing(tmp_path: Path) -> None:
    first = Spill().save(tmp_path, "run", "big", "text")
    assert Spill().save(tmp_path, "run", "big", "text") == first
    assert Spill().save(tmp_path, "run", "big", "other").name == "2-big.txt"
    assert (tmp_path / first.path).read_text() == "text"


def test_a_disk_that_is_full_leaves_no_half_file(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            Spill().save(tmp_path, "run", "big", "x" * 10_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.name != ".gitignore"]


@pytest.mark.parametrize("text", ["plain", "[1, 2", "", '["\\ud800"]', "[" * 5_000])
def test_what_is_no_data_stays_text(text: str) -> None:
    assert one_per_line(text) is None


def test_data_with_a_note_keeps_the_note() -> None:
    assert one_per_line('[1,{"a":2}]\n\n[Arguments corrected: x]') == '[\n1,\n{"a":2}\n]\n\n[Arguments corrected: x]'


def test_a_text_that_looks_alike_is_saved_apart(tmp_path: Path) -> None:
    spill = Spill()
    texts = ["x" * 1_000 + mark + "x" * 5_000 for mark in "ab"]
    names = [spill.save(tmp_path, "run", "big", text).name for text in [*texts, texts[0]]]
    assert [spill.read(tmp_path, name) for name in names] == [*texts, texts[0]]
    (tmp_path / spill.names["2-big.txt"]).unlink()
    assert spill.save(tmp_path, "run", "big", texts[1]).name != "2-big.txt"
