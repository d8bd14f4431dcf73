"""An agent as a Mermaid graph: model, toolsets, tools, plugins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from react_run.config.dump import kind_name
from react_run.plugins import plugin_name
from react_run.tools.composite import CompositeToolset, offered
from react_run.tools.toolset import ReActToolset

if TYPE_CHECKING:
    from react_run.agent import ReActAgent


def graph(agent: ReActAgent, extra: Sequence[object] = ()) -> str:
    """Return the text of the graph; ``extra`` are plugins given outside the file."""
    config = agent.config
    lines = ["flowchart LR", f"  agent([{_label(config.name or config.id or 'agent')}])"]
    lines.append(f"  agent --> model[/{_label(agent.model.name)}/]")
    for index, toolset in enumerate(config.toolsets):
        lines += _toolset(toolset, "agent", f"t{index}")
    previous = "agent"
    for index, plugin in enumerate([*extra, *config.plugins]):
        lines.append(f"  {previous} -. plugin .-> p{index}{{{{{_label(plugin_name(plugin))}}}}}")
        previous = f"p{index}"
    return "\n".join(lines)


def _toolset(toolset: ReActToolset, parent: str, name: str) -> Iterator[str]:
    yield f"  {parent} --> {name}[[{_label(kind_name(toolset))}]]"
    if isinstance(toolset, CompositeToolset) and toolset.is_plain:
        for index, child in enumerate(toolset.toolsets):
            yield from _toolset(child, name, f"{name}_{index}")
        return
    for index, tool in enumerate(offered(toolset)):
        yield f"  {name} --> {name}_tool{index}[{_label(tool.name)}]"


def _label(text: str) -> str:
    return '"' + text.replace('"', "'") + '"'
