"""``react-run completion SHELL``: the script that makes a shell complete commands, options and names."""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")


@click.command("completion", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> int:
    """Print the completion script for a shell.

    \b
      bash  eval "$(react-run completion bash)"   in ~/.bashrc
      zsh   eval "$(react-run completion zsh)"    in ~/.zshrc
      fish  react-run completion fish > ~/.config/fish/completions/react-run.fish
    """
    from click.shell_completion import get_completion_class

    from react_run.cli.app import application
    from react_run.cli.exit import COMPLETE

    kind = get_completion_class(shell)
    assert kind is not None  # the choices are click's
    print(kind(application, {}, "react-run", COMPLETE).source())
    return 0
