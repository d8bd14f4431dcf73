"""``react-run test FILE CASES.yaml``: test an agent offline, with recorded or scripted replies."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from react_run.cli.options import agent_options, named_file
from react_run.cli.terminal import json_text
from react_run.launch.options import AgentOptions, built

if TYPE_CHECKING:
    from react_run.agent import ReActAgent
    from react_run.evals.cases import Case
    from react_run.evals.offline import Verdict
    from react_run.evals.scorer import Scorer


@click.command("test", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file", metavar="AGENT.yaml", type=click.Path())
@click.argument("cases", metavar="CASES.yaml", type=click.Path())
@agent_options
@click.option("-k", "--only", metavar="TEXT", help="Use only cases whose names contain TEXT.")
@click.option("--junit", metavar="FILE", callback=named_file, help="Write the results as JUnit XML, for CI.")
@click.option("--json", "as_json", is_flag=True, help="Print the results as JSON.")
def command(file: str, cases: str, only: str | None, junit: str | None, as_json: bool, **given: Any) -> int:
    """Test an agent offline. The exit status is 1 if a case fails.

    \b
      cases:
        - name: a sum                       # a scripted model: replies as of {kind: scripted}
          prompt: 15*23
          replies: [{tool_calls: [{name: calculate, arguments: {expression: "15*23"}}]}, "345"]
          answer: "345"
          tools: [calculate]
        - name: as it was in May            # a recorded run: everything must be as recorded
          recording: runs/may.jsonl

    A case may also say contains, matches, success, stop_reason and max_iterations, and name scorers (docs/evals.md).
    """
    from react_run.cli.exit import complain, logs_to
    from react_run.cli.interrupts import drive
    from react_run.config.trust import is_in_trusted
    from react_run.errors import ConfigError
    from react_run.evals.offline import needs_network
    from react_run.evals.suite import read_suite

    options = AgentOptions(file=file, foreign=not is_in_trusted(Path(cases)), **given)
    suite = read_suite(Path(cases), trusted=True if options.trust else None)
    wanted = [case for case in suite.cases if only is None or only in case.name]
    if not wanted:
        raise click.UsageError(f"no case has {only!r} in its name")
    agent = built(options.config(), options.extra_plugins(), ())
    if problems := list(filter(None, (needs_network(case, agent, suite.scorers) for case in wanted))):
        raise ConfigError("\n".join(problems))
    with logs_to(complain):
        verdicts = drive(_judged(wanted, agent, suite.scorers, quiet=as_json))
    failed = sum(bool(verdict.problems) for verdict in verdicts)
    if junit is not None:
        Path(junit).write_bytes(as_junit(Path(cases).name, verdicts))
    if as_json:
        print(json_text({"passed": not failed, "cases": [verdict.to_dict() for verdict in verdicts]}, indent=2))
    else:
        print(f"{len(verdicts) - failed} passed, {failed} failed")
    return 1 if failed else 0


async def _judged(cases: list[Case], agent: ReActAgent, shared: list[Scorer], *, quiet: bool) -> list[Verdict]:
    from react_run.evals.offline import judged

    verdicts = []
    for case in cases:
        verdict = await judged(case, agent, shared)
        mask = agent.config.masker.mask
        problems = tuple(map(mask, verdict.problems))
        verdict = replace(verdict, name=mask(verdict.name), problems=problems, answer=mask(verdict.answer))
        verdicts.append(verdict)
        if not quiet:
            _show(verdict)
    return verdicts


def _show(verdict: Verdict) -> None:
    from react_run.cli.terminal import coloured
    from react_run.support.text import printable

    mark = coloured("✗", "red", sys.stdout) if verdict.problems else coloured("✓", "green", sys.stdout)
    print(f"{mark} {printable(verdict.name)}")
    for text in verdict.problems:
        print("\n".join(f"    {line}" for line in printable(text).splitlines()))


def as_junit(suite: str, verdicts: list[Verdict]) -> bytes:
    """The results as JUnit XML."""
    from react_run.evals.exports.junit_file import Entry, junit

    return junit(
        suite,
        (Entry(name=one.name, seconds=one.seconds, failure="\n".join(one.problems)) for one in verdicts),
    )
