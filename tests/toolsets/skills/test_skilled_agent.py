"""The agent file that shows skills: it runs with the scripted and with the offline model, and its skills are valid."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from skills_ref import validate  # type: ignore[import-untyped]  # it ships no types

from react_run import ReActAgent, ReActAgentConfig, ScriptedModel
from react_run.testing import calls, says

ROOT = Path(__file__).parents[3]
AGENT = ROOT / "agents" / "skilled.yaml"
SELECTOR = "activate_tool_skill"


@pytest.mark.parametrize("folder", sorted((ROOT / "agents" / "skills").iterdir()), ids=lambda folder: folder.name)
def test_the_skills_that_ship_are_valid(folder: Path) -> None:
    assert validate(folder) == []


def test_it_needs_no_trust() -> None:
    ReActAgentConfig.from_yaml(AGENT, trusted=False)


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [("15*23", "345"), ("How many days are there between 2026-01-01 and 2026-03-01?", "59")],
)
def test_it_answers_with_the_offline_model(prompt: str, answer: str) -> None:
    result = ReActAgent.from_yaml(AGENT, model="offline").run_sync(prompt)
    assert result.success
    assert answer in result.answer
    assert result.steps[0].action == SELECTOR
    assert result.disclosure is not None
    assert result.disclosure["prompt_tokens_saved"] != 0


def test_a_scripted_model_checks_an_invoice_with_it() -> None:
    model = ScriptedModel(
        replies=[
            calls((SELECTOR, {"skill": "invoice-check"})),
            calls(("read_skill_file", {"skill": "invoice-check", "path": "references/rules.md"})),
            calls(
                ("calculate", {"expression": "round(3 * 19.95, 2)"}),
                ("add_calendar_period", {"date": "2026-01-31", "months": 1}),
                ("convert_units", {"value": 1, "from_unit": "mi", "to_unit": "km"}),
            ),
            says("The line comes to 59.85; it is due on 2026-02-28."),
        ]
    )
    result = ReActAgent(ReActAgentConfig.from_yaml(AGENT), model=model).run_sync("3 at 19.95 = 59.85, due in 1 month?")
    body, rules, line, due, other = result.steps
    activation = json.loads(body.observation)
    assert activation["instructions"].startswith("# Checking an invoice")
    assert activation["files"] == ["references/rules.md"]
    assert "next_action" in activation
    assert rules.observation.startswith("# Rules for invoices")
    assert (json.loads(line.observation)["value"], json.loads(due.observation)["status"]) == ("59.85", "ok")
    assert (other.error_code, other.executed) == ("tool_not_disclosed", False)  # the skill does not allow it
    assert [tool.name for tool in model.requests[0].tools] == [SELECTOR]
    assert len(model.requests[1].tools) == 7  # the selector, five allowed tools, and the one that reads its files
