"""The team: a lead hands tasks to a researcher and a calculator, as it is, without a key (behaviour X1)."""

from __future__ import annotations

import json
from pathlib import Path

from react_run import ReActAgent, ReActAgentConfig

TEAM = Path(__file__).parents[2] / "agents" / "team.yaml"


def test_the_team_works_together() -> None:
    result = ReActAgent.from_yaml(TEAM).run_sync("How long is the Ridge Walk in km?")
    research, mile, total = (json.loads(step.observation) for step in result.steps)
    assert (research["status"], research["iterations"]) == ("ok", 2)
    assert "9.5 miles" in research["answer"]
    assert mile["answer"].endswith("1.609344 km") or "1.609344" in mile["answer"]
    assert "55.522368" in total["answer"]
    assert [step.iteration for step in result.steps] == [1, 1, 2]
    assert (result.success, result.answer.rpartition(" or ")[2]) == (True, "55.52 km.")


def test_it_needs_no_trust() -> None:
    ReActAgent(ReActAgentConfig.from_yaml(TEAM, trusted=False))
