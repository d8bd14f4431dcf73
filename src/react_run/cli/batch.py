"""``react-run batch AGENT INPUTS``: many runs of one agent, resumable."""

from __future__ import annotations

from typing import Any

import click

from react_run.cli.options import agent_options
from react_run.launch.options import AgentOptions

HELP = {"help_option_names": ["-h", "--help"]}
ENGINE_HELP = "Where the queue is: sqlite (this machine, the default) or postgres://USER:PASSWORD@HOST/DATABASE."


class _Commands(click.Group):
    """Takes whatever names no command for the agent file of a batch to run."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in HELP["help_option_names"]:
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group("batch", cls=_Commands, context_settings=HELP, no_args_is_help=True)
def command() -> None:
    """Run an agent on many rows; the same command again goes on where it stopped.

    \b
      react-run batch AGENT.yaml rows.jsonl -o out.jsonl
      react-run batch AGENT.yaml rows.csv -o out.jsonl --prompt "Summarise {text}"

    `react-run batch run --help` shows the options.
    """


def _rate(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """Rows per minute: ``30`` or ``30/min``; ``2/s`` and ``1000/h`` are other ways to say it."""
    if value is None:
        return None
    number, _, unit = value.partition("/")
    units = {"": 1.0, "min": 1.0, "m": 1.0, "s": 60.0, "h": 1 / 60}
    try:
        rate = float(number) * units[unit.strip()]
    except (ValueError, KeyError):
        rate = 0
    if not 0 < rate < float("inf"):
        raise click.BadParameter(f"{value!r} is not a rate: write requests per minute, such as 30/min")
    return rate


@command.command("run", context_settings=HELP)
@click.argument("file", metavar="AGENT.yaml", type=click.Path())
@click.argument("inputs", metavar="INPUTS", type=click.Path(), required=False)
@click.option("-o", "--output", metavar="OUT.jsonl", type=click.Path(), help="Where results go; standard output else.")
@click.option("-j", "--jobs", type=click.IntRange(1), default=8, show_default=True, help="Rows at once.")
@click.option("--prompt", metavar="TEMPLATE", help='Made from each row: "Summarise {text}".')
@click.option("--id", "id_field", metavar="FIELD", default="id", show_default=True, help="The field that names a row.")
@click.option(
    "--format", "form", type=click.Choice(["jsonl", "csv", "tsv", "text"]), help="By INPUTS' ending, or jsonl."
)
@click.option("--rate", metavar="N/min", callback=_rate, help="Requests to models per minute, by all workers together.")
@click.option("--max-cost", metavar="USD", type=click.FloatRange(0), help="What all rows together may cost.")
@click.option("--retries", type=click.IntRange(0), default=2, show_default=True, help="After failures of the provider.")
@click.option("--retry-errors", is_flag=True, help="Let rows that ended with an error go on from their journals.")
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Only the first N rows.")
@click.option("--unordered", is_flag=True, help="Write results as they come.")
@click.option("--engine", metavar="URL", default="sqlite", help=ENGINE_HELP)
@click.option("--name", metavar="NAME", help="What the batch is called; made from OUT.jsonl else.")
@click.option("--resume", metavar="NAME", help="Go on with a batch that writes to standard output.")
@click.option("--fresh", is_flag=True, help="Forget what this batch did before, and start anew.")
@click.option("--keep-going", is_flag=True, help="Go on though the first ten rows failed alike.")
@click.option("--workspaces", metavar="DIR", type=click.Path(), help="Where each row gets a directory of its own.")
@agent_options
@click.option("--yes", is_flag=True, help="Approve every tool call that asks for it.")
@click.option("-q", "--quiet", is_flag=True, help="Neither progress nor a summary.")
def run(file: str, inputs: str | None, **given: Any) -> int:
    """Run AGENT.yaml on each row of INPUTS: JSON lines, CSV with a header, a prompt per line (.txt), or - for stdin.

    A row is a text, or an object with `prompt` and perhaps `id`, `messages` and `vars`. Results are written as JSON
    lines in the order of the rows. Interrupted or killed, the same command goes on: finished rows are kept, begun rows
    go on from their journals, new rows at the end are added.

    Exit status: 0 all rows were answered · 1 some were not · 2 wrong use · 3 the provider failed · 5 a limit of cost ·
    130 interrupted.
    """
    from react_run.cli.batch_run import BatchRun

    names = ("model", "sets", "plugins", "env_file", "trust")
    options = AgentOptions(file=file, **{name: given.pop(name) for name in names})
    return BatchRun(options=options, inputs=inputs, **given).go()


@command.command("status", context_settings=HELP)
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--engine", metavar="URL", default="sqlite", help=ENGINE_HELP)
@click.option("--json", "as_json", is_flag=True, help="Write JSON.")
def status(name: str | None, engine: str, as_json: bool) -> int:
    """Show how far batches are. NAME is a batch's name, the beginning of it, or the file it writes."""
    from react_run.cli.batch_views import show_status

    return show_status(name, engine, as_json=as_json)


@command.command("stop", context_settings=HELP)
@click.argument("name", metavar="NAME")
@click.option("--engine", metavar="URL", default="sqlite", help=ENGINE_HELP)
def stop(name: str, engine: str) -> int:
    """Have no more rows begun; those at work go on to their end."""
    from react_run.cli.batch_views import stop_batch

    return stop_batch(name, engine)


@command.command("results", context_settings=HELP)
@click.argument("name", metavar="NAME")
@click.option("--engine", metavar="URL", default="sqlite", help=ENGINE_HELP)
@click.option(
    "--status", "only", type=click.Choice(["ok", "unsuccessful", "error"]), help="Only rows that ended like this."
)
def results(name: str, engine: str, only: str | None) -> int:
    """Write the results that there are, as JSON lines in the order of the rows."""
    from react_run.cli.batch_views import write_results

    return write_results(name, engine, only)
