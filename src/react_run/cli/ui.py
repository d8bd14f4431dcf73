"""``react-run ui``: the web page with the saved runs, without any agent."""

from __future__ import annotations

import click


@click.command("ui", context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--port", default=8765, show_default=True, type=click.IntRange(0, 65_535), help="Port; 0 picks a free one."
)
@click.option("--no-open", is_flag=True, help="Print the address without opening a browser.")
def command(port: int, no_open: bool) -> int:
    """Look at the runs on this machine in a browser: list, timeline, messages, cost, comparison.

    It can be reached only from this machine. `react-run serve` has the same page, with agents to chat with.
    """
    from react_run.cli.serve import run_server
    from react_run.serve.options import ServeOptions

    return run_server(ServeOptions(port=port), [], opened=not no_open)
