"""Completion as shells do it: the script is sourced, and the shell asked what it would offer."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.command_line import environment, react_run

pytestmark = pytest.mark.processes

Offered = Callable[[str], list[str]]

BASH = """\
source ./script
COMP_WORDS=({words}) COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_react_run_completion react-run "${{COMP_WORDS[COMP_CWORD]}}" 2>/dev/null
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
FISH = "source ./script; complete -C '{line}'"
ZSH = """\
zmodload zsh/zpty
zpty asked zsh -f -i
zpty -w asked 'PROMPT="> "; autoload -Uz compinit; compinit -u -D; source ./script; zstyle ":completion:*" list-colors'
zpty -w asked 'comppostfuncs=(say); say() {{ print -r -- "<<$compstate[nmatches]>>" >> counted; }}; print rea''dy'
zpty -r asked seen '*ready*'
zpty -n -w asked $'{line}\\t\\t'
repeat 100 {{
    zpty -r -t asked more && print -rn -- "$more"
    sleep 0.05
    [[ -s counted && "$more" == *"{wanted}"* ]] && break
}}
zpty -d asked
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an agent file, a conversation, and the command on the path."""
    folder = tmp_path_factory.mktemp("completion")
    (folder / "changes.yaml").write_text("model: {kind: scripted, replies: [done]}\n")
    (folder / "two words.yaml").touch()
    (folder / "bin").mkdir()
    program = f'#!/bin/sh\nexec {sys.executable} -m react_run "$@"\n'
    (folder / "bin" / "react-run").write_text(program)
    (folder / "bin" / "react-run").chmod(0o755)
    assert react_run(folder, "changes.yaml", "go", "--session", "monday").returncode == 0
    return folder


def shell(folder: Path, name: str, text: str) -> str:
    """What a shell says to ``text``, with the completion script in the file ``script``."""
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed here")
    (folder / "script").write_text(react_run(folder, "completion", name).stdout)
    known = environment(folder / "home")
    known |= {"PATH": f"{folder / 'bin'}:{known['PATH']}", "TERM": "xterm", "HOME": str(folder)}
    done = subprocess.run([program, "-c", text], cwd=folder, env=known, capture_output=True, text=True, timeout=60)
    assert "rror" not in done.stderr
    return done.stdout


LINES = [
    ("react-run ch", {"chat", "check"}),
    ("react-run expl", {"explain"}),
    ("react-run -", {"--version", "--help"}),
    ("react-run check ", {"changes.yaml"}),
    ("react-run changes.yaml -p ca", {"cache"}),
    ("react-run changes.yaml --output-format stream", {"stream-json"}),
    ("react-run changes.yaml -m off", {"offline"}),
    ("react-run changes.yaml -m anthr", {"anthropic/"}),
    ("react-run changes.yaml --session mo", {"monday"}),
]


@pytest.mark.parametrize(("line", "wanted"), LINES)
def test_bash_offers_what_fits(folder: Path, line: str, wanted: set[str]) -> None:
    words = " ".join(f"'{word}'" for word in line.split(" "))
    assert wanted <= set(shell(folder, "bash", BASH.format(words=words)).splitlines())


def test_bash_offers_commands_and_files_for_the_first_word(folder: Path) -> None:
    offered = shell(folder, "bash", BASH.format(words="react-run ch")).splitlines()
    assert offered == ["chat", "check", "changes.yaml"]
    offered = shell(folder, "bash", BASH.format(words="react-run two")).splitlines()
    assert offered == ["two words.yaml"]
    offered = shell(folder, "bash", BASH.format(words="react-run ''")).splitlines()
    assert {"chat", "runs", "changes.yaml", "two words.yaml"} <= set(offered)


@pytest.mark.parametrize(("line", "wanted"), LINES)
def test_fish_offers_what_fits(folder: Path, line: str, wanted: set[str]) -> None:
    offered = shell(folder, "fish", FISH.format(line=line)).splitlines()
    assert wanted <= {each.partition("\t")[0] for each in offered}


@pytest.mark.parametrize(("line", "wanted"), [(line, wanted) for line, wanted in LINES if len(wanted) == 1])
def test_zsh_completes_the_only_word_that_fits(folder: Path, line: str, wanted: set[str]) -> None:
    (folder / "counted").unlink(missing_ok=True)
    (word,) = wanted
    assert word in shell(folder, "zsh", ZSH.format(line=line, wanted=word))


def test_zsh_lists_commands_with_what_they_do(folder: Path) -> None:
    (folder / "counted").unlink(missing_ok=True)
    seen = shell(folder, "zsh", ZSH.format(line="react-run ch", wanted="check"))
    assert "chat" in seen
    assert "-- " in seen
