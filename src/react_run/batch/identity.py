"""The identity of an agent in a batch: rows of a batch are run by one agent, and only by it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from react_run.agent import ReActAgent


def agent_record(agent: ReActAgent) -> str:
    """What is said of an agent in the header of its journals, as JSON."""
    from react_run.journal.header import described_agent
    from react_run.journal.lines import encoded

    masker = agent.config.masker
    record = {**described_agent(agent, masker), "model": agent.model.name}
    record["agent"] = {**record["agent"], "text": None}
    return encoded(record, masker)[1]


def agent_changes(before: str, now: str) -> list[str]:
    """What is different about an agent, one line each."""
    from react_run.journal.header import changes

    was, is_ = json.loads(before), json.loads(now)
    found = changes(was, is_)
    if was["model"] != is_["model"] and not any(line.startswith("model") for line in found):
        found.append(f"model: was {was['model']}, now {is_['model']}")
    return found


def changes_things(agent: ReActAgent) -> bool:
    """Whether the agent has a tool that does not promise to read only."""
    return any(tool.read_only is not True for tool in agent.tools)
