"""Built-in plugins with their own keys in the agent file; each can be configured, replaced or disabled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from react_run.run import ReActAgent


def policies_for(agent: ReActAgent, plugins: Sequence[object] = ()) -> list[object]:
    """The policies of one agent, outermost first: ``failure_handling``, ``tool_disclosure``, then the guards.

    Args:
        agent: The agent, whose configuration selects them.
        plugins: The plugins listed in its file or passed from Python; a plugin that names a guard replaces it.
    """
    from react_run.policies.disclosure.disclosure import disclosure_for
    from react_run.policies.order import built_in, order_policies
    from react_run.policies.safe import own_handling

    made = (policy.for_agent(agent.config, plugins) for policy in built_in())
    guards = [policy for policy in made if policy is not None]
    return [*own_handling(agent.config), *disclosure_for(agent), *order_policies(guards, plugins)]
