"""``react-run trust DIR``: trust a directory: its agent files may start programs and load code from it."""

from __future__ import annotations

from pathlib import Path

import click

from react_run.cli.terminal import terminal_text


@click.command("trust", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("directory", metavar="[DIR]", required=False, type=click.Path())
@click.option("--remove", is_flag=True, help="Stop trusting DIR.")
@click.option("--list", "listing", is_flag=True, help="List the trusted directories.")
def command(directory: str | None, remove: bool, listing: bool) -> int:
    """Trust DIR and everything below it.

    Agent files in a trusted directory may start programs (command checks, the shell toolset, skill
    scripts), load code next to them, and use files outside their directory.
    """
    from react_run.config.trust import trust, trusted_directories, untrust

    if listing:
        listed = trusted_directories()
        for trusted in listed:
            print(terminal_text(str(trusted)))
        if not listed:
            click.echo("no directory is trusted", err=True)
        return 0
    if directory is None:
        raise click.UsageError("name the directory to trust, or use --list")
    if remove:
        if not untrust(Path(directory)):
            raise click.UsageError(f"{directory} is not among the trusted directories (react-run trust --list)")
        print(terminal_text(f"no longer trusted: {Path(directory).resolve()}"))
        return 0
    print(terminal_text(f"trusted: {trust(Path(directory))}"))
    return 0
