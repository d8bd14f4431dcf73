"""Text that plugins add to the system prompt (behaviour G1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from react_run.engine.state import EngineState
from react_run.engine.workers import OutOfTime, ask_one
from react_run.errors import PluginError

if TYPE_CHECKING:
    from react_run.run import Run


async def guide_texts(run: Run) -> list[str]:
    """The texts of all guides, in plugin order, each under a heading: its own, or the name of its plugin."""
    texts: list[str] = []
    for impl in run.state(EngineState).hooks.react_guide:
        try:
            text = await ask_one(impl, run)
        except OutOfTime as error:  # its text may be what keeps the run safe
            raise PluginError(f"the guide {impl.plugin_name!r} could not be carried out: {error}") from error
        if text is not None and text.strip():
            texts.append(_headed(text.strip(), impl.plugin_name))
    return texts


def _headed(text: str, plugin_name: str) -> str:
    if text.startswith("#"):
        return text
    name = plugin_name.partition("#")[0].replace("_", " ")
    return f"# {name[:1].upper()}{name[1:]}\n\n{text}"
