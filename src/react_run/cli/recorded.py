"""Rebuilds the agent that a journal records."""

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
    from react_run.journal.reading import Journal


_OF_DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""The errors that reading a damaged record can raise."""
_LIMITS = ("max_iterations", "max_cost", "run_timeout")


def naming_damage(command: Callable[..., int]) -> Callable[..., int]:
    """Wrap a command on a RUN so that failures caused by a damaged journal are reported as damage."""

    @wraps(command)
    def called(*, run: str | None, **given: Any) -> int:
        from react_run.journal.locate import find_run

        path = find_run(run).absolute()
        try:
            return command(run=run, **given)
        except (*_OF_DAMAGE, JournalError) as error:
            from react_run.journal.validation import damage_in

            damaged = isinstance(error if not isinstance(error, JournalError) else error.__cause__, _OF_DAMAGE)
            if damaged and (damage := damage_in(path)):
                raise JournalError(damage) from error
            raise

    return called


def options_of(journal: Journal, agent: str | None, *, trust: bool) -> AgentOptions:
    """Return the options that rebuild the recorded agent; change to the working directory of the run, if it exists.

    A run that was trusted when it began is still trusted, but only with its own agent and from a journal in our
    directory. Anyone may have written any other journal, so it needs to be trusted again.

    Args:
        journal: The recording.
        agent: An agent file to use instead.
        trust: Whether to trust its directory for this run.

    Raises:
        ConfigError: The run was started from Python, so its agent cannot be rebuilt; or the journal is not ours, and
            changes the agent in ways that need trust.
    """
    header = journal.header
    kept = _kept_here(journal)
    recorded = header["options"] or {"file": header["agent"]["file"]}
    if agent is not None:
        recorded = {**recorded, "file": str(Path(agent).absolute())}
    if recorded["file"] is None:
        raise ConfigError("the run was not started from an agent file: name one that builds the same agent (--agent)")
    options = replace(AgentOptions.from_record(recorded), foreign=not kept)
    if not (kept or trust) and (changed := _changes(options)):
        raise ConfigError(
            f"the journal is not in our own directory, and it changes the agent ({', '.join(changed)}): review it "
            "(`react-run trace RUN --json`), then give --trust"
        )
    if Path(header["workspace"]).is_dir():
        os.chdir(header["workspace"])
    return replace(options, trust=trust or (options.trust and agent is None and kept))


def _changes(options: AgentOptions) -> list[str]:
    """The options that make an agent do things its file does not say."""
    return [
        *(["--model"] if (options.model or "").startswith("{") else []),
        *(f"--set {setting}" for setting in options.sets),
        *(f"-p {name}" for name in options.plugins),
        *(["--env-file"] if options.env_file is not None else []),
        *(key for key in options.overrides or () if key not in _LIMITS),
    ]


def _kept_here(journal: Journal) -> bool:
    """Whether the journal is in our own directory."""
    from react_run.journal.locate import is_kept_here

    return journal.path is not None and is_kept_here(journal.path)
