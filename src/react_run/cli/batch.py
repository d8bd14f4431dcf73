"""``react-run batch AGENT INPUTS``: many runs of one agent, resumable."""

from __future__ import annotations

from typing import Any

import click

from react_run.cli.options import agent_options
from react_run.launch.options import AgentOptions

HELP = {"help_option_names": ["-h", "--help"]}
ENGINE_HELP = "The queue: sqlite (on this machine, the default) or postgres://USER:PASSWORD@HOST/DATABASE."


class _Commands(click.Group):
    """Treats any word that is not a command as the agent file of a batch to run."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in HELP["help_option_names"]:
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group("batch", cls=_Commands, context_settings=HELP, no_args_is_help=True)
def command() -> None:
    """Run an agent on many rows; the same command again continues where it stopped.

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
@click.option(
    "-o", "--output", metavar="OUT.jsonl", type=click.Path(), help="Where results go (default: standard output)."
)
@click.option(
    "-j", "--jobs", type=click.IntRange(1), default=8, show_default=True, help="Number of rows processed at once."
)
@click.option("--prompt", metavar="TEMPLATE", help='Template of the prompt for each row, such as "Summarise {text}".')
@click.option(
    "--id", "id_field", metavar="FIELD", default="id", show_default=True, help="The field with the id of a row."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "csv", "tsv", "text"]),
    help="Format of INPUTS; by default that of its extension, or jsonl.",
)
@click.option("--rate", metavar="N/min", callback=_rate, help="Model requests per minute, for all workers together.")
@click.option("--max-cost", metavar="USD", type=click.FloatRange(0), help="Maximum cost of all rows together.")
@click.option(
    "--retries", type=click.IntRange(0), default=2, show_default=True, help="Retries after a failure of the provider."
)
@click.option("--retry-errors", is_flag=True, help="Continue rows that ended with an error from their journals.")
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Process only the first N rows.")
@click.option("--unordered", is_flag=True, help="Write results in the order in which they arrive.")
@click.option("--engine", metavar="URL", default="sqlite", help=ENGINE_HELP)
@click.option("--name", metavar="NAME", help="Name of the batch (default: made from OUT.jsonl).")
@click.option("--resume", metavar="NAME", help="Continue a batch that writes to standard output.")
@click.option("--fresh", is_flag=True, help="Discard the previous progress of this batch, and start over.")
@click.option("--keep-going", is_flag=True, help="Continue even if the first ten rows all fail in the same way.")
@click.option(
    "--workspaces", metavar="DIR", type=click.Path(), help="Directory in which each row gets a directory of its own."
)
@agent_options
@click.option("--yes", is_flag=True, help="Approve every tool call that needs approval.")
@click.option("-q", "--quiet", is_flag=True, help="Show neither progress nor a summary.")
def run(file: str, inputs: str | None, **given: Any) -> int:
    """Run AGENT.yaml on each row of INPUTS: JSON lines, CSV with a header, a prompt per line (.txt), or - for stdin.

    A row is a text, or an object with `prompt` and, optionally, `id`, `messages` and `vars`. Results are written as
    JSON lines in the order of the rows. If it is interrupted or killed, the same command continues: finished rows are
    kept, started rows continue from their journals, and rows may be added at the end.

    Exit status: 0 all rows were answered · 1 some were not · 2 wrong use · 3 the provider failed · 5 the cost limit was
    reached · 130 interrupted.
    """
    from react_run.cli.batch_run import BatchRun

    names = ("model", "sets", "plugins", "env_file", "trust")
    options = AgentOptions(file=file, **{name: given.pop(name) for name in names})
    return BatchRun(options=options, inputs=inputs, **given).go()


@command.command("status", context_settings=HELP)
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--engine", metavar="URL", default="sqlite", help=ENGINE_HELP)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def status(name: str | None, engine: str, as_json: bool) -> int:
    """Show the progress of batches. NAME is the name of a batch, the beginning of it, or the file it writes."""
    from react_run.cli.batch_views import show_status

    return show_status(name, engine, as_json=as_json)


@command.command("stop", context_settings=HELP)
@click.argument("name", metavar="NAME")
@click.option("--engine", metavar="URL", default="sqlite", help=ENGINE_HELP)
def stop(name: str, engine: str) -> int:
    """Stop starting new rows; rows in progress are finished."""
    from react_run.cli.batch_views import stop_batch

    return stop_batch(name, engine)


@command.command("results", context_settings=HELP)
@click.argument("name", metavar="NAME")
@click.option("--engine", metavar="URL", default="sqlite", help=ENGINE_HELP)
@click.option(
    "--status", "only", type=click.Choice(["ok", "unsuccessful", "error"]), help="Only rows that ended in this way."
)
def results(name: str, engine: str, only: str | None) -> int:
    """Write the results so far, as JSON lines in the order of the rows."""
    from react_run.cli.batch_views import write_results

    return write_results(name, engine, only)
