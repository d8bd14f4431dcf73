"""Evaluations from their plan to their result: errors apart from fails, interruptions, repeats, rescoring."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.evals.eval_agents import USED, answering, case, lasting, outcomes

from react_run import ReActAgent, tool
from react_run.batch.running import BatchHalted
from react_run.errors import ConfigError
from react_run.evals.plan import Plan, Variant
from react_run.evals.rescoring import rescored
from react_run.evals.results import Result
from react_run.evals.running import Evaluation, run_eval
from react_run.evals.samples import read_samples
from react_run.messages import ModelRequest
from react_run.models.scripted import ScriptedModel
from react_run.testing import Functions, calls, says


def measured(directory: Path, reply: Any, cases: list[Any], **options: Any) -> Result:
    agent = reply if isinstance(reply, ReActAgent) else answering(reply)
    return asyncio.run(run_eval(agent, cases, directory=directory, **options))


def test_a_result_has_the_rate_with_its_interval_and_a_mark_for_each_run(tmp_path: Path) -> None:
    cases = [case("a", expected="yes"), case("b", expected="no"), case("c", expected="yes", repeat=1)]
    result = measured(tmp_path, says("yes", usage=USED), cases, repeat=3)
    (variant,) = result["variants"]
    assert (variant["runs"], variant["passed"], variant["failed"], variant["errors"]) == (7, 4, 3, 0)
    assert variant["rate"]["value"] == pytest.approx(2 / 3)
    assert variant["rate"]["low"] < 0.3
    assert [found["variants"]["scripted"]["marks"] for found in result["cases"]] == ["ppp", "fff", "p"]
    assert variant["passes_of"]["3"] == {"any": 0.5, "all": 0.5}
    assert variant["cost"]["value"] == pytest.approx(0.01)
    assert variant["tokens"]["value"] == 110


def test_every_mark_leads_to_the_journal_of_its_run(tmp_path: Path) -> None:
    result = measured(tmp_path, "yes", [case(expected="yes")], repeat=2)
    for run in result["cases"][0]["variants"]["scripted"]["runs"]:
        assert (tmp_path / "runs" / f"{run}.jsonl").is_file()


def flaky(request: ModelRequest) -> object:
    """A provider that fails for three of ten runs' calls, and answers the prompt otherwise."""
    number = int(request.messages[-1].text.rpartition(" ")[2])
    flaky_calls[number] += 1
    if flaky_calls[number] == 1 and number % 10 < 3:
        return {"error": {"message": "overloaded", "status": 503}}
    return says("yes" if number % 2 else "no")


flaky_calls: Counter[int] = Counter()


def test_a_provider_that_fails_for_30_of_100_calls_changes_no_rate(tmp_path: Path, quick_retries: None) -> None:
    cases = [case(f"case {number}", prompt=f"ask {number}", expected="yes") for number in range(40)]
    steady = measured(
        tmp_path / "steady",
        lambda request: says("yes" if int(request.messages[-1].text.rpartition(" ")[2]) % 2 else "no"),
        cases,
    )
    flaky_calls.clear()
    shaken = measured(tmp_path / "shaken", flaky, cases)
    assert sum(count - 1 for count in flaky_calls.values()) == 12
    assert shaken["variants"][0]["rate"] == steady["variants"][0]["rate"]
    assert shaken["variants"][0]["errors"] == 0


def test_what_fails_for_good_is_an_error_and_left_out_of_the_rate(tmp_path: Path, quick_retries: None) -> None:
    def reply(request: ModelRequest) -> object:
        bad = request.messages[-1].text == "ask bad"
        return {"error": {"message": "no such deployment", "status": 404}} if bad else says("yes")

    cases = [case("good", prompt="ask good", expected="yes"), case("bad", prompt="ask bad", expected="yes")]
    result = measured(tmp_path, reply, cases)
    (variant,) = result["variants"]
    assert (variant["rate"]["value"], variant["errors"], variant["doubtful"]) == (1.0, 1, True)
    assert result["cases"][1]["variants"]["scripted"]["marks"] == "e"
    assert "no such deployment" in result["cases"][1]["variants"]["scripted"]["why"]


def test_a_limit_that_the_agent_reaches_is_a_fail(tmp_path: Path) -> None:
    reply = calls(("look", {"what": "x"}))
    agent = answering(reply, max_iterations=2, failure_handling="legacy")
    result = measured(tmp_path, agent, [case(scorers=[{"kind": "tools_used", "tools": ["look"]}])])
    assert outcomes(tmp_path) == ["fail"]
    assert "success: expected True" in result["cases"][0]["variants"]["scripted"]["why"]


