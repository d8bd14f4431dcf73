"""Built-in plugins with keys of their own in the agent file; each can be configured or replaced by ``kind:``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from react_run.agent import ReActAgent


def policies_for(agent: ReActAgent) -> list[object]:
    """The policies of one agent, outermost first."""
    return []
