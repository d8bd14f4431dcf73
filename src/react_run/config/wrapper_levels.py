"""Which plugins may stand in the lists of one level: a class-style wrapper, or hooks, of that level."""

from __future__ import annotations

from react_run.components.building import hooks_of
from react_run.components.option_errors import problem

LOOP = ("react_run", "react_guide", "react_check_answer")
ITERATION = ("react_iteration", "react_model_call", "react_text")
TOOL = ("react_tool", "react_sense")

LEVELS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "request_preprocessors": (LOOP, ("RequestPreprocessor", "LLMCallWrapper")),
    "llm_request_wrappers": (LOOP, ("LLMCallWrapper",)),
    "response_postprocessors": (LOOP, ("ResponsePostprocessor", "LLMCallWrapper")),
    "iteration_preprocessors": (ITERATION, ("RequestPreprocessor", "LLMCallWrapper")),
    "iteration_wrappers": (ITERATION, ("LLMCallWrapper",)),
    "iteration_postprocessors": (ITERATION, ("ResponsePostprocessor", "LLMCallWrapper")),
    "tool_wrappers": (TOOL, ("ToolCallWrapper",)),
}
"""Of each list: the beginnings of hook names, and the class-style bases, that belong there."""


def check_level(plugin: object, level: str) -> object:
    """``plugin``, when it does something at the level of the list ``level``.

    Raises:
        PydanticCustomError: It has neither such a hook nor such a base.
    """
    from react_run import wrappers

    beginnings, bases = LEVELS[level]
    if isinstance(plugin, tuple(getattr(wrappers, base) for base in bases)):
        return plugin
    if any(hook.startswith(beginnings) for hook in hooks_of(plugin)):
        return plugin
    name = type(plugin).__name__
    wanted = " or ".join(bases)
    hooks = ", ".join(f"{beginning}*" for beginning in beginnings)
    raise problem("cfg.level", f"{name} does nothing in {level}: it is not a {wanted}, and has no hook {hooks}")
