"""The limits of a run."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from react_run.components import Options


class Limits(Options):
    """The limits of a run. Each key may also be given at the top level of the agent file."""

    model_config = ConfigDict(frozen=True)

    tool_timeout: float = Field(default=120.0, gt=0)
    """Time limit for one tool call, in seconds, unless the tool sets its own. A call that exceeds it fails, and the run
    continues.
    """
    run_timeout: float | None = Field(default=None, gt=0)
    """Time limit for a run, in seconds, not counting the time spent waiting for a person."""
    parallel_tools: int = Field(default=16, ge=1)
    """Maximum number of tool calls of one reply that run concurrently."""
    max_result_bytes: int = Field(default=24_576, ge=1_024)
    """Maximum bytes of a result shown to the model; a longer result is saved to a file, and the model sees a
    preview.
    """
    spill: bool = True
    """Whether longer results are saved to a file; otherwise they are cut, with a note."""
    max_cost: float | None = Field(default=None, ge=0)
    """Maximum cost of a run in USD, subagents included."""
    allow_unknown_cost: bool = False
    """Whether a run with `max_cost` continues if the price of the model is unknown."""
    max_total_tokens: int | None = Field(default=None, ge=1)
    """Maximum input and output tokens of a run, subagents included."""
    on_limit: Literal["end", "ask"] = "end"
    """`ask`: when `max_iterations`, `max_cost`, `max_total_tokens` or `run_timeout` is reached, ask a person to allow
    half as much again. If nobody can be asked, the run ends."""
    max_check_attempts: int = Field(default=2, ge=0)
    """How often checks may refuse an answer before it is kept as unaccepted."""
