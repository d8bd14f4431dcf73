"""Subagents: other agent files as tools (behaviours X1, X2)."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.toolsets.running import run_in

from react_run import (
    Check,
    ConfigError,
    Observation,
    Plugin,
    ReActAgent,
    ReActAgentConfig,
    Run,
    ScriptedModel,
    StopReason,
    ToolCall,
    Verdict,
    hookimpl,
    read_journal,
)
from react_run.config.trust import trust
from react_run.testing import agent_with, calls, run_agent, says
from react_toolsets.agents import AgentsToolset

USED = {"input_tokens": 80, "output_tokens": 20, "cost": 0.1}


def child(folder: Path, *replies: Any, file: str = "helper.yaml", more: str = "") -> Path:
    """An agent file with a scripted model; ``more`` are further lines."""
    name = file.partition(".")[0]
    lines = [
        "version: 1",
        f"name: {name}",
        f"description: Helps with {name}.",
        f"model: {{kind: scripted, replies: {json.dumps(list(replies))}}}",
        more,
    ]
    path = folder / file
    path.write_text("\n".join(lines) + "\n")
    return path


def ask(task: str = "look it up", name: str = "helper") -> dict[str, object]:
    return calls((name, {"task": task}))


def report(result: Any, at: int = 0) -> dict[str, Any]:
    data = json.loads(result.steps[at].observation)
    assert isinstance(data, dict)
    return data


# -- tools ------------------------------------------------------------------------------------------------------------


def test_each_agent_is_one_tool_with_a_task(tmp_path: Path) -> None:
    first = child(tmp_path, "a")
    second = child(tmp_path, "b", file="other.yaml")
    given = {"file": second, "name": "Ask the Other!", "description": "Knows it all."}
    helper, other = AgentsToolset.model_validate({"agents": [first, given]}).tools()
    assert (helper.name, helper.description) == ("helper", "Helps with helper.")
    assert (other.name, other.description) == ("Ask_the_Other", "Knows it all.")
    assert list(helper.parameters["properties"]) == ["task"]
    assert helper.parameters["required"] == ["task"]


def test_in_an_agent_file_subagents_are_paths_beside_it(tmp_path: Path) -> None:
    child(tmp_path, "four")
    lead = tmp_path / "lead.yaml"
    replies = json.dumps([ask(), "It is four."])
    lead.write_text(f"version: 1\nmodel: {{kind: scripted, replies: {replies}}}\nsubagents: [helper.yaml]\n")
    result = ReActAgent.from_yaml(lead).run_sync("how many?")
    assert report(result) == {"agent": "helper", "status": "ok", "success": True, "answer": "four", "iterations": 1}
    assert result.success


@pytest.mark.parametrize(
    ("toolsets", "read_only", "network"),
    [
        ("[math]", True, False),
        ("[{kind: files, read_only: false}]", False, False),
        ("[mediawiki]", True, True),
        ("[]", True, False),
    ],
)
def test_a_subagent_promises_what_its_tools_promise(
    tmp_path: Path, toolsets: str, read_only: bool | None, network: bool
) -> None:
    [tool] = AgentsToolset.model_validate({"agents": [child(tmp_path, "x", more=f"toolsets: {toolsets}")]}).tools()
    assert (tool.read_only, tool.network) == (read_only, network)


# -- one run below another --------------------------------------------------------------------------------------------


def seen_by(toolset: AgentsToolset) -> list[Any]:
    model = toolset.members[0].agent.model
    assert isinstance(model, ScriptedModel)
    return model.requests


def test_the_child_sees_its_task_and_nothing_else_and_the_parent_one_report(tmp_path: Path) -> None:
    toolset = AgentsToolset(
        agents=[child(tmp_path, calls(("calculate", {"expression": "6*7"})), "42", more="toolsets: [math]")]
    )
    agent = agent_with([ask("6 times 7"), says("It is 42.")], toolsets=[toolset])
    result = agent.run_sync("What is the secret sum?")
    assert [message.text for message in seen_by(toolset)[0].messages][1:] == ["6 times 7"]
    assert [tool.name for tool in seen_by(toolset)[0].tools] == ["calculate", "convert_units"]
    assert report(result) == {"agent": "helper", "status": "ok", "success": True, "answer": "42", "iterations": 2}
    assert [message.role for message in result.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert result.steps[0].outcome is not None
    assert result.steps[0].outcome.verified_summary == "helper verified: 6*7 = 42"


class Never(Check):
    async def check(self, run: Run, answer: str) -> Verdict:
        return Verdict(accepted=False, feedback="no")


@pytest.mark.parametrize(
    ("replies", "more", "code"),
    [
        ([calls(("calculate", {"expression": "1"}))] * 9, "toolsets: [math]", "stuck"),
        (
            [calls(("calculate", {"expression": str(n)})) for n in range(9)],
            "toolsets: [math]\nmax_iterations: 2",
            "max_iterations",
        ),
        ([""], "", "empty_reply"),
        (["no"], 'checks: [{kind: regex, pattern: "yes"}]\nmax_check_attempts: 0', "unaccepted"),
        ([{"error": {"status": 400, "message": "bad key"}}], "", "model_error"),
        (
            [calls(("convert_units", {"value": 1, "from_unit": "gallon", "to_unit": "l"}))],
            "toolsets: [math]",
            "clarification_required",
        ),
    ],
)
def test_a_child_that_fails_is_stuck_or_says_nothing_is_a_failed_observation(
    tmp_path: Path, replies: list[Any], more: str, code: str
) -> None:
    toolset = AgentsToolset(agents=[child(tmp_path, *replies, more=more)])
    result = run_agent([ask(), says("It worked.")], toolsets=[toolset])
    step = result.steps[0]
    assert (step.failed, step.error_code) == (True, code)
    assert report(result)["status"] == "failed"
    assert report(result)["reason"] == code
    assert not result.success  # what nobody made good is not a success (F6)
    assert result.unverified_answer == "It worked."


def test_another_task_is_a_new_attempt_and_makes_it_good(tmp_path: Path) -> None:  # F1
    replies = ["no", "no", "no", "yes"]
    path = child(tmp_path, *replies, more='checks: [{kind: regex, pattern: "yes"}]\nmax_check_attempts: 0')
    path.write_text(path.read_text().replace("kind: scripted,", "kind: scripted, scope: agent,"))
    toolset = AgentsToolset(agents=[path])
    result = run_agent([*(ask(f"task {n}") for n in range(4)), says("done")], toolsets=[toolset])
    assert [step.failed for step in result.steps] == [True, True, True, False]
    assert result.success


def test_a_long_answer_is_bounded(tmp_path: Path) -> None:
    toolset = AgentsToolset(agents=[child(tmp_path, "x" * 50_000)], max_answer=1000)
    answer = report(run_agent([ask(), says("ok")], toolsets=[toolset]))["answer"]
    assert answer == "x" * 1000 + "… [49,000 more characters]"


def test_an_empty_task_is_refused(tmp_path: Path) -> None:
    toolset = AgentsToolset(agents=[child(tmp_path, "x")])
    step = run_agent([ask("  "), says("ok")], toolsets=[toolset]).steps[0]
    assert (step.error_code, seen_by(toolset)) == ("invalid_arguments", [])


def test_children_of_one_reply_work_at_the_same_time(tmp_path: Path) -> None:
    meeting: list[Run] = []
    arrived = asyncio.Event()

    class Meet(Plugin):
        inherited_by_subagents = True

        @hookimpl
        async def react_model_call(self, run: Run) -> None:
            if run.parent is not None:
                meeting.append(run)
                if len(meeting) == 3:
                    arrived.set()
                await asyncio.wait_for(arrived.wait(), 60)

    toolset = AgentsToolset(agents=[child(tmp_path, "done")])
    reply = calls(*[("helper", {"task": f"task {n}"}) for n in range(3)])
    result = run_agent([reply, says("ok")], toolsets=[toolset], plugins=[Meet()])
    assert [report(result, at)["status"] for at in range(3)] == ["ok"] * 3
    assert len({run.id for run in meeting}) == 3
    assert len({id(run.messages) for run in meeting}) == 3


def test_a_child_works_in_the_workspace_of_its_parent(tmp_path: Path) -> None:
    agents, workspace = tmp_path / "agents", tmp_path / "workspace"
    agents.mkdir()
    workspace.mkdir()
    write = calls(("write_file", {"path": "made.txt", "content": "x"}))
    toolset = AgentsToolset(agents=[child(agents, write, "done", more="toolsets: [{kind: files, read_only: false}]")])
    result = run_in(workspace, [ask(), says("ok")], toolsets=[toolset])
    assert report(result)["status"] == "ok"
    assert (workspace / "made.txt").exists()


def test_a_file_that_names_no_model_has_the_model_of_its_parent(tmp_path: Path) -> None:
    path = tmp_path / "plain.yaml"
    path.write_text("version: 1\nname: plain\n")
    seen: list[str] = []

    def answer(request: Any) -> object:
        seen.append(request.messages[-1].text)
        return calls(("plain", {"task": "below"})) if len(seen) == 1 else says("fine")

    result = run_agent([answer] * 3, toolsets=[AgentsToolset(agents=[path])])
    assert seen[:2] == ["go", "below"]
    assert result.steps[0].outcome is not None
    assert result.success


# -- what holds below -------------------------------------------------------------------------------------------------


def test_what_permits_calls_above_permits_them_below(tmp_path: Path) -> None:
    asked: list[str] = []

    class Gate:
        @hookimpl
        def react_tool_permit(self, run: Run, call: ToolCall) -> Observation | None:
            asked.append(call.name)
            return Observation(content="Error: not allowed") if call.name == "write_file" else None

    write = calls(("write_file", {"path": "x", "content": "x"}))
    toolset = AgentsToolset(agents=[child(tmp_path, write, "done", more="toolsets: [{kind: files, read_only: false}]")])
    run_in(tmp_path, [ask(), says("ok")], toolsets=[toolset], plugins=[Gate()])
    assert asked == ["helper", "write_file"]
    assert not (tmp_path / "x").exists()


def test_the_permissions_of_an_agent_file_hold_below(tmp_path: Path) -> None:
    write = calls(("write_file", {"path": "x", "content": "x"}))
    child(tmp_path, write, "done", more="toolsets: [{kind: files, read_only: false}]")
    lead = tmp_path / "lead.yaml"
    lead.write_text(
        f"version: 1\nmodel: {{kind: scripted, replies: {json.dumps([ask(), 'ok'])}}}\nsubagents: [helper.yaml]\n"
        "permissions: [{tool: write_file, action: deny}, {tool: '*', action: allow}]\n"
    )
    agent = ReActAgent.from_yaml(lead)
    agent.workspace = tmp_path
    agent.run_sync("go")
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(("holds", "below"), [(True, ["go", "task"]), (False, ["go"]), (None, ["go"])])
def test_other_plugins_hold_below_when_they_say_so(tmp_path: Path, holds: bool | None, below: list[str]) -> None:
    class Seen(Plugin):
        @hookimpl
        def react_run_started(self, run: Run) -> None:
            prompts.append(run.prompt)

    prompts: list[str] = []
    Seen.inherited_by_subagents = holds
    run_agent([ask("task"), says("ok")], toolsets=[AgentsToolset(agents=[child(tmp_path, "x")])], plugins=[Seen()])
    assert prompts == below


def test_skills_of_the_parent_do_not_bind_the_child(tmp_path: Path) -> None:  # D3
    path = child(tmp_path, calls(("calculate", {"expression": "6*7"})), "42", more="toolsets: [math]")
    replies = [calls(("activate_tool_skill", {"skill": "agents"})), ask(), says("42")]
    toolsets: list[Any] = [AgentsToolset(agents=[path]), "temporal"]
    agent = ReActAgent({"tool_disclosure": "skills", "toolsets": toolsets}, model=ScriptedModel(replies=replies))
    assert report(agent.run_sync("go"), 1)["status"] == "ok"


def test_what_the_child_spends_counts_above_and_the_rest_of_the_budget_is_all_it_has(tmp_path: Path) -> None:  # S4
    more = [{**calls(("calculate", {"expression": str(n)})), "usage": USED} for n in range(9)]
    toolset = AgentsToolset(agents=[child(tmp_path, *more, more="toolsets: [math]")])
    replies = [{**ask(), "usage": USED}, says("done", usage=USED)]
    result = run_agent(replies, toolsets=[toolset], max_cost=0.4)
    assert report(result)["reason"] == "cost_limit"
    assert (result.stop_reason, result.usage.requests) == (StopReason.COST_LIMIT, 4)
    assert result.usage.cost == pytest.approx(0.4)


def test_a_limit_of_the_child_is_its_own(tmp_path: Path) -> None:
    more = [{**calls(("calculate", {"expression": str(n)})), "usage": USED} for n in range(9)]
    path = child(tmp_path, *more, more="toolsets: [math]\nmax_cost: 0.2")
    result = run_agent(
        [{**ask(), "usage": USED}, says("so it is", usage=USED)], toolsets=[AgentsToolset(agents=[path])]
    )
    assert report(result)["reason"] == "cost_limit"
    assert result.usage.requests == 4


def test_the_journal_of_the_parent_holds_the_child(tmp_path: Path) -> None:  # J1
    toolset = AgentsToolset(
        agents=[child(tmp_path, calls(("calculate", {"expression": "6*7"})), "42", more="toolsets: [math]")]
    )
    model = ScriptedModel(replies=[ask(), says("ok")])
    ReActAgent(model=model, toolsets=[toolset], journal=tmp_path / "j.jsonl").run_sync("go")
    records = [json.loads(line) for line in (tmp_path / "j.jsonl").read_text().splitlines()]
    nested = [record for record in records if "parent" in record]
    assert {record["type"] for record in nested} >= {"header", "model_request", "tool_started", "footer"}
    assert {record["parent"] for record in nested} == {read_journal(tmp_path / "j.jsonl").run_id}


def test_a_secret_of_the_child_is_masked_in_the_journal_of_the_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # J2
    monkeypatch.setenv("CHILD_API_KEY", "canary-of-the-child")
    path = child(tmp_path, "the key is canary-of-the-child", more="metadata: {api_key: '${CHILD_API_KEY}'}")
    model = ScriptedModel(replies=[ask(), says("ok")])
    ReActAgent(model=model, toolsets=[AgentsToolset(agents=[path])], journal=tmp_path / "j.jsonl").run_sync("go")
    text = (tmp_path / "j.jsonl").read_text()
    assert "the key is" in text
    assert "canary-of-the-child" not in text


# -- time -------------------------------------------------------------------------------------------------------------


def test_cancellation_reaches_the_child(tmp_path: Path) -> None:
    ended: list[str] = []

    class Watch(Plugin):
        inherited_by_subagents = True

        @hookimpl
        def react_model_call_started(self, run: Run) -> None:
            if run.parent is not None:
                started.set()

        @hookimpl
        def react_run_failed(self, run: Run, error: BaseException) -> None:
            ended.append(f"{run.prompt}: {type(error).__name__}")

    async def cancelled() -> None:
        task = asyncio.ensure_future(agent.run("go"))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    started = asyncio.Event()
    toolset = AgentsToolset(agents=[child(tmp_path, {"delay": 60, "text": "late"})])
    agent = agent_with([ask("wait")], toolsets=[toolset], plugins=[Watch()])
    asyncio.run(cancelled())
    assert ended == ["wait: CancelledError", "go: CancelledError"]


@pytest.mark.parametrize("options", [{"run_timeout": 0.3}, {}])
def test_a_deadline_above_ends_the_child(tmp_path: Path, options: dict[str, Any]) -> None:
    timeout = 900.0 if options else 0.3
    toolset = AgentsToolset(agents=[child(tmp_path, {"delay": 60, "text": "late"})], timeout=timeout)
    result = run_agent([ask(), says("ok")], toolsets=[toolset], **options)
    assert result.stop_reason == (StopReason.TIMEOUT if options else StopReason.UNRESOLVED_TOOL_FAILURE)
    assert options or result.steps[0].error_code == "timeout"


def test_time_in_which_a_person_is_asked_below_counts_towards_no_deadline_above(tmp_path: Path) -> None:  # T2
    class Slow(Plugin):
        inherited_by_subagents = True

        @hookimpl
        async def react_tool_permit(self, run: Run, call: ToolCall) -> None:
            if run.parent is not None:
                with run.paused_for_user():
                    await asyncio.sleep(0.6)

    path = child(tmp_path, calls(("calculate", {"expression": "6*7"})), "42", more="toolsets: [math]")
    toolset = AgentsToolset(agents=[path], timeout=0.4)
    assert report(run_agent([ask(), says("ok")], toolsets=[toolset], plugins=[Slow()]))["answer"] == "42"


# -- depth and circles (X2) -------------------------------------------------------------------------------------------


def chain(folder: Path, length: int) -> Path:
    """A file whose subagents go down ``length`` levels."""
    for level in range(length + 1):
        below = f"subagents: [a{level + 1}.yaml]" if level < length else ""
        replies = [ask(name=f"a{level + 1}"), f"answer of {level}"] if below else ["the bottom"]
        child(folder, *replies, file=f"a{level}.yaml", more=below)
    return folder / "a0.yaml"


def test_three_levels_below_are_allowed_and_four_are_not(tmp_path: Path) -> None:
    result = ReActAgent.from_yaml(chain(tmp_path, 3)).run_sync("go")
    assert report(result)["answer"] == "answer of 1"
    with pytest.raises(ConfigError, match=r"a0\.yaml → a1\.yaml → a2\.yaml → a3\.yaml → a4\.yaml: .*at most 3 levels"):
        ReActAgent.from_yaml(chain(tmp_path, 4))


@pytest.mark.parametrize("length", [0, 1, 2])
def test_a_circle_is_found_when_the_agent_is_built(tmp_path: Path, length: int) -> None:
    chain(tmp_path, length)
    last = tmp_path / f"a{length}.yaml"
    last.write_text(f"{last.read_text()}\nsubagents: [./a0.yaml]\n")
    with pytest.raises(ConfigError, match=r"a0\.yaml is a subagent of itself"):
        ReActAgent.from_yaml(tmp_path / "a0.yaml")


def test_one_agent_may_be_named_from_two_sides(tmp_path: Path) -> None:
    child(tmp_path, "x", file="shared.yaml")
    for name in ("left", "right"):
        child(tmp_path, "x", file=f"{name}.yaml", more="subagents: [shared.yaml]")
    lead = child(tmp_path, "x", file="lead.yaml", more="subagents: [left.yaml, right.yaml, shared.yaml]")
    assert [tool.name for tool in ReActAgent.from_yaml(lead).tools] == ["left", "right", "shared"]


# -- files ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("entry", ["gone.yaml", "{name: helper, file: gone.yaml}"])
def test_a_file_that_is_not_there_is_reported_where_it_is_named(tmp_path: Path, entry: str) -> None:
    parent = tmp_path / "lead.yaml"
    parent.write_text(f"toolsets:\n  - kind: agents\n    agents: [{entry}]\n")
    with pytest.raises(ConfigError, match=r"lead\.yaml:3:\d+: toolsets\[0\]\.agents\[0\].*no file .*gone\.yaml"):
        ReActAgent.from_yaml(parent)


def test_mistakes_in_the_file_of_a_child_are_reported_with_their_place(tmp_path: Path) -> None:
    child(tmp_path, "x", more="toolsets: [maths]")
    lead = child(tmp_path, "x", file="lead.yaml", more="subagents: [helper.yaml]")
    with pytest.raises(ConfigError, match=r"helper\.yaml:5:12: .*maths"):
        ReActAgent.from_yaml(lead)
    lead.write_text(lead.read_text().replace("helper.yaml", "none.yaml"))
    with pytest.raises(ConfigError, match=r"lead\.yaml:5:13: .*no agent file none\.yaml"):
        ReActAgent.from_yaml(lead)


def test_a_child_is_trusted_as_its_parent_is_and_not_beyond_its_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))
    (tmp_path / "lead").mkdir()
    (tmp_path / "lead" / "sub").mkdir()
    child(tmp_path / "lead" / "sub", "x", file="inside.yaml", more="toolsets: [shell]")
    child(tmp_path, "x", file="outside.yaml", more="toolsets: [shell]")
    lead = child(tmp_path / "lead", "x", file="lead.yaml", more="subagents: [sub/inside.yaml]")
    ReActAgent(ReActAgentConfig.from_yaml(lead))
    with pytest.raises(ConfigError, match=r"inside\.yaml:5:.*starts programs"):
        ReActAgent(ReActAgentConfig.from_yaml(lead, trusted=False))
    lead.write_text(lead.read_text().replace("sub/inside", "../outside"))
    with pytest.raises(ConfigError, match=r"outside\.yaml:5:.*starts programs"):
        ReActAgent(ReActAgentConfig.from_yaml(lead))


def test_who_is_not_trusted_hands_no_task_to_an_agent_elsewhere_that_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))
    (tmp_path / "mine").mkdir()
    (tmp_path / "theirs").mkdir()
    child(tmp_path / "mine", "x", more="toolsets: [shell]")
    trust(tmp_path / "mine")
    for entry in ("../mine/helper.yaml", "{file: ../mine/helper.yaml, name: other}"):
        lead = child(
            tmp_path / "theirs", "x", file="lead.yaml", more=f"toolsets: [{{kind: agents, agents: [{entry}]}}]"
        )
        with pytest.raises(ConfigError, match=r"lead\.yaml:5:.*helper\.yaml is outside .*theirs, which needs trust"):
            ReActAgentConfig.from_yaml(lead, trusted=False)
        ReActAgent(ReActAgentConfig.from_yaml(lead))


def test_what_children_opened_is_closed_with_the_parent(tmp_path: Path) -> None:
    path = child(tmp_path, "x", more="plugins: [{kind: 'opened_kit:Opened'}]")
    (tmp_path / "opened_kit.py").write_text(
        "from react_run import Plugin, hookimpl\n\nlog = []\n\n\nclass Opened(Plugin):\n"
        "    @hookimpl\n    def react_guide(self, run):\n        return None\n\n"
        "    async def open(self):\n        log.append('open')\n\n"
        "    async def close(self):\n        log.append('close')\n"
    )
    lead = child(tmp_path, ask(), "ok", file="lead.yaml", more="subagents: [helper.yaml]")

    async def run() -> None:
        async with ReActAgent.from_yaml(lead) as agent:
            await agent.run("go")

    asyncio.run(run())
    assert path.exists()
    assert sys.modules.pop("opened_kit").log == ["open", "close"]


def test_a_child_has_the_variables_of_its_parent(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("GREETING=hello\n")
    child(tmp_path, "x", more="metadata: {greeting: '${GREETING}'}")
    lead = child(tmp_path, "x", file="lead.yaml", more="env_file: true\nsubagents: [helper.yaml]")
    [toolset] = ReActAgent.from_yaml(lead).config.toolsets
    assert isinstance(toolset, AgentsToolset)
    assert toolset.members[0].agent.config.metadata == {"greeting": "hello"}


# -- subagents that may only look -------------------------------------------------------------------------------------

WRITE = calls(("write_file", {"path": "new.txt", "content": "x"}))
READ = calls(("read_file", {"path": "old.txt"}))
FILES = "toolsets: [{kind: files, read_only: false}]"


def looking(folder: Path, *replies: Any, **given: Any) -> Any:
    """The run of an agent whose subagent may only look, unless ``given`` says otherwise."""
    (folder / "old.txt").write_text("known\n", encoding="utf-8")
    trust(folder)
    helper = child(folder, *replies, more=FILES)
    agents = AgentsToolset(agents=[{"file": helper, "read_only": True, **given}])
    return run_in(folder, [ask(), says("done")], toolsets=[agents])


def test_a_subagent_that_may_only_look_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # X1
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))
    result = looking(tmp_path, WRITE, "I have written it.")
    assert not (tmp_path / "new.txt").exists()
    assert "write_file may change things, and this agent may only look" in report(result)["unresolved"][0]
    assert (report(result)["success"], result.success) == (False, False)


def test_a_subagent_that_may_only_look_can_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # X1
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))
    result = looking(tmp_path, READ, "It says known.")
    assert (report(result)["answer"], result.success) == ("It says known.", True)


def test_without_the_mark_the_same_subagent_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # X1
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))
    result = looking(tmp_path, WRITE, "I have written it.", read_only=False)
    assert ((tmp_path / "new.txt").read_text(encoding="utf-8"), result.success) == ("x", True)


def test_agents_below_one_that_may_only_look_only_look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # X1
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))
    child(tmp_path, WRITE, "I have written it.", file="deeper.yaml", more=FILES)
    trust(tmp_path)
    middle = child(tmp_path, ask(name="deeper"), "It was written.", more="subagents: [deeper.yaml]")
    agents = AgentsToolset(agents=[{"file": middle, "read_only": True}])
    result = run_in(tmp_path, [ask(), says("done")], toolsets=[agents])
    assert not (tmp_path / "new.txt").exists()
    assert not result.success


def test_a_subagent_that_may_only_look_counts_as_read_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # X1
    monkeypatch.setenv("REACT_RUN_HOME", str(tmp_path / "home"))
    trust(tmp_path)
    helper = child(tmp_path, "x", more=FILES)
    marks = [AgentsToolset(agents=[{"file": helper, "read_only": only}]).tools()[0].read_only for only in (True, False)]
    assert marks[0] is True
    assert marks[1] is not True
