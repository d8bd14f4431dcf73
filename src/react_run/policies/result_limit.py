"""Handles results that are too long for a conversation: saved to a file, previewed, and read on demand (behaviour
T4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import Field

from react_run.hookspecs import hookimpl
from react_run.outcome import Observation
from react_run.policies.order import Policy
from react_run.support.preview import parts, size_of

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig
    from react_run.policies.spill import Saved
    from react_run.run import Iteration, Run, ToolCall

ROUND = 4
"""The limit for all results of an iteration together, as a multiple of the limit for one."""
NOTE = 512
"""Maximum bytes of the note in a preview."""
STUB = 200
"""Bytes reserved for each later result of an iteration."""


class ResultLimit(Policy):
    """Keeps each result, and all results of an iteration together, within a size limit; the rest is saved to a file.

    Longer results are saved in the run's workspace and previewed; the tools ``read_result`` and ``search_result`` are
    offered from then on.
    """

    kind: ClassVar[str] = "result_limit"
    inside: ClassVar[Mapping[str, str]] = {
        "duplicate_calls": "a shared result is cut for every call that gets it",
        "acceptance": "what judges a run surrounds what judges its iterations",
    }

    max_bytes: int = Field(default=24_576, ge=1_024)
    """Maximum bytes of one result; an iteration may have four times as many."""
    spill: bool = True
    """Whether longer results are saved to a file; otherwise they are cut, with a note."""

    @classmethod
    def for_agent(cls, config: ReActAgentConfig, plugins: Sequence[object]) -> Self | None:
        return cls(max_bytes=config.limits.max_result_bytes, spill=config.limits.spill)

    @hookimpl
    def react_settle(self, run: Run, iteration: Iteration) -> None:
        calls = iteration.calls
        if len(calls) == 1 and (only := calls[0].observation) is not None and len(only.content) * 4 <= self.max_bytes:
            return  # short, whatever its characters are: the usual case
        left = self.max_bytes * ROUND - STUB * len(calls)
        for call in calls:
            observation = call.result
            size = size_of(observation.content)
            left += STUB
            if size > STUB and not observation.whole and size > min(self.max_bytes, left):
                call.observation = self._shortened(run, call, observation, size, left)
                size = size_of(call.result.content)
            left -= size

    def _shortened(self, run: Run, call: ToolCall, observation: Observation, size: int, left: int) -> Observation:
        room = min(self.max_bytes, left) - NOTE
        saved = self._saved(run, call, observation)
        run.note(self.guard, f"{call.name}: {size} bytes, {f'saved as {saved.path}' if saved else 'cut'}")
        content = _preview(observation.content if saved is None else saved.text, size, room, saved)
        return replace(observation, content=content, spilled_to=saved.path if saved else None, raw=None)

    def _saved(self, run: Run, call: ToolCall, observation: Observation) -> Saved | None:
        if not self.spill:
            return None
        from react_run.policies.spill import Spill

        structured = observation.raw is not None and not isinstance(observation.raw, str)
        try:
            saved = run.state(Spill).save(run.workspace, run.id, call.name, observation.content, structured=structured)
        except OSError as error:
            run.note(self.guard, f"{call.name}: the result cannot be saved: {error}")
            return None
        offer_reading(run)
        return saved


def _preview(text: str, size: int, room: int, saved: Saved | None) -> str:
    beginning, end = parts(text, room) if room > 0 else ("", "")
    if saved is None:
        note = f"[{size:,} bytes in all; what is not shown was cut and cannot be read]"
    elif not beginning:
        return f"[{size:,} bytes, not shown; read_result or search_result with name={saved.name!r} show it]"
    else:
        note = (
            f"[{size:,} bytes in all, saved whole in {saved.path}. To go on: read_result(name={saved.name!r}, "
            f"offset={len(beginning)}), or search_result(name={saved.name!r}, pattern=…)]"
        )
    return "\n".join(filter(None, [beginning, note, end]))


def offer_reading(run: Run) -> None:
    """Offer the tools that read saved results, from the next request on."""
    from react_run.policies.saved_results import reading_tools

    for tool in reading_tools():
        if tool.name not in run.all_tools:
            run.all_tools[tool.name] = tool
            run.offered_tools = (*run.offered_tools, tool)
