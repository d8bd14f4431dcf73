"""``react-run replay RUN``: run the agent again on recorded replies, and show the first difference (behaviour J3)."""

from __future__ import annotations

from typing import Literal

import click

from react_run.cli.options import run_argument
from react_run.cli.recorded import naming_damage


@click.command("replay", context_settings={"help_option_names": ["-h", "--help"]})
@run_argument
@click.option(
    "--tools",
    type=click.Choice(["recorded", "live"]),
    default="live",
    show_default=True,
    help="Run the tools again, or take their results from the recording as well, so that nothing leaves the process.",
)
@click.option("--agent", metavar="AGENT.yaml", help="Replay with this agent instead of the recorded one.")
@click.option("--trust", is_flag=True, help="Trust the file's directory for this run.")
@click.option("--yes", is_flag=True, help="Approve every tool call that needs approval.")
@naming_damage
def command(run: str | None, tools: Literal["recorded", "live"], agent: str | None, trust: bool, yes: bool) -> int:
    """Replay RUN: the model answers from the recording, everything else runs again and is compared.

    If anything differs, the first difference is shown, and the exit status is 6.
    """
    from react_run.cli.exit import complain, logs_to
    from react_run.cli.interrupts import drive
    from react_run.cli.recorded import options_of
    from react_run.journal.locate import find_run
    from react_run.journal.reading import read_journal
    from react_run.journal.replay.replay import replay
    from react_run.journal.view.formatting import plural
    from react_run.launch.options import approve_all, built

    journal = read_journal(find_run(run))
    options = options_of(journal, agent, trust=trust)
    config, plugins = options.config(), options.extra_plugins()
    if yes:
        approve_all(config, plugins)
    made = built(config, plugins, ())
    with logs_to(complain):
        replayed = drive(replay(journal, made, tools=tools))
    end = "" if replayed.complete else "; the recording was interrupted there"
    stats = journal.stats
    counts = (
        plural(stats.iterations, "iteration"),
        plural(stats.model_calls, "model call"),
        plural(stats.tool_calls, "tool call"),
    )
    print(f"identical: {', '.join(counts)}{end}")
    return 0
