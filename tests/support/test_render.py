"""Whatever a tool returns becomes text a model can read, and nothing it returns can break the run (T3)."""

from __future__ import annotations

import asyncio  # noqa: F401  # for the expressions of the cases
import dataclasses
import enum
import json
from collections import deque
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any, NamedTuple
from uuid import UUID

import pytest
from pydantic import BaseModel, SecretStr

from react_run.support.render import NO_OUTPUT, render

CASES = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "cases" / "results_hostile.jsonl").read_text("utf-8").splitlines()
]
RETURNED = [
    pytest.param(case, id=case["name"]) for case in CASES if case["how"] == "return" and not case["expect"]["is_error"]
]


@pytest.mark.parametrize("case", RETURNED)
def test_hostile_results_become_safe_text(case: dict[str, Any]) -> None:
    expect = case["expect"]
    text = render(eval(case["make"]))
    assert text.strip()
    text.encode()
    assert not [character for character in text if ord(character) < 32 and character not in "\n\t"]
    assert "\x7f" not in text
    for wanted in expect.get("sent_contains", []):
        assert wanted in text
    for refused in expect.get("never", []):
        assert refused not in text
    assert text == expect.get("sent_equals", text)


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    LOW = 1


class Word(enum.StrEnum):
    YES = "yes"


@dataclasses.dataclass
class Price:
    amount: Decimal
    when: date


class Pair(NamedTuple):
    left: int
    right: str


class Order(BaseModel):
    id: UUID
    total: Decimal
    key: SecretStr


ID = UUID("12345678-1234-4234-8234-123456789abc")
VALUES: list[tuple[object, str]] = [
    ("as is\n\tindented “quoted”", "as is\n\tindented “quoted”"),
    (None, NO_OUTPUT),
    ("", NO_OUTPUT),
    (b"", NO_OUTPUT),
    (True, "true"),
    (0, "0"),
    (1.5, "1.5"),
    (float("nan"), '"nan"'),
    ({"a": [1, None, "é"]}, '{"a": [1, null, "é"]}'),
    ([], "[]"),
    ((1, 2), "[1, 2]"),
    (Pair(1, "x"), '[1, "x"]'),
    (Decimal("1.10"), "1.10"),
    ([Decimal("1.10")], '["1.10"]'),
    (date(2025, 1, 2), "2025-01-02"),
    (datetime(2025, 1, 2, 3, 4, tzinfo=UTC), "2025-01-02T03:04:00+00:00"),
    (timedelta(hours=1), "1:00:00"),
    (PurePosixPath("/a/b"), "/a/b"),
    (Colour.RED, "red"),
    (Level.LOW, "1"),
    (Word.YES, "yes"),
    ({"c": Colour.RED, "l": Level.LOW}, '{"c": "red", "l": 1}'),
    (Price(Decimal("1.10"), date(2025, 1, 2)), '{"amount": "1.10", "when": "2025-01-02"}'),
    (
        Order(id=ID, total=Decimal("2.50"), key=SecretStr("hidden")),
        f'{{"id": "{ID}", "total": "2.50", "key": "**********"}}',
    ),
    ({3, 1, 2}, "[1, 2, 3]"),
    (frozenset({"b", "a", 1}), '[1, "a", "b"]'),
    (deque([1, 2]), "[1, 2]"),
    ({"a": 1}.keys(), '["a"]'),
    ({"a": 1}.values(), "[1]"),
    ({(1, 2): "x", None: 1, 3: 4}, '{"(1, 2)": "x", "None": 1, "3": 4}'),
    (b"text \xc3\xa9", "text é"),
    (b"caf\xe9", "caf\ufffd"),
    ({"data": b"\x00\x01"}, '{"data": "(2 bytes, binary data, sha256 b413f47d13ee2fe6…)"}'),
    (ValueError("bad"), "ValueError: bad"),
    ("a\r\nb\rc", "a\nb\\rc".replace("\\r", "\\x0d")),
    ("nul \x00 bell \x07 csi \x9b half \ud83d", "nul \\x00 bell \\x07 csi \\x9b half \ufffd"),
    (["nul \x00", "csi \x9b del \x7f", "half \ud83d"], '["nul \\u0000", "csi \\u009b del \\u007f", "half \ufffd"]'),
    (SimpleNamespace(a=1), "namespace(a=1)"),
    (10**5000, '"(an integer of 16610 bits)"'),
    (range(3), "range(0, 3)"),
]


@pytest.mark.parametrize(("value", "text"), VALUES, ids=lambda value: type(value).__name__)
def test_every_kind_of_value_has_its_text(value: object, text: str) -> None:
    assert render(value) == text


def test_json_results_are_readable_json() -> None:
    value = {"a": ["\x00\x9b\x7f", {"b": Decimal("0.1")}], "c": {1}}
    assert json.loads(render(value)) == {"a": ["\x00\x9b\x7f", {"b": "0.1"}], "c": [1]}


def test_objects_are_shown_the_same_in_every_run() -> None:
    # J3: an address in memory would make a replay differ.
    assert render(object()) == "<object object>"
    assert render({"f": render}) == '{"f": "<function render>"}'


class Raises:
    def __str__(self) -> str:
        raise KeyError("no")

    __repr__ = __str__


def _no_class(_: object) -> type:
    raise ZeroDivisionError


Lies = type("Lies", (), {"__class__": property(_no_class)})  # does not tell its class


class Endless(list[int]):
    def __iter__(self) -> Any:
        raise RecursionError


class Again:
    def tolist(self) -> object:
        return Again()


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise KeyError("no")

    def encode(self, *_: object) -> bytes:
        raise KeyError("no")


class Broken(BaseModel):
    data: bytes
    other: object


def cycle() -> list[object]:
    items: list[object] = [1]
    items.append({"self": items})
    return items


HOSTILE: list[tuple[object, str]] = [
    (Raises(), "(a Raises that cannot be shown: KeyError)"),
    ([1, Raises()], '[1, "(a Raises that cannot be shown: KeyError)"]'),
    ({Raises(): 1}, '{"(a Raises that cannot be shown: KeyError)": 1}'),
    (Lies(), "(a Lies that cannot be shown: ZeroDivisionError)"),
    (Endless([1]), '"(a Endless that cannot be shown: RecursionError)"'),
    (cycle(), '[1, {"self": "… (contains itself)"}]'),
    (Text("fine"), "fine"),
    ([Text("fine")], '["fine"]'),
    (Broken(data=b"\xff\x00", other=Raises()), ""),
    (Again(), ""),
]


@pytest.mark.parametrize(("value", "text"), HOSTILE, ids=lambda value: type(value).__name__)
def test_values_that_fight_back_are_named_not_raised(value: object, text: str) -> None:
    assert render(value).startswith(text)


def test_deep_results_are_cut_not_raised() -> None:
    deep: object = 0
    for _ in range(100_000):
        deep = [deep]
    assert "nested more deeply" in render(deep)


@pytest.mark.parametrize(
    "value",
    [
        ("x" * 99 + "\n") * 100_000,
        ("é" * 99 + "\n") * 50_000,
        list(range(200_000)),
        {str(i): i for i in range(300_000)},
    ],
    ids=["ascii", "text", "list", "dict"],
)
def test_large_results_are_rendered_whole(value: object) -> None:
    assert len(render(value)) > 1_000_000