def test_a_scorer_that_fails_is_an_error_and_not_a_zero(tmp_path: Path) -> None:
    def broken(answer: str) -> bool:
        raise LookupError("no table")

    result = measured(tmp_path, "yes", [case(scorers=[{"kind": "python", "function": broken}])])
    assert outcomes(tmp_path) == ["error"]
    why = result["cases"][0]["variants"]["scripted"]["why"]
    assert why == "the scorer python failed: LookupError: no table"
    assert result["variants"][0]["rate"] is None


def test_ten_first_runs_that_fail_alike_end_an_evaluation(tmp_path: Path) -> None:
    reply = {"error": {"message": "invalid key", "status": 401}}
    with pytest.raises(BatchHalted, match="invalid key") as halted:
        measured(tmp_path, reply, [case(str(number)) for number in range(40)], jobs=2)
    assert halted.value.exit_status == 3


def test_the_limit_of_cost_counts_judges_too(tmp_path: Path) -> None:
    judge = {
        "kind": "judge",
        "rubric": "is polite",
        "model": {"kind": "scripted", "replies": [says('{"reason": "", "score": 1}', usage={**USED, "cost": 0.09})]},
    }
    cases = [case(str(number), scorers=[judge]) for number in range(20)]
    with pytest.raises(BatchHalted, match=r"limit of \$0.45 was reached") as halted:
        measured(tmp_path, says("yes", usage=USED), cases, max_cost=0.45, jobs=1)
    assert halted.value.exit_status == 5
    assert [sample.cost for sample in read_samples(tmp_path)] == pytest.approx([0.1] * 5)


def test_two_agents_are_compared_on_the_same_cases(tmp_path: Path) -> None:
    cases = [case(f"case {number}", prompt=f"ask {number}", expected="yes") for number in range(20)]

    def sometimes(request: ModelRequest) -> object:
        return says("yes" if int(request.messages[-1].text.rpartition(" ")[2]) < 8 else "no")

    result = measured(tmp_path, sometimes, cases, against=answering("yes"))
    found = result["comparison"]
    assert found["verdict"] == "better"
    assert (found["gained"], found["lost"], found["same"]) == (12, 0, 8)
    assert found["difference"]["value"] == pytest.approx(0.6)
    assert found["difference"]["low"] > 0
    assert found["gained_cases"] == [f"case {number}" for number in range(8, 20)]


def test_repeats_share_no_cache(tmp_path: Path) -> None:
    seen: list[str] = []

    @tool(read_only=True, repeatable=False)
    def read(what: str) -> str:
        """Read something."""
        seen.append(what)
        return what

    for name, path in (("memory", None), ("file", str(tmp_path / "cache.db"))):
        seen.clear()
        agent = ReActAgent(
            {"plugins": [{"kind": "cache", **({"path": path} if path else {})}]},
            model=ScriptedModel(replies=[calls(("read", {"what": "x"})), "yes"]),
            toolsets=[Functions(functions=[read])],
        )
        measured(tmp_path / name, agent, [case("a", expected="yes"), case("b", expected="yes")], repeat=3, jobs=1)
        assert seen == ["x"] * 3  # once for each repeat: the cases of one share it, as runs of the agent do


def test_repeats_ask_the_model_again_although_its_replies_are_kept(tmp_path: Path) -> None:
    agent = ReActAgent({"plugins": ["model_cache"]}, model=ScriptedModel(replies=["yes"]))
    measured(tmp_path, agent, [case("a", expected="yes"), case("b", prompt="other", expected="yes")], repeat=3, jobs=1)
    assert isinstance(agent.model, ScriptedModel)
    assert len(agent.model.requests) == 6
    assert outcomes(tmp_path) == ["pass"] * 6


