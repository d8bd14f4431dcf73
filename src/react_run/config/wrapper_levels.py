"""Decides which plugins a level list accepts: wrapper classes or hooks of that level."""

from __future__ import annotations

from react_run.components.building import hooks_of
from react_run.components.option_errors import problem

LOOP, ITERATION, TOOL = "", "iteration", "call"
"""The argument that identifies the hooks of each level; hooks of the whole run have neither."""

LEVELS: dict[str, tuple[str, tuple[str, ...]]] = {
    "request_preprocessors": (LOOP, ("RequestPreprocessor", "LLMCallWrapper")),
    "llm_request_wrappers": (LOOP, ("LLMCallWrapper",)),
    "response_postprocessors": (LOOP, ("ResponsePostprocessor", "LLMCallWrapper")),
    "iteration_preprocessors": (ITERATION, ("RequestPreprocessor", "LLMCallWrapper")),
    "iteration_wrappers": (ITERATION, ("LLMCallWrapper",)),
    "iteration_postprocessors": (ITERATION, ("ResponsePostprocessor", "LLMCallWrapper")),
    "tool_wrappers": (TOOL, ("ToolCallWrapper",)),
}
"""For each list: the level of its hooks, and its wrapper base classes."""


def of_unknown_level(plugin: object) -> str:
    """Why ``plugin`` does not belong in ``plugins:``, which does not say what a wrapper surrounds; empty if it does."""
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
        f"{type(plugin).__name__} is a wrapper class: list it in {lists[0]} (once, around the loop) or in "
        f"{lists[1]} (around each model call), not under plugins"
    )


def check_anywhere(plugin: object) -> object:
    """Return ``plugin`` if it belongs in ``plugins:``.

    Raises:
        PydanticCustomError: It does not.
    """
    if misplaced := of_unknown_level(plugin):
        raise problem("cfg.level", misplaced)
    return plugin


def hooks_at(level: str) -> list[str]:
    """The hooks of one level: those with the level's argument in their specification."""
    from inspect import signature

    from react_run.hooks import hook_names  # few agent files have level lists, but every agent file runs this
    from react_run.hookspecs import Hooks

    handed = {hook: signature(getattr(Hooks, hook)).parameters for hook in hook_names()}
    levels = {hook: next((one for one in (TOOL, ITERATION) if one in names), LOOP) for hook, names in handed.items()}
    return [hook for hook, found in levels.items() if found == level]


def check_level(plugin: object, level: str) -> object:
    """Return ``plugin`` if it works at the level of the list ``level``.

    Raises:
        PydanticCustomError: It has neither a hook nor a base class of this level.
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
