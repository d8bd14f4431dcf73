"""Progressive disclosure of toolset tools (behaviours D1 to D5, D7), seen in the requests that the model gets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar

import pytest

from react_run import (
    Iteration,
    Observation,
    Outcome,
    ReActAgent,
    ReActSkillSpec,
    ReActToolset,
    Run,
    RunResult,
    ScriptedModel,
    ToolCall,
    hookimpl,
    tool,
)
from react_run.policies.disclosure.groups import SELECTOR
from react_run.testing import agent_with, calls, says


class Sums(ReActToolset):
    """Adds and multiplies."""

    kind: ClassVar[str] = "sums"

    @tool(read_only=True)
    def add(self, a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @tool(read_only=True)
    def multiply(self, a: int, b: int) -> int:
        """Multiply two numbers."""
        return a * b

    def interpret_result(self, tool_name: str, args: dict[str, object], result: object) -> Outcome:
        return Outcome.success(f"{tool_name} gave {result}")

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        return [
            ReActSkillSpec(
                name="arithmetic",
                description="Exact sums and products.",
                tool_names=("add", "multiply"),
                instructions="Never do sums in your head.",
                examples=("What is 17 times 23?", "Add these up"),
            )
        ]


class Clock(ReActToolset):
    """Tells the time."""

    kind: ClassVar[str] = "clock"

    @tool(read_only=True)
    def now(self) -> str:
        """The time."""
        return "12:00"

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        return [ReActSkillSpec(name="time", description="What time it is.", tool_names=("now",))]


class Plain(ReActToolset):
    """Things without a group."""

    kind: ClassVar[str] = "plain"

    @tool(read_only=True)
    def echo(self, text: str) -> str:
        """Say it again."""
        return text


ACTIVATE = calls((SELECTOR, {"skill": "arithmetic"}))
ACTIVATE_TIME = calls((SELECTOR, {"skill": "time"}))
ADD = calls(("add", {"a": 1, "b": 2}))
NOW = calls(("now", {}))
DONE = says("done")


def disclosed(*replies: object, toolsets: tuple[ReActToolset, ...] = (), **config: Any) -> tuple[RunResult, list[Any]]:
    """The result of a run with ``tool_disclosure: skills``, and the requests of the model."""
    given = toolsets or (Sums(), Clock())
    agent = agent_with([*replies], toolsets=given, tool_disclosure="skills", **config)
    result = agent.run_sync("go")
    assert isinstance(agent.model, ScriptedModel)
    return result, agent.model.requests


def offered(request: Any) -> list[str]:
    return [tool.name for tool in request.tools]


def told(result: RunResult, step: int) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(result.steps[step].observation)
    return fields


# -- D1 --------------------------------------------------------------------------------------------------------------


def test_the_first_request_offers_one_tool() -> None:  # D1
    _, requests = disclosed(DONE)
    assert offered(requests[0]) == [SELECTOR]


def test_the_selector_takes_one_of_the_names() -> None:  # D1
    _, requests = disclosed(DONE)
    schema = requests[0].tools[0].parameters
    assert list(schema["properties"]) == ["skill"]
    assert schema["required"] == ["skill"]
    assert schema["properties"]["skill"]["enum"] == ["arithmetic", "time"]


def test_one_skill_makes_an_enum_of_one() -> None:  # D1
    _, requests = disclosed(DONE, toolsets=(Clock(),))
    assert requests[0].tools[0].parameters["properties"]["skill"]["enum"] == ["time"]


@pytest.mark.parametrize(
    "part",
    [
        "arithmetic: Exact sums and products.",
        "“What is 17 times 23?”; “Add these up”",
        "time: What time it is.",
        "exactly one skill",
        "next iteration",
        "Activate another skill later",
        "One reply may contain several activations",
    ],
)
def test_the_selector_tells_the_skills_and_the_whole_contract(part: str) -> None:  # D1
    _, requests = disclosed(DONE)
    assert part in requests[0].tools[0].description


def test_the_selector_keeps_the_system_prompt_as_it_is() -> None:  # D1, L6
    _, requests = disclosed(DONE, system_prompt="Only this.")
    assert [message.text for message in requests[0].messages if message.role == "system"] == ["Only this."]


# -- D2 --------------------------------------------------------------------------------------------------------------


def test_an_activation_tells_what_is_active_available_and_to_be_heeded() -> None:  # D2
    result, requests = disclosed(ACTIVATE, DONE)
    assert told(result, 0) == {
        "status": "ok",
        "activated_skill": "arithmetic",
        "active_skills": ["arithmetic"],
        "available_tools": ["add", "multiply"],
        "instructions": "Never do sums in your head.",
    }
    assert requests[1].messages[-1].text == result.steps[0].observation
    assert result.success


def test_an_activation_is_a_step_that_executed_nothing() -> None:  # D2
    result, _ = disclosed(ACTIVATE, ADD, says("3"))
    activation, addition = result.steps
    assert (activation.action, activation.executed, activation.failed) == (SELECTOR, False, False)
    assert (addition.action, addition.executed, addition.observation) == ("add", True, "3")
    assert result.success


def test_an_explicit_observation_says_that_nothing_is_answered() -> None:  # D2
    standard, _ = disclosed(ACTIVATE, DONE)
    explicit, _ = disclosed(ACTIVATE, DONE, skill_activation_observation="explicit")
    assert "next_action" not in told(standard, 0)
    assert "did not answer the user" in told(explicit, 0)["next_action"]


def test_skills_and_tools_add_up_over_activations() -> None:  # D2
    result, requests = disclosed(ACTIVATE_TIME, ACTIVATE, NOW, DONE)
    assert told(result, 1)["active_skills"] == ["arithmetic", "time"]
    assert told(result, 1)["available_tools"] == ["add", "multiply", "now"]
    assert offered(requests[2]) == [SELECTOR, "now", "add", "multiply"]  # L7: it only grows, at the end


def test_several_activations_in_one_reply_are_answered_in_request_order() -> None:  # D2
    both = calls((SELECTOR, {"skill": "time"}), (SELECTOR, {"skill": "arithmetic"}))
    result, requests = disclosed(both, DONE)
    assert told(result, 0)["active_skills"] == ["time"]
    assert told(result, 0)["available_tools"] == ["now"]
    assert told(result, 1)["active_skills"] == ["arithmetic", "time"]
    assert set(offered(requests[1])) == {SELECTOR, "now", "add", "multiply"}


class SlowFirst:
    """Keeps the first call of an iteration waiting."""

    @hookimpl
    async def react_tool_call(self, call: ToolCall) -> None:
        for _ in range(5 - call.position):
            await asyncio.sleep(0)


def test_activations_are_answered_in_request_order_whatever_the_timing() -> None:  # order of judgement
    both = calls((SELECTOR, {"skill": "time"}), (SELECTOR, {"skill": "arithmetic"}))
    agent = agent_with([both, DONE], toolsets=[Sums(), Clock()], plugins=[SlowFirst()], tool_disclosure="skills")
    result = agent.run_sync("go")
    assert [told(result, step)["active_skills"] for step in (0, 1)] == [["time"], ["arithmetic", "time"]]


class Denies:
    """Refuses the activation of one skill, or answers for it without asking further."""

    def __init__(self, skill: str, answer: Observation) -> None:
        self.skill, self.answer = skill, answer

    @hookimpl
    def react_tool_call(self, call: ToolCall) -> Observation | None:
        return self.answer if call.arguments.get("skill") == self.skill else None


BOTH = calls((SELECTOR, {"skill": "time"}), (SELECTOR, {"skill": "arithmetic"}))


def test_an_activation_that_a_plugin_refuses_activates_nothing() -> None:
    no = Observation(content="no", outcome=Outcome.retryable("denied", "no"))
    agent = agent_with([BOTH, DONE], toolsets=[Sums(), Clock()], plugins=[Denies("time", no)], tool_disclosure="skills")
    agent.run_sync("go")
    assert isinstance(agent.model, ScriptedModel)
    assert offered(agent.model.requests[1]) == [SELECTOR, "add", "multiply"]


def test_an_activation_that_a_record_answers_activates_all_the_same() -> None:  # J4
    recorded = Observation(content="recorded", outcome=Outcome.success())
    for replies in ([BOTH, DONE], [ACTIVATE_TIME, DONE]):
        plugin = Denies("time", recorded)
        agent = agent_with(replies, toolsets=[Sums(), Clock()], plugins=[plugin], tool_disclosure="skills")
        agent.run_sync("go")
        assert isinstance(agent.model, ScriptedModel)
        assert "now" in offered(agent.model.requests[1])


ERRORS: list[tuple[object, str, list[str]]] = [
    ({"skill": "sums"}, "unknown_skill", ["sums", "arithmetic", "time"]),
    ({"skill": ""}, "invalid_skill_activation", ["arithmetic", "time"]),
    ({}, "invalid_skill_activation", ['{"skill": "arithmetic"}']),
    ({"skill": ["arithmetic", "time"]}, "invalid_skill_activation", ["one skill", "arithmetic"]),
    ({"skills": ["arithmetic"]}, "invalid_skill_activation", ["one skill"]),
    ({"skill": None}, "invalid_skill_activation", ["one skill"]),
    ({"skill": 3}, "invalid_skill_activation", ["one skill"]),
    ('{"skill": ', "invalid_skill_activation", ["one skill"]),
    ("[1]", "invalid_skill_activation", ["one skill"]),
]


@pytest.mark.parametrize(("arguments", "code", "parts"), ERRORS)
def test_a_wrong_activation_says_what_to_send(arguments: Any, code: str, parts: list[str]) -> None:  # D2
    result, _ = disclosed(calls((SELECTOR, arguments)), ACTIVATE, ADD, says("3"))
    step = result.steps[0]
    assert (step.error_code, step.executed) == (code, False)
    error = told(result, 0)["error"]
    assert error["code"] == code
    assert all(part in error["message"] for part in parts)
    assert result.success  # once corrected it counts as no failure
    assert not result.unresolved


def test_an_active_skill_is_not_activated_again() -> None:  # D2
    result, _ = disclosed(ACTIVATE, ACTIVATE, ACTIVATE_TIME, DONE)
    assert [step.error_code for step in result.steps] == [None, "already_active", None]
    assert "add, multiply" in told(result, 1)["error"]["message"]
    assert result.success


@pytest.mark.parametrize(
    "replies",
    [(ACTIVATE, ACTIVATE), (calls((SELECTOR, {"skill": "arithmetic"}), (SELECTOR, {"skill": "arithmetic"})),)],
)
def test_an_answer_stands_that_follows_an_activation_too_many(replies: tuple[dict[str, object], ...]) -> None:  # D2, F5
    result, _ = disclosed(*replies, says("15"))
    assert (result.answer, result.success) == ("15", True)
    assert [failure.code for failure in result.unresolved] == ["already_active"]


def test_a_iteration_that_is_done_twice_activates_what_each_reply_asks_for() -> None:  # D2
    class Again:
        @hookimpl
        async def react_iteration(self, iteration: Iteration, proceed: Callable[[], Awaitable[Iteration]]) -> Iteration:
            await proceed()
            return await proceed() if iteration.number == 1 else iteration

    result, _ = disclosed(ACTIVATE, ACTIVATE_TIME, NOW, DONE, plugins=[Again()])
    assert [told(result, n)["activated_skill"] for n in (0, 1)] == ["arithmetic", "time"]
    assert result.steps[2].executed


def test_a_skill_named_twice_in_one_reply_is_active_once() -> None:  # D2
    twice = calls((SELECTOR, {"skill": "time"}), (SELECTOR, {"skill": "time"}))
    result, requests = disclosed(twice, NOW, DONE)
    assert offered(requests[1]) == [SELECTOR, "now"]
    assert result.success


def test_a_corrected_activation_is_forgiven_each_time() -> None:  # D2, F1
    wrong = calls((SELECTOR, {"skill": "sums"}))
    result, _ = disclosed(wrong, ACTIVATE, wrong, ACTIVATE_TIME, DONE)
    assert [step.error_code for step in result.steps] == ["unknown_skill", None, "unknown_skill", None]
    assert result.success


def test_the_same_mistake_twice_running_ends_the_run() -> None:  # F1
    result, _ = disclosed(calls((SELECTOR, {"skill": "sums"})), calls((SELECTOR, {"skill": "math"})), DONE)
    assert [step.error_code for step in result.steps] == ["unknown_skill", "unknown_skill"]
    assert result.stop_reason == "tool_retry_exhausted"


def test_an_activation_cut_off_by_the_token_limit_activates_nothing() -> None:  # A5b
    cut = calls((SELECTOR, {"skill": "arithmetic"}), finish_reason="length")
    result, requests = disclosed(cut, ACTIVATE, DONE)
    assert result.steps[0].error_code == "cut_off"
    assert offered(requests[1]) == [SELECTOR]
    assert told(result, 1)["status"] == "ok"


# -- D3 --------------------------------------------------------------------------------------------------------------


def test_a_tool_is_refused_until_it_was_offered() -> None:  # D3
    result, _ = disclosed(ADD, ACTIVATE, ADD, says("3"))
    assert [(step.error_code, step.executed) for step in result.steps] == [
        ("tool_not_disclosed", False),
        (None, False),
        (None, True),
    ]
    assert "'arithmetic'" in result.steps[0].observation
    assert SELECTOR in result.steps[0].observation
    assert result.success


@pytest.mark.parametrize("order", [0, 1])
def test_a_tool_is_refused_in_the_reply_that_activates_it(order: int) -> None:  # D3
    activation, early = (SELECTOR, {"skill": "arithmetic"}), ("add", {"a": 1, "b": 2})
    result, _ = disclosed(calls(activation, early) if order == 0 else calls(early, activation), ADD, says("3"))
    refused = next(step for step in result.steps if step.action == "add")
    assert (refused.error_code, refused.executed, refused.iteration) == ("tool_not_disclosed", False, 1)
    assert "in this same reply" in refused.observation
    assert (result.steps[2].executed, result.steps[2].observation) == (True, "3")
    assert result.success


def test_wrong_arguments_of_a_hidden_tool_do_not_show_its_schema() -> None:  # D3
    result, _ = disclosed(calls(("add", {"a": "x"})), DONE)
    assert result.steps[0].error_code == "tool_not_disclosed"
    assert "integer" not in result.steps[0].observation


class Insists:
    """A plugin that goes past the layer: it asks for execution itself."""

    @hookimpl
    async def react_tool_call(self, call: ToolCall) -> Observation | None:
        return await call.execute() if call.name == "add" else None


def test_no_plugin_gets_iteration_the_refusal() -> None:  # D3
    agent = agent_with([ADD, DONE], toolsets=[Sums()], plugins=[Insists()], tool_disclosure="skills")
    result = agent.run_sync("go")
    assert (result.steps[0].error_code, result.steps[0].executed) == ("tool_not_disclosed", False)


def test_an_unknown_tool_is_told_what_is_offered_now() -> None:  # A6
    result, _ = disclosed(calls(("subtract", {})), DONE)
    assert result.steps[0].error_code == "unknown_tool"
    assert SELECTOR in result.steps[0].observation
    assert "multiply" not in result.steps[0].observation


# -- D4 --------------------------------------------------------------------------------------------------------------


def test_sticky_keeps_what_was_activated_and_no_more() -> None:  # D4
    _, requests = disclosed(ACTIVATE, ADD, calls(("multiply", {"a": 2, "b": 3})), DONE)
    assert [offered(request) for request in requests[1:]] == [[SELECTOR, "add", "multiply"]] * 3


def test_expansion_offers_every_tool_after_the_first_success() -> None:  # D4
    result, requests = disclosed(ACTIVATE, ADD, NOW, DONE, skill_disclosure_progression="expand_after_first_success")
    assert offered(requests[1]) == [SELECTOR, "add", "multiply"]
    assert offered(requests[2]) == ["add", "multiply", "now"]
    assert result.steps[2].executed


def test_an_opaque_result_expands_too() -> None:  # D4
    _, requests = disclosed(ACTIVATE_TIME, NOW, DONE, skill_disclosure_progression="expand_after_first_success")
    assert offered(requests[2]) == ["now", "add", "multiply"]


def test_a_failure_or_an_activation_expands_nothing() -> None:  # D4
    wrong = calls(("add", {"a": "x", "b": 1}))
    _, requests = disclosed(ACTIVATE, wrong, ADD, DONE, skill_disclosure_progression="expand_after_first_success")
    assert offered(requests[2]) == [SELECTOR, "add", "multiply"]
    assert offered(requests[3]) == ["add", "multiply", "now"]


def test_activating_after_the_expansion_never_takes_tools_away() -> None:  # D4
    result, requests = disclosed(
        ACTIVATE, ADD, ACTIVATE_TIME, DONE, skill_disclosure_progression="expand_after_first_success"
    )
    assert told(result, 2)["available_tools"] == ["add", "multiply", "now"]
    assert offered(requests[3]) == ["add", "multiply", "now"]


# -- D5 --------------------------------------------------------------------------------------------------------------


def test_a_required_followup_offers_only_domain_tools_and_asks_for_one() -> None:  # D5
    _, requests = disclosed(ACTIVATE, ADD, DONE, skill_activation_followup="required")
    assert (offered(requests[1]), requests[1].tool_choice) == (["add", "multiply"], "required")
    assert (set(offered(requests[2])), requests[2].tool_choice) == ({SELECTOR, "add", "multiply"}, None)


def test_without_it_the_model_is_free() -> None:  # D5
    _, requests = disclosed(ACTIVATE, DONE)
    assert (set(offered(requests[1])), requests[1].tool_choice) == ({SELECTOR, "add", "multiply"}, None)


def test_a_failed_activation_asks_for_no_followup() -> None:  # D5
    _, requests = disclosed(calls((SELECTOR, {"skill": "sums"})), DONE, skill_activation_followup="required")
    assert (offered(requests[1]), requests[1].tool_choice) == ([SELECTOR], None)


def test_every_activation_asks_for_its_own_followup() -> None:  # D5
    _, requests = disclosed(ACTIVATE, ADD, ACTIVATE_TIME, NOW, DONE, skill_activation_followup="required")
    assert [request.tool_choice for request in requests] == [None, "required", None, "required", None]
    assert offered(requests[3]) == ["add", "multiply", "now"]


# -- D7 --------------------------------------------------------------------------------------------------------------


def test_a_run_reports_the_prompt_tokens_it_saved() -> None:  # D7
    many = tuple(_toolset(number, size=20) for number in range(10))
    result, requests = disclosed(calls((SELECTOR, {"skill": "group_3"})), calls(("tool_3_7", {})), DONE, toolsets=many)
    report = result.disclosure
    assert report is not None
    assert result.to_dict()["disclosure"] == report
    assert (report["skills"], report["activated"], report["requests"]) == (10, ["group_3"], 3)
    sent = sum(len(json.dumps(tool.wire, ensure_ascii=False)) for request in requests for tool in request.tools)
    assert report["prompt_tokens"] == pytest.approx(sent / 4, abs=10)
    everything = sum(len(json.dumps(tool.wire, ensure_ascii=False)) for one in many for tool in one.tools())
    assert report["prompt_tokens_of_all"] == pytest.approx(3 * everything / 4, abs=10)
    saved = report["prompt_tokens_saved"]
    assert isinstance(saved, int)
    assert saved > 2 * everything / 4


def test_nothing_disclosed_is_nothing_to_report() -> None:  # D7
    assert agent_with([DONE], toolsets=[Sums()]).run_sync("go").disclosure is None


def _toolset(number: int, size: int) -> ReActToolset:
    class Many(ReActToolset):
        kind: ClassVar[str] = f"many_{number}"

        def tools(self) -> list[Any]:
            from react_run import Tool

            schema = {"type": "object", "properties": {"text": {"type": "string", "description": "What to work on."}}}
            return [
                Tool(name=f"tool_{number}_{n}", description=f"Does {n}.", parameters=schema, function=lambda **_: "ok")
                for n in range(size)
            ]

        def get_skill_specs(self) -> list[ReActSkillSpec]:
            names = tuple(tool.name for tool in self.tools())
            return [ReActSkillSpec(name=f"group_{number}", description=f"Group {number}.", tool_names=names)]

    return Many()


# -- the policy among the others -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("toolset", "mode"), [(Sums(), "all"), (Plain(), "skills")])
def test_all_tools_are_offered_when_that_is_wanted_or_nothing_has_a_skill(toolset: ReActToolset, mode: str) -> None:
    agent = agent_with([DONE], toolsets=[toolset], tool_disclosure=mode)  # D6
    agent.run_sync("go")
    assert isinstance(agent.model, ScriptedModel)
    assert offered(agent.model.requests[0]) == [tool.name for tool in toolset.tools()]


@pytest.mark.parametrize("failure_handling", ["safe", "legacy"])
def test_disclosure_does_not_depend_on_how_failures_are_handled(failure_handling: str) -> None:
    result, _ = disclosed(ADD, ACTIVATE, ADD, says("3"), failure_handling=failure_handling)
    assert [step.error_code for step in result.steps] == ["tool_not_disclosed", None, None]
    assert result.answer == "3"


class Offers:
    """Adds a tool of its own in mid-run, as the result ceiling does."""

    @hookimpl
    def react_settle(self, run: Run, iteration: Iteration) -> None:
        if iteration.number == 1:
            extra = Plain().tools()[0]
            run.offered_tools = (*run.offered_tools, extra)
            run.all_tools[extra.name] = extra


def test_tools_that_others_add_stay_offered_and_callable() -> None:  # T4
    replies = [ACTIVATE, calls(("echo", {"text": "hi"})), DONE]
    agent = agent_with(replies, toolsets=[Sums()], plugins=[Offers()], tool_disclosure="skills")
    result = agent.run_sync("go")
    assert isinstance(agent.model, ScriptedModel)
    assert set(offered(agent.model.requests[1])) == {SELECTOR, "add", "multiply", "echo"}
    assert result.steps[1].observation == "hi"


def test_concurrent_runs_of_one_agent_disclose_apart() -> None:  # T5
    agent = agent_with([ACTIVATE, ADD, DONE], toolsets=[Sums(), Clock()], tool_disclosure="skills")

    async def many() -> list[RunResult]:
        return await asyncio.gather(*(agent.run(f"go {number}") for number in range(20)))

    for result in asyncio.run(many()):
        assert [step.error_code for step in result.steps] == [None, None]
        assert result.disclosure is not None
        assert result.disclosure["activated"] == ["arithmetic"]


def test_each_change_of_the_offer_is_noted() -> None:  # L7
    seen: list[tuple[str, str]] = []

    class Listens:
        @hookimpl
        def react_guard_fired(self, guard: str, detail: str) -> None:
            seen.append((guard, detail))

    agent_with([ACTIVATE, ADD, DONE], toolsets=[Sums()], plugins=[Listens()], tool_disclosure="skills").run_sync("go")
    assert seen == [("disclosure", f"offers {SELECTOR}, add, multiply")]


def test_a_policy_of_ones_own_takes_the_place() -> None:
    class Nothing:
        @hookimpl
        def react_run(self, run: Run) -> None:
            run.offered_tools = ()

    model = ScriptedModel(replies=["done"])
    ReActAgent({"tool_disclosure": Nothing()}, model=model, toolsets=[Sums()]).run_sync("go")
    assert offered(model.requests[0]) == []
