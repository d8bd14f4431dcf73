"""Every agent file of the case table: what must be reported, where, and what must never be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from react_run.config import AgentFileError, ReActAgentConfig, load_config

CASES = Path(__file__).parent.parent / "cases" / "yaml_bad"
ROWS = [json.loads(line) for line in (CASES / "index.jsonl").read_text(encoding="utf-8").splitlines()]


ABOUT = {"file", "position", "depends_on_schema", "why", "policy", "note"}
SETUP = {"env", "trusted"}
EXPECTED = {"expect", "code", "line", "column", "contains", "exit_code"}


def load(case: dict[str, object]) -> ReActAgentConfig:
    environment = case.get("env", {})
    assert isinstance(environment, dict)
    return load_config(CASES / str(case["file"]), environment=environment, trusted=bool(case.get("trusted")))


def named(**wanted: object) -> list[dict[str, object]]:
    return [row for row in ROWS if all(row[key] == value for key, value in wanted.items())]


@pytest.mark.parametrize("case", named(expect="error"), ids=lambda case: case["file"])
def test_a_bad_file_is_reported_with_code_and_position(case: dict[str, object]) -> None:
    with pytest.raises(AgentFileError) as caught:
        load(case)
    found = [problem.to_dict() for problem in caught.value.problems]
    places = [(problem["line"], problem["column"]) for problem in found if problem["code"] == case["code"]]
    assert (case["line"], case["column"]) in places, found
    assert (case["line"] is None) == (case["position"] == "whole file")
    wanted, unwanted = case["contains"], case.get("never", [])
    assert isinstance(wanted, list)
    assert isinstance(unwanted, list)
    text = str(caught.value)
    assert all(part in text for part in wanted), text
    assert not any(part in text or part in json.dumps(found) for part in unwanted), text
    assert all(part in json.dumps(case["env"]) for part in unwanted)  # or it could not be told
    assert caught.value.exit_status == case["exit_code"]
    assert case.keys() <= {*ABOUT, *SETUP, *EXPECTED, "never"}


@pytest.mark.parametrize("case", named(expect="ok"), ids=lambda case: case["file"])
def test_a_good_file_raises_no_false_alarm(case: dict[str, object]) -> None:
    config = load(case)
    wanted = case["then"]
    assert isinstance(wanted, dict)
    for path, value in wanted.items():
        assert at(config, path) == value
    assert [case[key] for key in ("code", "line", "column", "contains", "exit_code")] == [None, None, None, [], 0]
    assert case.keys() <= {*ABOUT, *SETUP, *EXPECTED, "then"}


def at(config: ReActAgentConfig, path: str) -> object:
    if path == "model":
        return config.model_id
    found: object = config
    for part in path.split("."):
        found = found[part] if isinstance(found, dict) else getattr(found, part)
    return found


def test_every_file_of_the_table_is_there_and_used() -> None:
    listed = {row["file"] for row in ROWS}
    assert listed | {"helper.yaml"} == {path.name for path in CASES.glob("*.yaml")}
