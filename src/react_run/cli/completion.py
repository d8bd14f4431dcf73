"""``react-run completion SHELL``: print the script for completing commands, options and names in a shell."""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")

BASH = """\
_react_run_completion() {
    local IFS=$'\\n' kind value line word="${COMP_WORDS[COMP_CWORD]}"
    COMPREPLY=()
    for line in $(env COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD="$COMP_CWORD" %s=bash_complete "$1"); do
        kind="${line%%%%,*}" value="${line#*,}"
        case "$kind" in
            plain) COMPREPLY+=("$value") ;;
            file) COMPREPLY+=($(compgen -f -- "$word")); compopt -o filenames 2>/dev/null ;;
            dir) COMPREPLY+=($(compgen -d -- "$word")); compopt -o filenames 2>/dev/null ;;
        esac
    done
}
complete -o nosort -F _react_run_completion react-run
"""
"""Offers words and files together; the script that click writes drops the words where files are offered."""


@click.command("completion", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("shell", type=click.Choice(SHELLS))
def command(shell: str) -> int:
    """Print the completion script for a shell.

    \b
      bash  eval "$(react-run completion bash)"   in ~/.bashrc
      zsh   eval "$(react-run completion zsh)"    in ~/.zshrc
      fish  react-run completion fish > ~/.config/fish/completions/react-run.fish
    """
    from react_run.cli.exit import COMPLETE

    print(BASH % COMPLETE if shell == "bash" else _script(shell, COMPLETE))
    return 0


def _script(shell: str, variable: str) -> str:
    from click.shell_completion import get_completion_class

    from react_run.cli.app import application

    kind = get_completion_class(shell)
    assert kind is not None  # the choices are click's
    return kind(application, {}, "react-run", variable).source()
