"""Which policies an agent has, in what order, and how one is replaced, tuned or left out."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib import metadata
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, TypeGuard

import pytest

from react_run import ConfigError, Iteration, PluginError, ReActAgent, Run, StopReason, Tool, hookimpl, policies
from react_run.components.kinds import OURS, resolve
from react_run.hooks import hook_names
from react_run.policies.limits import RunLimits
from react_run.policies.order import Disable, Policy, built_in, outermost_first
from react_run.policies.stuck import Stuck
from react_run.testing import agent_with, calls, run_agent, says

Make = Callable[..., Tool]
ORDER = [
    "duplicate_calls",
    "failures",
    "grounding",
    "run_timeout",
    "limits",
    "more_iterations",
    "last_answer",
    "acceptance",
    "result_limit",
    "truncated_calls",
    "stuck",
    "budget_warnings",
    "reply_checks",
    "compaction",
    "model_retries",
]
"""All guards, outermost first."""


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
    assert guards(agent_with(["hi"], checks=[Never()], limits=limits)) == ORDER


def test_declarations_alone_decide_the_order_and_each_has_its_reason() -> None:
    order = built_in()
    assert [policy.guard for policy in order] == ORDER
    for policy in order:
        declared = {**policy.inside, **policy.outside}
        assert set(declared) <= set(ORDER) - {policy.guard}
        assert all(reason.strip() for reason in declared.values())
    for outer, inner in pairwise(order):
        assert outer.guard in inner.inside or inner.guard in outer.outside, (
            f"{outer.guard}, {inner.guard}: by name only"
        )
    assert outermost_first(reversed(order)) == order


def test_the_page_describes_the_guards_in_their_order() -> None:
    page = (Path(__file__).parents[2] / "docs" / "guards.md").read_text()
    places = [page.index(f"`{guard}`", page.index("## The guards, outermost first")) for guard in ORDER]
    assert places == sorted(places)


def test_guards_that_are_inside_each_other_are_refused() -> None:
    class One(Policy):
        kind: ClassVar[str] = "one"
        inside: ClassVar[dict[str, str]] = {"two": "for the test"}

    class Two(Policy):
        kind: ClassVar[str] = "two"
        inside: ClassVar[dict[str, str]] = {"one": "for the test"}

    with pytest.raises(PluginError, match="no order, because each is inside another: one, two"):
        outermost_first([One, Two])
    assert One not in built_in()


def test_policies_are_found_where_nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("react_run.policies.order.our_kinds", lambda group: {})
    assert built_in.__wrapped__() == built_in()


CURFEW = '''
"""Ends runs late at night."""

from typing import ClassVar

from react_run.hookspecs import hookimpl
from react_run.policies.order import Policy


class Curfew(Policy):
    """Ends a run late at night."""

    kind: ClassVar[str] = "curfew"
    inside: ClassVar[dict[str, str]] = {"limits": "a run without money needs no curfew"}
    outside: ClassVar[dict[str, str]] = {"more_iterations": "nobody is asked at night"}

    hour: int = 23
    """The hour from which no iteration begins."""

    @classmethod
    def for_agent(cls, config, plugins):
        return cls(hour=21) if config.failure_handling == "safe" else None

    @hookimpl
    def react_settle(self, run, iteration):
        run.note(self.guard, "good night")
'''
DESCRIBED = """
import json, sys
import react_run.policies

react_run.policies.__path__.append(sys.argv[1])
from react_run.components import resolve
from react_run.policies.order import Disable, built_in
from react_run.testing import agent_with

def hours(**options):
    return [plugin.hour for plugin in agent_with(["hi"], **options).plugins if hasattr(plugin, "hour")]

order = [policy.guard for policy in built_in()]
found = {"order": order, "schema": Disable.model_json_schema()["properties"]["policy"]["enum"] == order}
if "curfew" in order:
    found["hours"] = [hours(), hours(failure_handling="legacy"), hours(plugins=[{"kind": "curfew"}]),
                      hours(plugins=[{"kind": "disable", "policy": "curfew"}])]
print(json.dumps(found))
"""


def with_a_module(site: Path, owner: str) -> dict[str, object]:
    """What a new process says of the guards when a module is added to ``policies`` and ``owner`` has its kind."""
    (site / "policies").mkdir()
    (site / "policies" / "curfew.py").write_text(CURFEW)
    ours = [f"{point.name} = {point.value}" for point in metadata.entry_points(group="react_run.plugins")]
    info = site / f"{owner.replace('-', '_')}-99.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {owner}\nVersion: 99\n")
    kinds = "\n".join([*(ours if owner == OURS else ()), "curfew = react_run.policies.curfew:Curfew"])
    (info / "entry_points.txt").write_text(f"[react_run.plugins]\n{kinds}\n")
    command = [sys.executable, "-c", DESCRIBED, str(site / "policies")]
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_one_module_and_its_entry_point_add_a_guard(tmp_path: Path) -> None:
    found = with_a_module(tmp_path, OURS)
    at = ORDER.index("more_iterations")
    assert found["order"] == [*ORDER[:at], "curfew", *ORDER[at:]]
    assert found["schema"] is True
    assert found["hours"] == [[21], [], [23], []]


def test_another_distribution_adds_no_guard(tmp_path: Path) -> None:
    assert with_a_module(tmp_path, "guest") == {"order": ORDER, "schema": True}


def test_no_module_but_its_own_names_a_guard() -> None:
    rooms = Path(policies.__file__).parent
    for shared in ("__init__", "order", "safe"):
        named = {node.value for node in ast.walk(ast.parse((rooms / f"{shared}.py").read_text())) if is_name(node)}
        assert not named, f"{shared}.py: {named}"


def is_name(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and node.value in ORDER


def test_what_nobody_asked_for_is_not_there() -> None:
    default = guards(agent_with(["hi"]))
    assert set(ORDER) - set(default) == {
        "run_timeout",
        "limits",
        "more_iterations",
        "acceptance",
        "budget_warnings",
    }
    legacy = guards(agent_with(["hi"], failure_handling="legacy"))
    assert legacy == ["result_limit", "truncated_calls", "reply_checks", "compaction", "model_retries"]


@pytest.mark.parametrize("guard", ORDER)
def test_every_guard_has_a_kind_of_its_name(guard: str) -> None:
    policy = resolve("plugins", guard)
    assert isinstance(policy, type)
    assert issubclass(policy, Policy)
    assert policy.guard == policy.kind == guard


@pytest.mark.parametrize("guard", ORDER)
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
