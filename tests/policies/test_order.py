"""Which policies an agent has, in what order, and how one is replaced, tuned or left out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import ClassVar, get_args

import pytest

from react_run import ConfigError, Iteration, ReActAgent, Run, StopReason, Tool, hookimpl
from react_run.components.kinds import resolve
from react_run.hooks import hook_names
from react_run.policies.limits import RunLimits
from react_run.policies.order import Disable, Guard, Policy
from react_run.policies.stuck import Stuck
from react_run.testing import agent_with, calls, run_agent, says

Make = Callable[..., Tool]


def guards(agent: ReActAgent) -> list[str]:
    """The guards of an agent in plugin order, outermost first."""
    found: dict[str, None] = {}
    chains = [getattr(agent.hooks, hook) for hook in hook_names()]
    for policy in agent._plugins:
        name = getattr(policy, "guard", "")
        if name and any(impl.plugin is policy for chain in chains for impl in chain):
            found[name] = None
    return list(found)


def test_all_guards_stand_in_their_order() -> None:
    from react_run import Check, Verdict

    class Never(Check):
        async def check(self, run: Run, answer: str) -> Verdict:
            return Verdict(accepted=False)

    limits = {"run_timeout": 1.0, "max_cost": 1.0, "on_limit": "ask"}
    assert guards(agent_with(["hi"], checks=[Never()], limits=limits)) == list(get_args(Guard))


def test_what_nobody_asked_for_is_not_there() -> None:
    default = guards(agent_with(["hi"]))
    assert set(get_args(Guard)) - set(default) == {
        "run_timeout",
        "limits",
        "more_iterations",
        "acceptance",
        "budget_warnings",
    }
    legacy = guards(agent_with(["hi"], failure_handling="legacy"))
    assert legacy == ["result_limit", "truncated_calls", "reply_checks", "compaction", "model_retries"]


@pytest.mark.parametrize("guard", get_args(Guard))
def test_every_guard_has_a_kind_of_its_name(guard: str) -> None:
    policy = resolve("plugins", guard)
    assert isinstance(policy, type)
    assert issubclass(policy, Policy)
    assert policy.guard == policy.kind == guard


@pytest.mark.parametrize("guard", get_args(Guard))
def test_every_guard_can_be_left_out(guard: str) -> None:
    agent = agent_with(["hi"], plugins=[{"kind": "disable", "policy": guard}])
    assert guard not in guards(ReActAgent({"plugins": [{"kind": "disable", "policy": guard}]}, model=agent.model))


def test_a_guard_listed_among_the_plugins_takes_the_built_in_ones_place(scripted_tool: Make) -> None:
    poll = scripted_tool("poll", "0 %", repeatable=True)
    replies = [*[calls(("poll", {}))] * 8, says("done")]
    plugins = [{"kind": "stuck", "polls": 3, "nudge_at": 4, "stop_at": 5}]
    agent = ReActAgent(
        {"plugins": plugins}, model=agent_with(replies).model, toolsets=agent_with([""], tools=[poll]).toolset.toolsets
    )
    assert guards(agent) == guards(agent_with(["hi"]))
    result = asyncio.run(agent.run("go"))
    assert (result.stop_reason, result.iterations) == (StopReason.STUCK, 7)


def test_a_guard_of_ones_own_needs_only_the_name(scripted_tool: Make) -> None:
    class Strict:
        guard: ClassVar[str] = "stuck"

        @hookimpl
        def react_settle(self, run: Run, iteration: Iteration) -> None:
            run.stop("bored")

    result = run_agent([calls(("read", {})), says("done")], tools=[scripted_tool("read", "t")], plugins=[Strict()])
    assert result.stop_reason == "bored"


def test_a_policy_of_ones_own_takes_the_place_of_all_failure_handling(scripted_tool: Make) -> None:
    class Shrug:
        @hookimpl
        def react_settle(self, run: Run, iteration: Iteration) -> None:
            run.stop("whatever", "I give up.")

    agent = agent_with(
        [calls(("read", {})), says("done")], tools=[scripted_tool("read", "t")], failure_handling=Shrug()
    )
    assert "failures" not in guards(agent)
    result = agent.run_sync("go")
    assert (result.stop_reason, result.answer) == ("whatever", "I give up.")


def test_safe_can_be_tuned_and_other_words_are_refused() -> None:
    agent = agent_with(["hi"], failure_handling={"kind": "safe", "stop_at": 9})
    (stuck,) = [policy for policy in agent._plugins if isinstance(policy, Stuck)]
    assert stuck.stop_at == 9
    for wrong in ("careful", {"kind": "safe", "stop_after": 9}, {"kind": "disable", "policy": "everything"}):
        with pytest.raises(ConfigError):
            agent_with(["hi"], failure_handling=wrong)


def test_limits_add_up_so_that_those_of_a_run_above_do_not_replace_a_runs_own() -> None:
    for given, own in ((0.0, 9.0), (9.0, 0.0)):
        agent = agent_with(["hi"], plugins=[RunLimits(max_cost=given)], max_cost=own)
        assert agent.run_sync("go").stop_reason == StopReason.COST_LIMIT
    assert agent_with(["hi"], plugins=[Disable(policy="limits")], max_cost=0.0).run_sync("go").success