def test_the_files_of_a_case_lie_in_the_workspace_of_each_run(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("blue")
    agent = ReActAgent(
        {},
        model=ScriptedModel(replies=[calls(("read_file", {"path": "notes.txt"})), lambda r: r.messages[-1].text]),
        toolsets=["files"],
    )
    cases = [case(contains="blue", files=[tmp_path / "notes.txt"])]
    measured(tmp_path / "eval", agent, cases, repeat=2)
    assert outcomes(tmp_path / "eval") == ["pass", "pass"]
    assert len(list((tmp_path / "eval" / "workspaces").iterdir())) == 2


def test_the_same_call_goes_on_and_asks_nothing_twice(tmp_path: Path) -> None:
    agent = answering("yes")
    first = measured(tmp_path, agent, [case("a", expected="yes")], repeat=3)
    again = measured(tmp_path, agent, [case("a", expected="yes")], repeat=3)
    assert isinstance(agent.model, ScriptedModel)
    assert len(agent.model.requests) == 3
    assert again["cases"] == first["cases"]


@pytest.mark.parametrize(
    ("cases", "repeat", "reply", "said"),
    [
        ([case("a", prompt="other", expected="yes")], 1, "yes", "case 'a' has changed"),
        ([case("a", expected="yes"), case("b")], 1, "yes", "case 'b' is new"),
        ([case("a", expected="yes")], 2, "yes", "case 'a' ran 1 times, and now 2"),
        ([case("a", expected="no")], 1, "yes", "--rescore"),
    ],
)
def test_an_evaluation_that_was_begun_otherwise_does_not_go_on(
    tmp_path: Path, cases: list[Any], repeat: int, reply: str, said: str
) -> None:
    measured(tmp_path, "yes", [case("a", expected="yes")])
    with pytest.raises(ConfigError, match=said):
        measured(tmp_path, reply, cases, repeat=repeat)


def test_another_agent_does_not_go_on_and_fresh_starts_anew(tmp_path: Path) -> None:
    measured(tmp_path, "yes", [case("a", expected="yes")])
    agent = answering("no", max_iterations=3)
    with pytest.raises(ConfigError, match="max_iterations"):
        measured(tmp_path, agent, [case("a", expected="yes")])
    measured(tmp_path, agent, [case("a", expected="yes")], fresh=True)
    assert outcomes(tmp_path) == ["fail"]


@pytest.mark.parametrize("own", ["notes.txt", "runs/mine.jsonl", "result.txt"])
def test_a_directory_with_other_things_in_it_is_refused(tmp_path: Path, own: str) -> None:
    path = tmp_path / own
    path.parent.mkdir(exist_ok=True)
    path.write_text("mine")
    for fresh in (False, True):
        with pytest.raises(ConfigError, match="contains more than an evaluation"):
            measured(tmp_path, "yes", [case("a", expected="yes")], fresh=fresh)
    assert path.read_text() == "mine"
    with pytest.raises(ConfigError, match="is not a directory"):
        measured(tmp_path / "notes.txt" if own == "notes.txt" else path, "yes", [case("a")])


def test_fresh_removes_nothing_that_is_not_ours(tmp_path: Path) -> None:
    measured(tmp_path, "yes", [case("a", expected="yes")])
    (tmp_path / "notes.txt").write_text("mine")
    measured(tmp_path, "yes", [case("b", expected="yes")], fresh=True)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert outcomes(tmp_path) == ["pass"]


def test_an_evaluation_that_was_killed_while_it_began_begins_again(tmp_path: Path) -> None:
    with Evaluation(tmp_path, plan_of(answering("yes"), case("a", expected="yes"))):
        pass
    (tmp_path / "plan.json").unlink()
    measured(tmp_path, "yes", [case("a", expected="yes")])
    assert outcomes(tmp_path) == ["pass"]
    assert (tmp_path / "plan.json").exists()


def test_errors_are_tried_again_when_asked_for(tmp_path: Path, quick_retries: None) -> None:
    down = [True]

    def reply(request: ModelRequest) -> object:
        return {"error": {"message": "down", "status": 503}} if down[0] else says("yes")

    agent = answering(reply)
    measured(tmp_path, agent, [case("a", expected="yes")])
    assert outcomes(tmp_path) == ["error"]
    down[0] = False
    measured(tmp_path, agent, [case("a", expected="yes")])
    assert outcomes(tmp_path) == ["error"]
    measured(tmp_path, agent, [case("a", expected="yes")], retry_errors=True)
    assert outcomes(tmp_path) == ["pass"]


# -- scoring again ----------------------------------------------------------------------------------------------------


def plan_of(agent: ReActAgent, *cases: Any) -> Plan:
    return Plan(cases=cases, variants=[Variant(name=agent.model.name, agent=agent)])


def test_scoring_again_runs_nothing_and_asks_nobody(tmp_path: Path) -> None:
    measured(tmp_path, "yes", [case("a", expected="yes"), case("b", expected="yes")])

    def never(request: ModelRequest) -> object:
        raise AssertionError("nobody may be asked")

    plan = plan_of(answering(never), case("a", expected="no"), case("b", scorers=[{"kind": "regex", "pattern": "^y"}]))
    result = rescored(plan, tmp_path, tmp_path, title="again")
    assert outcomes(tmp_path) == ["fail", "pass"]
    assert result["variants"][0]["rate"]["value"] == 0.5
    assert next(iter(read_samples(tmp_path))).why == "answer: expected 'no', got 'yes'"


def test_an_evaluation_that_was_scored_again_goes_on_with_the_new_scorers(tmp_path: Path) -> None:
    agent = answering("yes")
    measured(tmp_path, agent, [case("a", expected="yes")])
    rescored(plan_of(agent, case("a", expected="no")), tmp_path, tmp_path, title="again")
    measured(tmp_path, agent, [case("a", expected="no")])
    assert outcomes(tmp_path) == ["fail"]


def test_scores_may_go_to_another_directory_and_leave_the_first_alone(tmp_path: Path) -> None:
    measured(tmp_path / "one", "yes", [case("a", expected="yes")])
    rescored(plan_of(answering("yes"), case("a", expected="no")), tmp_path / "one", tmp_path / "two", title="again")
    assert (outcomes(tmp_path / "one"), outcomes(tmp_path / "two")) == (["pass"], ["fail"])


def test_marks_of_judges_are_kept_and_new_judges_are_refused(tmp_path: Path) -> None:
    def judge(rubric: str) -> dict[str, Any]:
        replies = ['{"reason": "meh", "score": 0.25}']
        return {"kind": "judge", "rubric": rubric, "model": {"kind": "scripted", "replies": replies}}

    agent = answering("yes")
    measured(tmp_path, agent, [case("a", scorers=[judge("is polite")])])
    result = rescored(
        plan_of(agent, case("a", expected="yes", scorers=[judge("is polite"), "exact"])), tmp_path, tmp_path, title="x"
    )
    assert result["cases"][0]["variants"]["scripted"]["scores"] == {"exact": 1.0, "success": 1.0, "judge": 0.25}
    with pytest.raises(ConfigError, match="its model would have to be asked"):
        rescored(plan_of(agent, case("a", scorers=[judge("is brief")])), tmp_path, tmp_path, title="x")


def test_runs_of_other_cases_are_not_scored_by_these(tmp_path: Path) -> None:
    agent = answering("yes")
    measured(tmp_path, agent, [case("a", expected="yes")])
    with pytest.raises(ConfigError, match="case 'b' was never run"):
        rescored(plan_of(agent, case("a"), case("b")), tmp_path, tmp_path, title="x")
    with pytest.raises(ConfigError, match="case 'a' has changed"):
        rescored(plan_of(agent, case("a", prompt="other")), tmp_path, tmp_path, title="x")
    with pytest.raises(ConfigError, match="has no evaluation"):
        rescored(plan_of(agent, case("a")), tmp_path / "none", tmp_path, title="x")


# -- kill -9 ----------------------------------------------------------------------------------------------------------

KILLED = """\
model:
  kind: scripted
  replies:
    - {tool_calls: [{name: calculate, arguments: {expression: "15*23"}}], delay: 0.02}
    - {text: "345", delay: 0.02}
toolsets: [math]
"""


def test_an_evaluation_that_is_killed_goes_on_to_the_same_result(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(KILLED)
    cases = [
        {"name": str(number), "prompt": f"ask {number}", "expected": 345 if number % 3 else 344} for number in range(40)
    ]
    (tmp_path / "cases.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in cases))
    command = [sys.executable, "-m", "react_run", "eval", "agent.yaml", "cases.jsonl", "-j", "4", "-q", "--repeat", "2"]
    environment = {**os.environ, "REACT_RUN_HOME": str(tmp_path / "home")}
    samples = tmp_path / "killed" / "samples.jsonl"
    kills = 0
    for written in (5, 25, 50):
        process = subprocess.Popen([*command, "-o", "killed"], cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL)
        end = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < end:
            if samples.exists() and samples.read_bytes().count(b"\n") >= written:
                os.kill(process.pid, signal.SIGKILL)
                kills += 1
                break
            time.sleep(0.005)
        process.wait()
    assert kills == 3
    for directory in ("killed", "whole"):
        subprocess.run([*command, "-o", directory], cwd=tmp_path, env=environment, check=True, capture_output=True)
    found, expected = (list(map(lasting, read_samples(tmp_path / name))) for name in ("killed", "whole"))
    assert found == expected
    assert len(found) == 80
    killed, whole = (json.loads((tmp_path / name / "result.json").read_text()) for name in ("killed", "whole"))
    for result in (killed, whole):
        for variant in result["variants"]:
            variant.pop("seconds")
    assert killed["variants"] == whole["variants"]


def test_the_first_ctrl_c_lets_runs_end_and_the_same_command_goes_on(tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text("model: {kind: scripted, replies: [{text: '345', delay: 0.3}]}\n")
    (tmp_path / "cases.yaml").write_text("cases: [{name: a, prompt: x, expected: 345}]\n")
    command = [sys.executable, "-m", "react_run", "eval", "agent.yaml", "cases.yaml", "--repeat", "40", "-o", "kept"]
    environment = {**os.environ, "REACT_RUN_HOME": str(tmp_path / "home")}
    samples = tmp_path / "kept" / "samples.jsonl"
    process = subprocess.Popen([*command, "-j", "2"], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while time.monotonic() < end and not (samples.exists() and samples.read_bytes().count(b"\n")):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "interrupted; the same command continues the evaluation (saved in kept)" in said
    before = samples.read_bytes()
    assert 0 < before.count(b"\n") < 40
    subprocess.run([*command, "-j", "40"], cwd=tmp_path, env=environment, check=True, capture_output=True)
    assert samples.read_bytes().startswith(before)
    assert samples.read_bytes().count(b"\n") == 40


def test_a_torn_last_sample_is_written_anew(tmp_path: Path) -> None:
    measured(tmp_path, "yes", [case("a", expected="yes"), case("b", expected="yes")])
    samples = tmp_path / "samples.jsonl"
    samples.write_bytes(samples.read_bytes()[:-20])
    measured(tmp_path, "yes", [case("a", expected="yes"), case("b", expected="yes")])
    assert [sample.case for sample in read_samples(tmp_path)] == ["a", "b"]


def test_two_processes_cannot_be_at_one_evaluation(tmp_path: Path) -> None:
    plan = plan_of(answering("yes"), case("a"))
    with Evaluation(tmp_path, plan), pytest.raises(ConfigError, match="is running"), Evaluation(tmp_path, plan):
        pass


# -- judges and recordings ---------------------------------------------------------------------------------------------


def test_a_judge_that_is_overloaded_is_asked_again_and_changes_no_rate(tmp_path: Path, quick_retries: None) -> None:
    asked: list[str] = []

    def reply(request: ModelRequest) -> object:
        asked.append(request.messages[-1].text)
        if len(asked) % 2:
            return {"error": {"message": "overloaded", "status": 503, "retryable": True}}
        return '{"reason": "fine", "score": 1}'

    judge = {"kind": "judge", "rubric": "is polite", "model": {"kind": "scripted", "replies": [reply]}}
    agent = answering("yes")
    result = measured(tmp_path, agent, [case(str(number), scorers=[judge]) for number in range(3)], jobs=1)
    assert outcomes(tmp_path) == ["pass"] * 3
    assert result["variants"][0]["errors"] == 0
    assert isinstance(agent.model, ScriptedModel)
    assert len(agent.model.requests) == 3  # the runs themselves were not made again


def test_a_recording_that_is_not_followed_is_a_fail(tmp_path: Path) -> None:
    journal = tmp_path / "may.jsonl"
    agent = ReActAgent({}, model=ScriptedModel(replies=["yes"]), journal=journal)
    asyncio.run(agent.run("ask"))
    cases = [case("kept", prompt="", recording=journal, answer="yes")]
    measured(tmp_path / "same", ReActAgent({}, model=ScriptedModel(replies=["other"])), cases)
    assert outcomes(tmp_path / "same") == ["pass"]
    changed = ReActAgent({"system_prompt": "Be brief."}, model=ScriptedModel(replies=["other"]))
    result = measured(tmp_path / "changed", changed, cases)
    assert outcomes(tmp_path / "changed") == ["fail"]
    assert "ReplayMismatch" in result["cases"][0]["variants"]["scripted"]["why"]
