"""The draft on a terminal: what stands there, and that it can be taken away without a trace."""

from __future__ import annotations

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from react_run.cli.draft_area import DraftArea

COLUMNS, LINES = 20, 8


class Seen:
    """A terminal that remembers what has left its screen."""

    def __init__(self) -> None:
        self.screen = pyte.HistoryScreen(COLUMNS, LINES, history=1000)
        self.screen.set_mode(pyte.modes.LNM)
        self.stream = pyte.Stream(self.screen)

    def write(self, text: str) -> None:
        self.stream.feed(text)

    @property
    def rows(self) -> list[str]:
        gone = ["".join(row[x].data for x in range(COLUMNS)).rstrip() for row in self.screen.history.top]
        there = [row.rstrip() for row in self.screen.display]
        while there and not there[-1]:
            there.pop()
        return [*gone, *there]


@pytest.fixture(autouse=True)
def size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    monkeypatch.setenv("LINES", str(LINES))


@pytest.fixture
def seen() -> Seen:
    seen = Seen()
    seen.write("before\n")
    return seen


@pytest.mark.parametrize(
    ("pieces", "rows"),
    [
        (["one"], ["one"]),
        (["one", " two"], ["one two"]),
        (["one\n", "two"], ["one", "two"]),
        (["one\n\ntwo"], ["one", "", "two"]),
        (["many words that do ", "not fit"], ["many words that do", "not fit"]),
        (["many words that do n", "ot fit"], ["many words that do", "not fit"]),
        (["x" * 45], ["x" * 19, "x" * 19, "x" * 7]),
        (["日本語日本語日本語日本語"], ["日本語日本語日本語", "日本語"]),
        (["a\tb"], ["a   b"]),
    ],
)
def test_a_draft_stands_in_rows(seen: Seen, pieces: list[str], rows: list[str]) -> None:
    area = DraftArea()
    for piece in pieces:
        seen.write(area.add(piece))
    shown = [row.replace(" ", "") if row.startswith("日") else row for row in seen.rows]
    assert shown == ["before", *rows]
    assert area.is_whole


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(alphabet="ab \n", max_size=30), max_size=12))
def test_whatever_was_drafted_is_taken_away_without_a_trace(pieces: list[str]) -> None:
    seen, area = Seen(), DraftArea()
    seen.write("before\n")
    for piece in pieces:
        seen.write(area.add(piece))
    seen.write(area.erase() + "after\n")
    assert seen.rows == ["before", "after"]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(alphabet="ab \n", max_size=30), max_size=12))
def test_pieces_look_like_the_whole(pieces: list[str]) -> None:
    one, other, whole = Seen(), Seen(), "".join(pieces)
    area = DraftArea()
    for piece in pieces:
        one.write(area.add(piece))
    other.write(DraftArea().add(whole))
    assert one.rows == other.rows
    assert area.text == whole


def test_a_long_draft_shows_its_end(seen: Seen) -> None:
    area = DraftArea()
    for number in range(30):
        seen.write(area.add(f"row {number}\n"))
    assert not area.is_whole
    assert seen.rows == ["before", *(f"row {number}" for number in range(25, 30))]
