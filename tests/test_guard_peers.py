"""The comparison with other runtimes: its scenarios end well on ours, its table says what was seen."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from benchmarks.guards.peers.compare import BEGIN, END, words
from benchmarks.guards.peers.scenarios import SCENARIOS, Scenario
from benchmarks.guards.peers.trial import outcome

DOCUMENT = (Path(__file__).parent.parent / "docs" / "guards.md").read_text(encoding="utf-8")
LOSES = {"polling a job", "counting, three times in a row", "counting, three times in one reply"}
"""Where our defaults lose, since nobody says that these tools may be called again: the document says so."""
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
CAME = {"answer": "It is 30.", "claims": True, "error": "", "right": True, "twice": False, "huge": False}


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_each_scenario_ends_well_with_the_options_on(scenario: Scenario) -> None:
    came = outcome("react-run", True, scenario)
    assert words(scenario, came)[1], came


@pytest.mark.parametrize(
    "name", ["nothing is wrong", "paying again, three times", "a claim after a failed payment", *sorted(LOSES)]
)
def test_the_defaults_end_well_where_the_document_says_so(name: str) -> None:
    came = outcome("react-run", False, BY_NAME[name])
    assert words(BY_NAME[name], came)[1] is (name not in LOSES), came


@pytest.mark.parametrize(
    ("hopeless", "differs", "said", "fine"),
    [
        (False, {}, "well", True),
        (False, {"right": False}, "**false success**", False),
        (False, {"right": False, "claims": False}, "gives up", False),
        (False, {"right": False, "answer": ""}, "returns nothing as a success", False),
        (False, {"right": False, "error": "Boom"}, "raises Boom", False),
        (False, {"twice": True}, "**done twice**", False),
        (False, {"huge": True}, "10 MB sent on", False),
        (False, {"ends": "does not end"}, "does not end", False),
        (True, {"right": False, "claims": False}, "well", True),
        (True, {"right": False, "error": "Boom"}, "well, raises Boom", True),
        (True, {"right": False}, "**false success**", False),
        (True, {"right": False, "claims": False, "twice": True}, "**done twice**", False),
    ],
)
def test_how_a_run_ended_is_put_into_words(hopeless: bool, differs: dict[str, Any], said: str, fine: bool) -> None:
    scenario = next(scenario for scenario in SCENARIOS if scenario.hopeless is hopeless)
    assert words(scenario, {**CAME, **differs}) == (said, fine)


def test_there_are_at_least_fifteen_scenarios_each_in_the_table() -> None:
    assert len(BY_NAME) == len(SCENARIOS) >= 15
    made = DOCUMENT.partition(BEGIN)[2].partition(END)[0]
    assert re.findall(r"^\| ([^|*]+?) \| ", made, re.MULTILINE) == ["scenario", *BY_NAME]
