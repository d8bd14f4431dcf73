"""What plugins add to the system prompt (behaviour G1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from react_run.hooks import ask_all

if TYPE_CHECKING:
    from react_run.run import Run


async def guide_texts(run: Run) -> list[str]:
    """The text of every guide, in plugin order, each under a heading: its own, else the name of its plugin."""
    texts: list[str] = []
    for impl in run.hooks.react_guide:
        answers = await ask_all((impl,), run)
        texts += [_headed(text.strip(), impl.plugin_name) for text in answers if text.strip()]
    return texts


def _headed(text: str, plugin_name: str) -> str:
    if text.startswith("#"):
        return text
    name = plugin_name.partition("#")[0].replace("_", " ")
    return f"# {name[:1].upper()}{name[1:]}\n\n{text}"
