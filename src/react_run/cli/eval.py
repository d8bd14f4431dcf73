"""``react-run eval AGENT CASES``: how good is this agent, is it better than that one, and how sure are we?"""

from __future__ import annotations

from typing import Any

import click

from react_run.cli.batch import _rate
from react_run.cli.options import agent_options, named_file
from react_run.launch.options import AgentOptions

EXPORTS = ("csv", "inspect", "junit", "promptfoo")


@click.command("eval", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("file", metavar="AGENT.yaml", type=click.Path())
@click.argument("cases", metavar="CASES", type=click.Path())
@click.option(
    "--repeat", metavar="N", type=click.IntRange(1), help="Run each case N times (default: what its file says, or 1)."
)
@click.option("--against", metavar="AGENT2.yaml", type=click.Path(), help="Compare with another agent.")
@click.option("-m2", "--against-model", metavar="MODEL", help="Compare with the same agent on another model.")
@click.option(
    "--baseline", metavar="RESULT", type=click.Path(), help="Compare with a saved result: a file or a directory."
)
@click.option(
    "-j", "--jobs", type=click.IntRange(1), default=8, show_default=True, help="Number of runs at the same time."
)
@click.option("--rate", metavar="N/min", callback=_rate, help="Runs started per minute.")
@click.option(
    "--max-cost", metavar="USD", type=click.FloatRange(0), help="Maximum cost of all runs and judges together."
)
@click.option(
    "--retries", type=click.IntRange(0), default=2, show_default=True, help="Retries after a failure of the provider."
)
@click.option("--retry-errors", is_flag=True, help="Retry runs that ended with an error.")
@click.option("--keep-going", is_flag=True, help="Continue even if the first ten runs all fail in the same way.")
@click.option("--min-pass", metavar="SHARE", type=click.FloatRange(0, 1), help="Gate: the minimum pass rate.")
@click.option(
    "--no-worse-than",
    metavar="SHARE",
    type=click.FloatRange(0, 1),
    help="Gate: the comparison must show that the agent is not worse by more than this.",
)
@click.option("-k", "--only", metavar="TEXT", help="Use only cases whose names contain TEXT.")
@click.option("--tag", metavar="TAG", multiple=True, help="Use only cases with this tag (repeatable: any of them).")
@click.option(
    "-o", "--output", metavar="DIR", type=click.Path(file_okay=False), help="Directory for everything that is saved."
)
@click.option("--fresh", is_flag=True, help="Discard what is saved there, and start over.")
@click.option(
    "--rescore", metavar="DIR", type=click.Path(), help="Score the runs saved in DIR again, without new requests."
)
@click.option(
    "--html", metavar="FILE", type=click.Path(), callback=named_file, help="Write the report as an HTML page."
)
@click.option(
    "--export",
    metavar="FORMAT FILE",
    nargs=2,
    multiple=True,
    callback=named_file,
    type=(click.Choice(EXPORTS), click.Path()),
    help="Export the result: csv, inspect, junit or promptfoo (repeatable).",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed for random sampling.")
@click.option("--all", "everything", is_flag=True, help="List all cases, including those that pass.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@agent_options
@click.option("--yes", is_flag=True, help="Approve every tool call that needs approval.")
@click.option("-q", "--quiet", is_flag=True, help="Do not show progress.")
def command(file: str, cases: str, **given: Any) -> int:
    """Measure an agent on cases (YAML, JSON lines, CSV), with confidence intervals.

    \b
      react-run eval agent.yaml cases.yaml --repeat 5
      react-run eval agent.yaml cases.yaml --against better.yaml
      react-run eval agent.yaml cases.yaml --baseline last-week/ --no-worse-than 0.05

    If it is interrupted or killed, the same command continues. Cases are written as for `react-run test`, and may
    name scorers (docs/evals.md).

    Exit status: 0 all gates hold · 1 some do not · 2 wrong use · 3 more than 5 % of the runs were errors · 5 the cost
    limit was reached · 130 interrupted.
    """
    from react_run.cli.eval_run import EvalRun

    names = ("model", "sets", "plugins", "env_file", "trust")
    options = AgentOptions(file=file, **{name: given.pop(name) for name in names})
    return EvalRun(options=options, cases=cases, **given).go()
