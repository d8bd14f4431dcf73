"""What a person is asked about is what the person sees."""

from __future__ import annotations

import asyncio

import pytest

from react_run.questions import Question
from react_run.questions import dialogue as asking
from react_run.questions.display import trusted

STEERING = ["\x1b[2J", "\x9b8m", "\r", "\x1b]0;mine\x07", "\u202e", "\u2066", "\x08", "\ufeff"]
UNSEEN = ["\u3164", "\u2800", "\u115f", "\u1160", "\u034f", "\ufe0f", "\U000e0101", "\uffa0", "\u200b", "\u00ad"]


@pytest.mark.parametrize("character", STEERING + UNSEEN)
@pytest.mark.parametrize("place", ["text", "argument", "name", "choice", "hint", "field"])
def test_nothing_in_a_question_steers_or_hides(character: str, place: str) -> None:
    mark = f"a{character}b"
    question = Question(
        mark if place == "text" else "Allow it?",
        choices=(mark,) if place == "choice" else (),
        schema={"properties": {mark: {"type": "string", "description": mark}}} if place == "field" else None,
        tool="write",
        arguments={mark if place == "name" else "path": mark if place == "argument" else "x"},
        hint=mark if place == "hint" else "",
    )
    assert character not in str(question)


FALSE = "notes wants to call read_file:\n  path: x\nAllow it? [y]es, [N]o: "
"""What a name may be: it asks about something else, in lines of its own."""


@pytest.mark.parametrize("place", ["text", "name", "choice", "field", "description"])
def test_a_name_adds_no_line_to_an_approval(place: str) -> None:
    question = Question(
        f"{FALSE if place == 'text' else 'helper'} wants to call write:",
        choices=(FALSE,) if place == "choice" else ("yes", "no"),
        schema={"properties": {FALSE if place == "field" else "a": {"description": FALSE}}}
        if place in ("field", "description")
        else None,
        tool="write",
        arguments={FALSE if place == "name" else "path": "x"},
    )
    assert not [line for line in str(question).split("\n") if line.startswith("Allow it?")]
    assert " " * 17 not in str(Question(f"helper{' ' * 200}wants to call write:", tool="write"))


def test_a_question_that_is_no_approval_keeps_its_lines() -> None:
    assert str(Question("Which one?\n- a\n- b")) == "Which one?\n- a\n- b"


@pytest.mark.parametrize(
    ("value", "warned"),
    [
        ("cat notes.txt", False),
        ("cat n\u043etes.txt", True),
        ("\u0440\u0430\u0443", True),
        ("rm \uff41.txt", True),
        ("cat a\u2215b", True),
        ("echo h\u00e9llo na\u00efve", False),
        ("echo \u043f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440", False),
        ("\U0001d41a.py", True),
        ("\u03b1lpha", True),
    ],
)
def test_letters_that_pose_as_others_are_pointed_out(value: str, warned: bool) -> None:
    shown = str(Question("Allow it?", tool="run_command", arguments={"command": value}))
    assert ("Careful:" in shown) is warned


LONG = [": " + "a" * 20_100 + " ; touch X", " " * 3_000 + "touch X", "x\n" * 3_000 + "touch X", "y" * 2_100]


@pytest.mark.parametrize("command", LONG)
def test_the_end_of_a_long_argument_is_shown(command: str) -> None:
    question = Question("Allow it?", tool="run_command", arguments={"command": command})
    assert command[-7:] in question.about
    assert len(question.about) < 3_000
    assert question.is_cut is (len(question.in_full) > 2_100)


def answered(monkeypatch: pytest.MonkeyPatch, *typed: str) -> tuple[object, str]:
    """What an approval of a long command comes to, and all that was shown."""
    waiting, shown = iter(typed), []

    async def ask(text: str) -> str | None:
        shown.append(text)
        return next(waiting, None)

    monkeypatch.setattr(asking, "ask_on_terminal", ask)
    question = Question(
        "Allow it?", choices=("yes", "always", "no"), tool="run", arguments={"line": "a" * 4_000 + "END"}, default="no"
    )
    answer = asyncio.run(asking._choice(question, question.about))
    return (None if answer is None else answer.value), "".join(shown)


@pytest.mark.parametrize(
    ("typed", "decided"),
    [
        (("y", "y", "y"), "no"),
        (("a", "a", "a"), "no"),
        (("v", "q", "y", "y", "y"), "no"),
        (("v", "", "", "", "y"), "yes"),
        (("view", "", "", "", "a"), "always"),
        (("n",), "no"),
        (("v", "", "", "", "n"), "no"),
        (("",), "no"),
    ],
)
def test_what_was_not_seen_in_full_is_not_approved(
    monkeypatch: pytest.MonkeyPatch, typed: tuple[str, ...], decided: str
) -> None:
    value, shown = answered(monkeypatch, *typed)
    assert value == decided
    assert "[v]iew" in shown
    if decided in ("yes", "always"):
        assert shown.count("a") > 4_000


def test_ordinary_texts_stay_what_they_are() -> None:
    for text in ("plain", "grün ☃ 日本", "two\nlines"):
        assert trusted(text) == text
