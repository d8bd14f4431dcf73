"""The click application: commands are imported when they are called, and a file is run when no command is named."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

import click

from react_run.cli.commands import COMMANDS

EPILOG = "Exit status: 0 answered · 1 no successful answer · 2 invalid agent file or command line"
EPILOG += (
    " · 3 the provider failed · 4 needs the user · 5 a limit was reached · 6 the replay diverged · 130 interrupted."
)


class Application(click.Group):
    """Commands by name, each imported when it is called; any other name is an agent file to run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"react_run.cli.{cmd_name}").command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert ``run`` before arguments that do not begin with a command."""
        own = {name for parameter in self.get_params(ctx) for name in parameter.opts}
        if args and args[0] not in COMMANDS and args[0] not in own:
            args = ["run", *args]
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[click.shell_completion.CompletionItem]:
        """Complete the names of commands and files."""
        from click.shell_completion import CompletionItem

        commands = [CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)]
        options = super().shell_complete(ctx, incomplete) if incomplete.startswith("-") else []
        return [*commands, *options, CompletionItem(incomplete, type="file")]


@click.command(
    cls=Application,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=EPILOG,
    no_args_is_help=True,
)
@click.option("-V", "--version", is_flag=True, help="Show the version and exit.")
@click.pass_context
def application(context: click.Context, version: bool) -> None:
    """Run agents described in YAML files.

    \b
      react-run AGENT.yaml "PROMPT"     answer on stdout, everything else on stderr
      react-run AGENT.yaml              chat
      cat FILE | react-run AGENT.yaml -

    See `react-run run --help` for the options of a run. `--debug` shows tracebacks.
    """
    if version:
        from react_run import __version__

        click.echo(f"react-run {__version__}")
        context.exit()


def no_such_file(name: str) -> str:
    """Error text for a missing agent file; the user may have meant a command."""
    text = f"there is no file {name}"
    path = Path(name)
    files = [*path.parent.glob("*.y*ml")] if path.parent.is_dir() else []
    near_files = get_close_matches(path.stem, [file.stem for file in files], n=1, cutoff=0.7)
    if near_files:
        near_file = next(file for file in files if file.stem == near_files[0])
        return f"{text}. Did you mean {near_file}?"
    near = get_close_matches(name, COMMANDS, n=1, cutoff=0.6)
    if near:
        return f"{text}. Did you mean the command {near[0]!r}?"
    return text if path.suffix else f"{text}, and it is not a command; react-run --help lists the commands"
