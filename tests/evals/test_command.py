"""``react-run eval`` as its users call it."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.cli.command_line import Call
from tests.cli.conftest import call as call
from tests.evals.eval_agents import AGENT, CASES

from react_run.journal.locate import find_run


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "agent.yaml").write_text(AGENT)
    (tmp_path / "cases.yaml").write_text(CASES)
    return tmp_path


def test_the_report_lists_what_fails_first_and_ends_in_a_sentence(files: Path, call: Call) -> None:
    status, out, err = call("eval", "agent.yaml", "cases.yaml", "--repeat", "3")
    assert status == 0
    lines = out.splitlines()
    assert lines[0] == "wrong  ✗✗✗  answer: expected '360', got '345'"
    assert lines[1] == "2 of 3 cases always pass."
    assert "passes 66.7 %" in out
    assert lines[-1].startswith("sums passes 66.7 % [")
    assert lines[-1].endswith("of its runs (3 cases x 3; 95 % interval, by case).")
    assert "saved in " in err


def test_the_result_is_json_and_marks_lead_to_runs(files: Path, call: Call) -> None:
    status, out, _ = call("eval", "agent.yaml", "cases.yaml", "--json", "-q")
    result = json.loads(out)
    assert status == 0
    run = result["cases"][0]["variants"]["sums"]["runs"][0]
    assert find_run(run).stem == run
    assert call("trace", run)[0] == 0


def test_a_directory_that_cannot_be_made_is_wrong_use(files: Path, call: Call) -> None:
    (files / "file").write_text("")
    status, out, err = call("eval", "agent.yaml", "cases.yaml", "-o", "file/results")
    assert (status, out) == (2, "")
    assert "cannot write file/results: Not a directory" in err


def test_gates_decide_the_exit_status(files: Path, call: Call) -> None:
    assert call("eval", "agent.yaml", "cases.yaml", "--min-pass", "0.6")[0] == 0
    status, out, _ = call("eval", "agent.yaml", "cases.yaml", "--min-pass", "0.7")
    assert status == 1
    assert "✗ sums passes 66.7 %; at least 70 % is required" in out


def test_no_worse_than_needs_enough_cases_to_tell(files: Path, call: Call) -> None:
    assert call("eval", "agent.yaml", "cases.yaml", "-o", "before")[0] == 0
    arguments = ("eval", "agent.yaml", "cases.yaml", "--baseline", "before")
    status, out, _ = call(*arguments, "--no-worse-than", "0.1")
    assert status == 1
    assert "there are not enough cases to tell" in out
    assert call(*arguments, "--no-worse-than", "0.9")[0] == 0
    assert call("eval", "agent.yaml", "cases.yaml", "--no-worse-than", "0.1")[0] == 2


def test_a_baseline_of_other_cases_is_refused_with_the_difference(files: Path, call: Call) -> None:
    assert call("eval", "agent.yaml", "cases.yaml", "-o", "before")[0] == 0
    (files / "cases.yaml").write_text(CASES.replace("15*24", "15*25").replace("name: used", "name: new"))
    status, _, err = call("eval", "agent.yaml", "cases.yaml", "--baseline", "before")
    assert status == 2
    assert "only 1 of 3 cases are in the baseline before; 80 % must be" in err
    assert "not in the baseline: new" in err
    assert "changed since: wrong" in err
    (files / "foreign.json").write_text('{"a": 1}')
    status, _, err = call("eval", "agent.yaml", "cases.yaml", "--baseline", "foreign.json")
    assert status == 2
    assert "foreign.json is not a result of react-run eval" in err


def test_what_a_baseline_lacks_is_left_out_of_the_comparison(files: Path, call: Call) -> None:
    several = [f'  - {{name: "{number}", prompt: "ask {number}", expected: 345}}\n' for number in range(8)]
    (files / "cases.yaml").write_text("cases:\n" + "".join(several))
    call("eval", "agent.yaml", "cases.yaml", "-o", "before")
    (files / "cases.yaml").write_text("cases:\n" + "".join([*several, "  - {name: new, prompt: x}\n"]))
    status, out, _ = call("eval", "agent.yaml", "cases.yaml", "--baseline", "before/result.json", "--json")
    assert status == 0
    assert json.loads(out)["comparison"]["cases"] == 8


def test_cases_are_chosen_by_name_and_tag(files: Path, call: Call) -> None:
    for arguments, names in (
        (("-k", "r"), ["right", "wrong"]),
        (("--tag", "hard"), ["wrong"]),
        (("--tag", "hard", "--tag", "easy"), ["right", "wrong"]),
    ):
        out = call("eval", "agent.yaml", "cases.yaml", "--json", *arguments)[1]
        assert [case["name"] for case in json.loads(out)["cases"]] == names
    status, _, err = call("eval", "agent.yaml", "cases.yaml", "--tag", "hart")
    assert status == 2
    assert "no case has the tag hart. Did you mean 'hard'? Tags: easy, hard" in err


def test_two_models_of_one_agent_are_compared(files: Path, call: Call) -> None:
    other = '{kind: scripted, replies: ["360"]}'
    status, out, _ = call("eval", "agent.yaml", "cases.yaml", "-m2", other, "--json")
    assert status == 0
    result = json.loads(out)
    assert [variant["name"] for variant in result["variants"]] == ["scripted (1)", "scripted (2)"]
    assert (result["comparison"]["gained"], result["comparison"]["lost"]) == (1, 2)


def test_compare_with_one_thing_at_a_time(files: Path, call: Call) -> None:
    status, _, err = call("eval", "agent.yaml", "cases.yaml", "-m2", "offline", "--baseline", "x")
    assert status == 2
    assert "compare with one thing at a time: -m2 or --baseline" in err


def test_a_missing_key_is_said_before_the_first_case(files: Path, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    status, _, err = call("eval", "agent.yaml", "cases.yaml", "-m", "openai/gpt-4o-mini")
    assert status == 2
    assert "set OPENAI_API_KEY" in err
    judge = "{kind: judge, model: anthropic/claude-3-5-haiku-latest, rubric: is polite}"
    (files / "cases.yaml").write_text(f"scorers: [{judge}]\ncases: [{{name: a, prompt: x}}]\n")
    status, _, err = call("eval", "agent.yaml", "cases.yaml")
    assert status == 2
    assert "the scorer judge: no key for its model: set ANTHROPIC_API_KEY" in err
    assert not (files / "home" / "data" / "evals").exists()


def test_more_errors_than_five_in_100_are_said_and_have_a_status(files: Path, call: Call) -> None:
    broken = "{error: {message: gone, status: 404}}"
    (files / "cases.yaml").write_text(f"{CASES}  - {{name: bad, prompt: x, replies: [{broken}]}}\n")
    status, out, _ = call("eval", "agent.yaml", "cases.yaml")
    assert status == 3
    assert "The figures of sums are doubtful: 1 of 4 runs were errors, which are not counted." in out


def test_the_same_command_goes_on_with_what_is_unfinished_and_begins_anew_after_it(files: Path, call: Call) -> None:
    (files / "agent.yaml").write_text(AGENT + "limits: {max_cost: 1}\n")
    status, _, err = call("eval", "agent.yaml", "cases.yaml", "--max-cost", "1.01", "-j", "1")
    assert status == 5
    assert "the same command continues the evaluation" in err
    status, _, err = call("eval", "agent.yaml", "cases.yaml")
    assert status == 0
    kept = files / "home" / "data" / "evals"
    assert len(list(kept.iterdir())) == 1
    assert call("eval", "agent.yaml", "cases.yaml")[0] == 0
    assert len(list(kept.iterdir())) == 2


def test_kept_runs_are_scored_again_by_changed_expectations(files: Path, call: Call) -> None:
    assert call("eval", "agent.yaml", "cases.yaml", "-o", "kept")[0] == 0
    (files / "cases.yaml").write_text(CASES.replace("expected: 360", "expected: 345"))
    status, _, err = call("eval", "agent.yaml", "cases.yaml", "-o", "kept")
    assert status == 2
    assert "--rescore kept" in err
    status, out, _ = call("eval", "agent.yaml", "cases.yaml", "--rescore", "kept", "--json")
    assert status == 0
    assert json.loads(out)["variants"][0]["rate"]["value"] == 1.0


def test_test_and_eval_read_the_same_files(files: Path, call: Call) -> None:
    status, out, _ = call("test", "agent.yaml", "cases.yaml")
    assert status == 1
    assert "answer: expected '360', got '345'" in out
    assert "2 passed, 1 failed" in out


def test_what_asks_a_model_to_mark_is_not_for_test(files: Path, call: Call) -> None:
    judge = "{kind: judge, model: openai/gpt-4o-mini, rubric: is polite}"
    (files / "cases.yaml").write_text(f"cases: [{{name: a, prompt: x, scorers: [{judge}]}}]\n")
    status, _, err = call("test", "agent.yaml", "cases.yaml")
    assert status == 2
    assert "a: the scorer judge asks a model; use react-run eval for that" in err


def test_hostile_names_and_answers_steer_no_terminal(files: Path, call: Call) -> None:
    (files / "cases.yaml").write_text(
        'cases: [{name: "a\\e[31mred", prompt: x, expected: "\\e[2J", replies: ["\\e]0;title\\a"]}]\n'
    )
    out = call("eval", "agent.yaml", "cases.yaml")[1]
    assert "\x1b" not in out


def test_junit_and_csv_have_a_line_for_each_case_or_run(files: Path, call: Call) -> None:
    arguments = ("--export", "junit", "out.xml", "--export", "csv", "out.csv", "--repeat", "2", "--min-pass", "0.9")
    assert call("eval", "agent.yaml", "cases.yaml", *arguments)[0] == 1
    suite = ElementTree.parse(files / "out.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "2", "0")
    lines = (files / "out.csv").read_text().splitlines()
    assert len(lines) == 7
    assert lines[0].startswith("case,variant,repeat,outcome,answer,why")


def test_replies_of_a_foreign_file_drive_no_trusted_agent(files: Path, call: Call, tmp_path: Path) -> None:
    (files / "agent.yaml").write_text("model: offline\ntoolsets: [shell]\n")
    assert call("trust", str(files))[0] == 0
    foreign = tmp_path.parent / f"{tmp_path.name}-foreign"
    foreign.mkdir()
    run = "{tool_calls: [{name: run_command, arguments: {command: 'touch made'}}]}"
    (foreign / "cases.yaml").write_text(f"cases: [{{name: a, prompt: x, replies: [{run}, done]}}]\n")
    for command in ("test", "eval"):
        status, _, err = call(command, "agent.yaml", str(foreign / "cases.yaml"))
        assert status == 2, err
        assert "only in a trusted directory" in err
    assert not (files / "made").exists()
