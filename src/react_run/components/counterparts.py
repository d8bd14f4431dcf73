"""Maps kinds of the comparable agent to kinds that have another name here."""

from __future__ import annotations

from collections.abc import Mapping

COUNTERPARTS: Mapping[str, str] = {
    "MarketplaceSkillToolset": "skills",
    "ToolCachingWrapper": "cache",
    "ToolValidationWrapper": "validate",
    "ToolErrorHandler": "error_hints",
    "CostTracking": "cost",
    "Logging": "logging",
    "ContextInjector": "inject",
    "PerCallLogger": "metrics",
}
"""Classes in its documentation, and the kinds that replace them here."""


def counterpart(path: str) -> str:
    """The way out for a kind of the comparable agent with another name here; empty for any other path."""
    if path.partition(".")[0] != "rustic_ai":
        return ""
    name = COUNTERPARTS.get(path.replace(":", ".").rpartition(".")[2])
    return f"Here it is {name!r}." if name else "That runtime is not needed here; `react-run list` shows what there is."
