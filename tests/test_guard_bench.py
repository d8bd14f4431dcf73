"""The guard bench finds nothing, and docs/guards.md says what it found."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.guards.behaviours import BEHAVIOURS
from benchmarks.guards.bench import CLAIMED, RIGHT
from benchmarks.guards.driving import Driven, drive
from benchmarks.guards.report import BEGIN, END, updated
from benchmarks.guards.reworded import in_other_words
from benchmarks.guards.running import guards

from react_run.policies.duplicate_calls import ALIKE, ONCE, SAME
from react_run.policies.last_answer import ASK
from react_run.policies.reply_checks import EMPTY
from react_run.policies.stuck import NUDGE

ROOT = Path(__file__).parent.parent
DOCUMENT = (ROOT / "docs" / "guards.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_every_behaviour_ends_as_it_must_and_every_guard_is_needed() -> None:
    command = [sys.executable, "-m", "benchmarks.guards", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_many_behaviours_each_with_a_name_of_its_own() -> None:
    names = Counter(behaviour.name for behaviour in BEHAVIOURS)
    assert len(names) == len(BEHAVIOURS) >= 45
    assert {behaviour.persona for behaviour in BEHAVIOURS} == {"obedient", "slow", "stubborn"}
    assert sum(behaviour.quiet for behaviour in BEHAVIOURS) >= 5


def test_right_agents_are_as_many_as_those_that_misbehave() -> None:
    wrong = [behaviour for behaviour in BEHAVIOURS if not behaviour.quiet]
    names = Counter(driven.name for driven in (*RIGHT, *CLAIMED))
    assert len(names) == len(RIGHT) + len(CLAIMED)
    assert len(RIGHT) + sum(behaviour.quiet for behaviour in BEHAVIOURS) >= len(wrong) + len(CLAIMED)
    assert all(driven.right for driven in RIGHT)
    assert not any(driven.right for driven in CLAIMED)


@pytest.mark.parametrize("driven", [next(iter(RIGHT)), RIGHT[-1]], ids=lambda driven: driven.name)
def test_an_answer_or_a_success_that_is_taken_away_is_a_false_void(driven: Driven) -> None:
    fine = asyncio.run(drive(driven))
    assert fine.result is not None
    assert (fine.problem, fine.false_void, fine.false_success) == ("", False, False)
    for spoilt in (replace(fine.result, success=False), replace(fine.result, answer="Unresolved: …")):
        assert "a false void" in replace(fine, result=spoilt).problem
    assert "a false success" in replace(fine, sound=False).problem
    assert replace(fine, result=replace(fine.result, success=False), sound=False).problem


@pytest.mark.parametrize(
    "text", [SAME, ALIKE, ONCE, EMPTY, ASK, NUDGE, "Error: unknown tool 'fetsh'. Available tools: fetch."]
)
def test_rewording_leaves_no_phrase_of_ours_and_every_fact(text: str) -> None:
    told = f"{text} page 7: number 42. 3-fetch.txt CODE=3fade1"
    other = in_other_words(told, frozenset({"page", "number", "fetch", "fetsh"}))
    assert other.endswith(" page 7: number 42. 3-fetch.txt CODE=3fade1")
    words = [word for word in re.findall(r"[A-Za-z]{4,}", text.format(iteration=3)) if word not in ("fetch", "fetsh")]
    kept = [word for word in words if re.search(rf"\b{word}\b", other)]
    assert len(kept) <= len(words) // 10, kept


def test_the_document_explains_every_guard_and_no_other() -> None:
    explained = {
        name
        for heading in re.findall(r"^### (.+)$", DOCUMENT, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", heading)
    }
    assert explained == set(guards())


def test_the_document_lists_every_behaviour() -> None:
    rows = re.findall(r"^\| ([^|`]+) \| (?:clean|obedient|slow|stubborn) \|", DOCUMENT, re.MULTILINE)
    assert rows == [behaviour.name for behaviour in BEHAVIOURS]


def test_only_the_tables_of_the_document_are_replaced() -> None:
    assert updated(f"before\n{BEGIN}\nold\n{END}\nafter\n", "new") == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"
