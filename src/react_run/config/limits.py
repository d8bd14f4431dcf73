"""The limits of a run."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from react_run.components import Options


class Limits(Options):
    """What a run may use. Each key may also stand at the top of the agent file."""

    model_config = ConfigDict(frozen=True)

    tool_timeout: float = Field(default=120.0, gt=0)
    """Seconds for one tool call, unless the tool says otherwise; then it is a failed call and the run goes on."""
    run_timeout: float | None = Field(default=None, gt=0)
    """Seconds for a whole run, without the time in which a person is asked."""
    parallel_tools: int = Field(default=16, ge=1)
    """Tool calls of one reply that run at once."""
    max_result_bytes: int = Field(default=24_576, ge=1_024)
    """Bytes of a result that the model gets to see; more is saved whole and previewed."""
    spill: bool = True
    """Whether results above the ceiling are saved whole; otherwise they are cut, and say so."""
    max_cost: float | None = Field(default=None, ge=0)
    """USD that a run may cost, subagents included."""
    allow_unknown_cost: bool = False
    """Whether a run with `max_cost` goes on when the price of the model is unknown."""
    max_total_tokens: int | None = Field(default=None, ge=1)
    """Tokens, read and written, that a run may use, subagents included."""
    on_limit: Literal["end", "ask"] = "end"
    """Whether a person is asked for half as much again at `max_iterations`, `max_cost`, `max_total_tokens` and
    `run_timeout`, before the run ends. Where a person cannot be asked, it ends."""
    max_check_attempts: int = Field(default=2, ge=0)
    """How often an answer may be refused by checks before it is kept as unaccepted."""
