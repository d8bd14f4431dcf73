"""Built-in plugins with their own keys in the agent file; each can be configured, replaced or disabled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from react_run.run import ReActAgent


def policies_for(agent: ReActAgent, plugins: Sequence[object] = ()) -> list[object]:
    """The policies of one agent, outermost first.

    Args:
        agent: The agent, whose configuration selects them. plugins: The plugins listed in its file or passed from
            Python; a plugin that names a guard replaces it.
    """
    from react_run.policies.disclosure.disclosure import disclosure_for
    from react_run.policies.standard import standard_policies

    return standard_policies(agent, plugins, disclosure_for(agent))
