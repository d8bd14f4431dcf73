"""A process killed at any instant: what was done is never done again, and the answer is the same (behaviour J4)."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.journal.killed import ANSWER

from react_run.journal.reading import Journal, read_journal
from react_run.messages import Message

Order = Callable[..., dict[str, Any]]
ONCE = ("append", "sink")


@pytest.fixture(scope="module")
def order() -> Iterator[Order]:
    """Has the agent run, or its run resumed, in a process of its own."""
    root = Path(__file__).parent.parent.parent
    program = [sys.executable, "-m", "tests.journal.killed"]
    with subprocess.Popen(program, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def give(folder: Path, *, after: float | None = None, at: tuple[int, str] | None = None) -> dict[str, Any]:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps({"folder": str(folder), "after": after, "at": at}) + "\n")
            process.stdin.flush()
            done: dict[str, Any] = json.loads(process.stdout.readline())
            return done

        yield give
        process.kill()


@pytest.fixture(scope="module")
def undisturbed(order: Order, tmp_path_factory: pytest.TempPathFactory) -> Journal:
    folder = tmp_path_factory.mktemp("undisturbed")
    assert order(folder) == {"status": 0, "answer": ANSWER}
    return read_journal(folder / "run.jsonl")


def until_it_ends(order: Order, folder: Path) -> dict[str, Any]:
    done = order(folder)
    assert done == {"status": 0, "answer": ANSWER}, done
    return done


def check(folder: Path, undisturbed: Journal, kills: int = 1) -> None:
    """Nothing happened twice that must not, what did not happen is said to be unknown, and the rest is the same."""
    happened = (folder / "side").read_text().splitlines()
    once = [line for line in happened if line.startswith(ONCE)]
    assert len(once) == len(set(once)), happened
    journal = read_journal(folder / "run.jsonl")
    assert journal.footer is not None
    unknown = []
    for use in (use for iteration in journal.iterations for use in iteration.tools if use.executed):
        line = f"{use.name} {use.arguments['token']}"  # type: ignore[index]  # these tools have that argument
        if "outcome is unknown" in str(use.content):
            assert use.name in ONCE
            unknown.append(use.id)
        else:
            assert line in happened
    assert len(unknown) <= 2 * kills  # at most two of them run at once
    assert known(journal.messages, unknown) == known(undisturbed.messages, unknown)


def known(messages: Any, unknown: list[str]) -> list[Message]:
    return [message for message in messages if message.tool_request_id not in unknown]


@pytest.mark.parametrize("how", ["before", "within", "after"])
@pytest.mark.parametrize("part", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_a_run_killed_at_any_record_goes_on_where_it_was(
    tmp_path: Path,
    order: Order,
    undisturbed: Journal,
    how: str,
    part: int,
    record_property: Callable[[str, object], None],
) -> None:
    places = range(1 + part, len(undisturbed.records) + 1, 3)
    record_property("faults", len(places))
    for record in places:
        folder = tmp_path / str(record)
        folder.mkdir()
        assert order(folder, at=(record, how))["status"] == 9
        if how == "after" and record == len(undisturbed.records):
            continue  # it had just ended
        until_it_ends(order, folder)
        check(folder, undisturbed)


@pytest.mark.slow
def test_a_run_killed_at_two_hundred_random_instants_goes_on_where_it_was(
    tmp_path: Path, order: Order, undisturbed: Journal, record_property: Callable[[str, object], None]
) -> None:
    chance = random.Random(8)
    span = undisturbed.stats.seconds * 1.5
    killed = 0
    for number in count():
        folder = tmp_path / str(number)
        folder.mkdir()
        kills = 0
        while (done := order(folder, after=chance.uniform(0.0, span)))["status"] == 9:  # also while it resumes
            kills += 1
        if "answer" not in done:
            assert "has ended" in done["error"], done
        check(folder, undisturbed, kills)
        killed += kills
        if killed >= 200:
            break
    record_property("faults", killed)


def test_a_run_killed_again_and_again_still_comes_to_its_end(
    tmp_path: Path, order: Order, undisturbed: Journal
) -> None:
    for kills in range(len(undisturbed.records)):  # each time it gets at least one record further
        if order(tmp_path, at=(7, "within"))["status"] != 9:
            check(tmp_path, undisturbed, kills)
            return
    pytest.fail("it did not get any further")
