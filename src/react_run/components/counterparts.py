"""What kinds of the comparable agent are here, where they have another name."""

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
"""Classes of its documentation that are another kind here."""


def counterpart(path: str) -> str:
    """The way out for a kind of the comparable agent that has another name here; nothing for any other path."""
    if path.partition(".")[0] != "rustic_ai":
        return ""
    name = COUNTERPARTS.get(path.replace(":", ".").rpartition(".")[2])
    return f"Here it is {name!r}." if name else "That runtime is not needed here; `react-run list` shows what there is."
