"""Built-in plugins with keys of their own in the agent file; each can be configured, replaced or left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from react_run.run import ReActAgent


def policies_for(agent: ReActAgent, plugins: Sequence[object] = ()) -> list[object]:
    """The policies of one agent, outermost first.

    Args:
        agent: Whose configuration says which.
        plugins: Those listed in its file or given from Python; one that names a guard takes its place.
    """
    from react_run.policies.disclosure.disclosure import disclosure_for
    from react_run.policies.standard import standard_policies

    return standard_policies(agent, plugins, disclosure_for(agent))
