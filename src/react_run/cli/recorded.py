"""From a journal back to the agent that it records."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from react_run.errors import ConfigError, JournalError
from react_run.launch.options import AgentOptions

if TYPE_CHECKING:
    from react_run.journal import Journal


_LIMITS = ("max_iterations", "max_cost", "run_timeout")


def naming_damage(command: Callable[..., int]) -> Callable[..., int]:
    """The same command on a RUN, but what fails because its journal is damaged is told as the damage."""

    @wraps(command)
    def called(*, run: str | None, **given: Any) -> int:
        from react_run.journal.locate import find_run

        path = find_run(run).absolute()
        try:
            return command(run=run, **given)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            from react_run.journal.validation import damage_in

            if damage := damage_in(path):
                raise JournalError(damage) from error
            raise

    return called


def options_of(journal: Journal, agent: str | None, *, trust: bool) -> AgentOptions:
    """How the recorded agent is made again; the working directory becomes that of the run, where it exists.

    A run that was trusted when it began still is, but only with its own agent, and from a journal that we keep. Any
    other journal is the word of whoever wrote it: with it, what takes trust takes it anew.

    Args:
        journal: The recording.
        agent: An agent file to use instead.
        trust: Whether to trust its directory for this run.

    Raises:
        ConfigError: The run was started from Python, so nobody knows how to make its agent; or it is not ours, and
            changes the agent in ways that take trust.
    """
    header = journal.header
    kept = _kept_here(journal)
    recorded = header["options"] or {"file": header["agent"]["file"]}
    if agent is not None:
        recorded = {**recorded, "file": str(Path(agent).absolute())}
    if recorded["file"] is None:
        raise ConfigError("the run was not started from an agent file: name one that makes the same agent (--agent)")
    options = replace(AgentOptions.from_record(recorded), foreign=not kept)
    if not (kept or trust) and (changed := _changes(options)):
        raise ConfigError(
            f"the journal is not one that is kept here, and it changes the agent ({', '.join(changed)}): see what it "
            "says (`react-run trace RUN --json`), then give --trust"
        )
    if Path(header["workspace"]).is_dir():
        os.chdir(header["workspace"])
    return replace(options, trust=trust or (options.trust and agent is None and kept))


def _changes(options: AgentOptions) -> list[str]:
    """The options that may have an agent do what its file does not say."""
    return [
        *(["--model"] if (options.model or "").startswith("{") else []),
        *(f"--set {setting}" for setting in options.sets),
        *(f"-p {name}" for name in options.plugins),
        *(["--env-file"] if options.env_file is not None else []),
        *(key for key in options.overrides or () if key not in _LIMITS),
    ]


def _kept_here(journal: Journal) -> bool:
    """Whether it is one of our own."""
    from react_run.journal.locate import is_kept_here

    return journal.path is not None and is_kept_here(journal.path)
