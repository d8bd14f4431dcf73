"""What only the engine keeps of one run. Plugins have no use for it: they have the run itself."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from react_run.engine.timer import Pauses
from react_run.messages import NO_USAGE
from react_run.support.dataclasses import dataclass
from react_run.support.tasks import running_loop

if TYPE_CHECKING:
    from react_run.engine.reports import Reports
    from react_run.hooks import HookTable
    from react_run.messages import Message, Usage
    from react_run.parts import Part
    from react_run.run import Run, ToolCall


@dataclass(eq=False, slots=True)
class EngineState:
    """The engine's part of one run: ``run.state(EngineState)``.

    ``incoming`` are the earlier turns the run continues, as they were given; ``settings`` reach the model with every
    request. ``remember`` and ``recall`` are a journal's part in ``run.recorded()``; ``replaying`` is true while a
    journal answers in place of the model and the tools, so that nobody has to be asked or waited for.
    """

    hooks: HookTable = field(init=False)
    parent_call: ToolCall | None = None
    """The call of the parent run that this run works for."""
    settings: Mapping[str, object] = field(default_factory=dict)
    output_schema: Mapping[str, Any] | None = None
    """What the answer must satisfy, when the provider is to be asked for that."""
    incoming: tuple[Message, ...] = ()
    attached: tuple[Part, ...] = ()
    """What the prompt carries besides text."""
    carries_parts: bool = False
    """Whether images or files are in the conversation."""
    counted: Usage = NO_USAGE
    """What counts towards limits: the usage, with the worst case where it is unknown."""
    model_calls: int = 0
    model_name: str = ""
    attempts: dict[str, int] = field(default_factory=dict)
    """The calls of each tool since its last success."""
    request_ids: set[str] | None = None
    """The ids of all requests in the conversation; ``None`` until the first reply."""
    cancelling: int = 0
    """How often the task was cancelled before the run began."""
    replaying: bool = False
    remember: Callable[[str, object], None] | None = None
    recall: Callable[[str], tuple[object] | None] | None = None
    loop: asyncio.AbstractEventLoop | None = field(default_factory=running_loop)
    listeners: set[asyncio.Future[None]] = field(default_factory=set)
    """Event listeners that are still running."""
    endings: list[Callable[[], Awaitable[None]]] = field(default_factory=list)
    """What gives back what was taken for this run."""
    pauses: Pauses = field(default_factory=Pauses)
    """How long a person was waited for in this run."""
    call_pauses: dict[ToolCall, Pauses] = field(default_factory=dict)
    """The same for each call that a person was waited for."""
    reports: dict[ToolCall, Reports] = field(default_factory=dict)
    """What each running call has reported."""


def paused_seconds(run: Run) -> float:
    """Seconds that a person was waited for in ``run`` so far, a wait that is going on included."""
    return run.state(EngineState).pauses.seconds
