"""Which plugins may stand in the lists of one level: a class-style wrapper, or hooks, of that level."""

from __future__ import annotations

from react_run.components.building import hooks_of
from react_run.components.option_errors import problem

LOOP, ITERATION, TOOL = "", "iteration", "call"
"""What hooks of each level are handed, by the name of the argument; those of the whole run neither of both."""

LEVELS: dict[str, tuple[str, tuple[str, ...]]] = {
    "request_preprocessors": (LOOP, ("RequestPreprocessor", "LLMCallWrapper")),
    "llm_request_wrappers": (LOOP, ("LLMCallWrapper",)),
    "response_postprocessors": (LOOP, ("ResponsePostprocessor", "LLMCallWrapper")),
    "iteration_preprocessors": (ITERATION, ("RequestPreprocessor", "LLMCallWrapper")),
    "iteration_wrappers": (ITERATION, ("LLMCallWrapper",)),
    "iteration_postprocessors": (ITERATION, ("ResponsePostprocessor", "LLMCallWrapper")),
    "tool_wrappers": (TOOL, ("ToolCallWrapper",)),
}
"""Of each list: the level of the hooks, and the class-style bases, that belong there."""


def of_unknown_level(plugin: object) -> str:
    """What is wrong with ``plugin`` among the ``plugins:``, where nothing says what it is to surround; else nothing."""
    from react_run import wrappers

    around = {
        wrappers.LLMCallWrapper: ("llm_request_wrappers", "iteration_wrappers"),
        wrappers.RequestPreprocessor: ("request_preprocessors", "iteration_preprocessors"),
        wrappers.ResponsePostprocessor: ("response_postprocessors", "iteration_postprocessors"),
    }
    lists = next((lists for base, lists in around.items() if isinstance(plugin, base)), None)
    if lists is None:
        return ""
    return (
        f"{type(plugin).__name__} is a class-style wrapper: list it in {lists[0]} (once, around the loop) or in "
        f"{lists[1]} (around each model call), not among the plugins"
    )


def check_anywhere(plugin: object) -> object:
    """``plugin``, when it may stand among the ``plugins:``.

    Raises:
        PydanticCustomError: It may not.
    """
    if misplaced := of_unknown_level(plugin):
        raise problem("cfg.level", misplaced)
    return plugin


def hooks_at(level: str) -> list[str]:
    """The hooks of one level: those that the specification hands what the level is about."""
    from inspect import signature

    from react_run.hooks import hook_names  # few agent files have level lists, and every one is loaded
    from react_run.hookspecs import Hooks

    handed = {hook: signature(getattr(Hooks, hook)).parameters for hook in hook_names()}
    levels = {hook: next((one for one in (TOOL, ITERATION) if one in names), LOOP) for hook, names in handed.items()}
    return [hook for hook, found in levels.items() if found == level]


def check_level(plugin: object, level: str) -> object:
    """``plugin``, when it does something at the level of the list ``level``.

    Raises:
        PydanticCustomError: It has neither such a hook nor such a base.
    """
    from react_run import wrappers

    about, names = LEVELS[level]
    if isinstance(plugin, tuple(getattr(wrappers, name) for name in names)):
        return plugin
    hooks = hooks_at(about)
    if any(hook in hooks for hook in hooks_of(plugin)):
        return plugin
    name = type(plugin).__name__
    wanted = " or ".join(names)
    text = f"{name} does nothing in {level}: it is not a {wanted}, and has none of the hooks {', '.join(hooks)}"
    raise problem("cfg.level", text)
