"""The engine's private state of a run. Plugins do not need it: they have the run itself."""

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
    """The engine's state of a run: ``run.state(EngineState)``.

    ``incoming`` are the earlier turns that the run continues, as given; ``settings`` are sent with every request. A
    journal sets ``remember`` and ``recall`` for ``run.recorded()``; ``replaying`` is true while a journal answers in
    place of the model and the tools, so that nobody has to be asked, and nothing has to be waited for.
    """

    hooks: HookTable = field(init=False)
    parent_call: ToolCall | None = None
    """The call of the parent run that started this run."""
    settings: Mapping[str, object] = field(default_factory=dict)
    output_schema: Mapping[str, Any] | None = None
    """The JSON Schema of the answer, if the provider is to enforce it."""
    incoming: tuple[Message, ...] = ()
    attached: tuple[Part, ...] = ()
    """The attachments of the prompt."""
    carries_parts: bool = False
    """Whether the conversation has images or files."""
    counted: Usage = NO_USAGE
    """The usage that counts towards limits, with the worst case where it is unknown."""
    model_calls: int = 0
    model_name: str = ""
    input_tokens: int | None = None
    """The provider's token count for the latest request; ``None`` once compaction has read it."""
    attempts: dict[str, int] = field(default_factory=dict)
    """The number of calls of each tool since its last success."""
    request_ids: dict[str, None] | None = None
    """The ids of all requests in the conversation, half the size of a set; ``None`` until the first reply."""
    cancelling: int = 0
    """How often the task was cancelled before the run began."""
    replaying: bool = False
    remember: Callable[[str, object], None] | None = None
    recall: Callable[[str], tuple[object] | None] | None = None
    loop: asyncio.AbstractEventLoop | None = field(default_factory=running_loop)
    listeners: dict[asyncio.Future[None], None] = field(default_factory=dict)
    """Event listeners that are still running."""
    endings: list[Callable[[], Awaitable[None]]] = field(default_factory=list)
    """The cleanups registered for this run."""
    pauses: Pauses = field(default_factory=Pauses)
    """The time spent waiting for people in this run."""
    call_pauses: dict[ToolCall, Pauses] = field(default_factory=dict)
    """The same for each call."""
    reports: dict[ToolCall, Reports] = field(default_factory=dict)
    """The reports of each running call."""


def paused_seconds(run: Run) -> float:
    """Seconds spent waiting for people in ``run`` so far, including a wait in progress."""
    return run.state(EngineState).pauses.seconds
