"""Checks a result against a baseline and against CI gates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from react_run.errors import ConfigError
from react_run.evals.results import WANTED, Result, Tallies, compared
from react_run.evals.tally import CaseTally
from react_run.evals.words import percent

if TYPE_CHECKING:
    from react_run.evals.plan import Plan

COMMON = 0.8
"""The share of cases that must also be in the baseline."""


def check_baseline(baseline: Result, plan: Plan, where: str) -> list[str]:
    """The names of the cases that a baseline contains unchanged.

    Raises:
        ConfigError: There are too few; the message names the differences.
    """
    then = {case["name"]: case["digest"] for case in baseline["cases"]}
    now = {case.name: case.digest for case in plan.cases}
    common = [name for name in now if then.get(name) == now[name]]
    if len(common) < COMMON * max(len(now), 1):
        new = [name for name in now if name not in then]
        changed = [name for name in now if name in then and then[name] != now[name]]
        said = [f"only {len(common)} of {len(now)} cases are in the baseline {where}; {percent(COMMON)} must be"]
        said += [f"  not in the baseline: {', '.join(new[:5])}{' …' if len(new) > 5 else ''}"] if new else []
        said += [f"  changed since: {', '.join(changed[:5])}{' …' if len(changed) > 5 else ''}"] if changed else []
        raise ConfigError("\n".join(said))
    return common


def against_baseline(
    result: Result, tallies: Tallies, baseline: Result, common: Sequence[str], where: str, wanted: float = WANTED
) -> None:
    """Compare the first variant of a result with a baseline's first variant."""
    theirs, ours = baseline["variants"][0]["name"], result["variants"][0]["name"]
    before = {
        case["name"]: CaseTally.from_dict(case["variants"][theirs])
        for case in baseline["cases"]
        if case["name"] in set(common) and theirs in case["variants"]
    }
    weights = {case["name"]: case["weight"] for case in result["cases"]}
    name = f"{theirs} (baseline)"
    found = compared(name, before, ours, tallies.get(ours, {}), weights, result["seed"], wanted=wanted)
    result["comparison"] = {**found, "baseline": where}


def judge_gates(result: Result, *, min_pass: float | None = None, no_worse_than: float | None = None) -> bool:
    """Add to a result whether its gates hold, and return whether all do.

    Args:
        result: The result.
        min_pass: The minimum pass rate of the last variant.
        no_worse_than: By how much the second variant may be worse, at most; judged by the lower end of the interval.
    """
    gates = []
    measured = result["variants"][-1]
    if min_pass is not None:
        rate = measured["rate"]["value"] if measured["rate"] else 0.0
        said = f"{measured['name']} passes {percent(rate)}; at least {percent(min_pass)} is required"
        gates.append({"gate": "min_pass", "value": min_pass, "holds": rate >= min_pass - 1e-9, "said": said})
    comparison = result["comparison"]
    if no_worse_than is not None and comparison is not None:
        low = comparison["difference"]["low"] if comparison["cases"] else -1.0
        holds = low >= -no_worse_than - 1e-9
        said = (
            f"{comparison['second']} may be up to {max(0.0, -100 * low):.0f} points worse, and "
            f"{100 * no_worse_than:g} are allowed"
        )
        if not holds and comparison["verdict"] != "worse":
            said += ": there are not enough cases to tell"
        gates.append({"gate": "no_worse_than", "value": no_worse_than, "holds": holds, "said": said})
    result["gates"] = gates
    return all(gate["holds"] for gate in gates)
