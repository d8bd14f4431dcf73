"""Turns the command line into agents and cases to run, and reports everything that is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from react_run.errors import ConfigError
from react_run.evals.plan import Plan, Variant, distinct_names
from react_run.launch.keys import missing_key, without_key
from react_run.launch.options import AgentOptions, approve_all, built

if TYPE_CHECKING:
    from react_run.evals.suite import Cases


def planned(
    options: AgentOptions,
    cases: Path,
    *,
    against: str | None = None,
    against_model: str | None = None,
    only: str | None = None,
    tags: Sequence[str] = (),
    repeat: int | None = None,
    approve: bool = False,
) -> Plan:
    """Plan what to run.

    Args:
        options: How to build the agent.
        cases: The file of cases.
        against: The file of another agent.
        against_model: Another model for the same agent.
        only: A text that the names of cases must contain.
        tags: Tags; a case must have at least one.
        repeat: How often to run each case that does not say so itself.
        approve: Whether every tool call is approved.

    Raises:
        ConfigError: Everything that is wrong with the agents and the cases.
    """
    from react_run.config.trust import is_in_trusted
    from react_run.evals.suite import read_suite

    suite = read_suite(cases, trusted=True if options.trust else None)
    wanted = [
        case
        for case in suite.cases
        if (only is None or only in case.name) and (not tags or not set(tags).isdisjoint(case.tags))
    ]
    if not wanted:
        raise ConfigError(_no_case(suite, only, tags))
    if live := [case.name for case in wanted if case.recorded_tools]:
        raise ConfigError(f"{live[0]}: recorded_tools is for react-run test; eval runs the tools")
    if any(case.answers_itself for case in wanted):  # the author of the cases wrote what drives the agent
        options = replace(options, foreign=not is_in_trusted(cases))
    return Plan(
        cases=wanted,
        scorers=suite.scorers,
        variants=list(_variants(options, against, against_model, approve)),
        repeat=repeat or suite.repeat or 1,
    )


def _no_case(suite: Cases, only: str | None, tags: Sequence[str]) -> str:
    from react_run.components.errors import near

    if tags:
        known = sorted({tag for case in suite.cases for tag in case.tags})
        return f"no case has the tag {', '.join(tags)}.{near(tags[0], known)} Tags: {', '.join(known) or 'none'}"
    return f"no case has {only!r} in its name"


def _variants(
    options: AgentOptions, against: str | None, against_model: str | None, approve: bool
) -> Iterator[Variant]:
    given = [options]
    given += [replace(options, file=against)] if against is not None else []
    given += [replace(options, model=against_model)] if against_model is not None else []
    made = []
    for one in given:
        config, plugins = one.config(), one.extra_plugins()
        if approve:
            approve_all(config, plugins)
        made.append(built(config, plugins, ()))
    stems = [Path(one.file).stem for one in given]
    names = [agent.config.name or stem for agent, stem in zip(made, stems, strict=True)]
    if against_model is not None:
        names = [agent.model.name for agent in made]
    elif len(set(names)) < len(names):
        names = stems
    for name, agent, one in zip(distinct_names(names), made, given, strict=True):
        yield Variant(name=name, agent=agent, file=one.file, options=one.to_record())


def check_keys(plan: Plan) -> None:
    """Report a missing key before any request is made and paid for.

    Raises:
        ConfigError: A key is missing; the message names the variable.
    """
    asks = not all(case.answers_itself for case in plan.cases)
    agents = {variant.name: without_key(variant.agent) for variant in plan.variants} if asks else {}
    problems = [f"{name}: {problem}" for name, problem in agents.items() if problem]
    judges = {id(scorer): scorer for case in plan.cases for scorer in plan.criteria(case) if scorer.asks_model}
    problems += [
        f"the scorer {scorer.label}: no key for its model: set {variable}"
        for scorer in judges.values()
        if (variable := missing_key(getattr(scorer, "model", None)))
    ]
    if problems:
        raise ConfigError("\n".join(problems))
