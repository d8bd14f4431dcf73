"""Prices and context windows of known models, from LiteLLM's table, read without importing LiteLLM."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from react_run.messages import Usage
from react_run.models.coerce import as_count, as_mapping, as_number

_TIER = re.compile(r"input_cost_per_token_above_(\d+)k_tokens\Z")
_TABLE = "model_prices_and_context_window_backup.json"


@lru_cache(maxsize=64)
def known(model: str) -> Mapping[str, object]:
    """The entry for ``model``; empty if unknown. The table itself is not kept in memory."""
    return as_mapping(_table().get(model))


@lru_cache(maxsize=1)
def ids() -> tuple[str, ...]:
    """The ids of all models in the table."""
    return tuple(_table())


@lru_cache(maxsize=4)
def ids_of(provider: str) -> Mapping[str, str]:
    """The ids of the models of ``provider``, without its prefix, and what each is for, such as ``chat``."""
    entries = ((name, as_mapping(entry)) for name, entry in _table().items())
    return {
        name.removeprefix(f"{provider}/"): str(entry.get("mode", ""))
        for name, entry in entries
        if name.startswith(f"{provider}/") or str(entry.get("litellm_provider")).partition("_")[0] == provider
    }


def bare_ids() -> list[str]:
    """The ids that need no provider prefix."""
    return [name for name in ids() if "/" not in name]


def _table() -> Mapping[str, object]:
    spec = find_spec("litellm")
    for folder in (spec and spec.submodule_search_locations) or ():
        path = Path(folder) / _TABLE
        if path.is_file():
            return as_mapping(json.loads(path.read_bytes()))
    return {}


def context_window(model: str) -> int | None:
    """The context window of ``model`` in tokens, if the table has it."""
    return as_count(known(model).get("max_input_tokens"))


def cost_of(model: str, usage: Usage) -> float | None:
    """USD for ``usage``, or ``None`` when the model, its price or the usage is unknown (behaviour L8)."""
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    entry = known(model)
    tier = _tier(entry, usage.input_tokens)
    price_in = as_number(entry.get(f"input_cost_per_token{tier}"))
    price_out = as_number(entry.get(f"output_cost_per_token{tier}"))
    if price_in is None or price_out is None:
        return None
    price_cached = as_number(entry.get(f"cache_read_input_token_cost{tier}"))
    cached = min(usage.cached_tokens or 0, usage.input_tokens)
    cached_cost = cached * (price_in if price_cached is None else price_cached)
    return (usage.input_tokens - cached) * price_in + cached_cost + usage.output_tokens * price_out


def _tier(entry: Mapping[str, object], input_tokens: int) -> str:
    """The suffix of the prices for a prompt of this length."""
    limits = (int(found[1]) for key in entry if (found := _TIER.match(key)))
    passed = max((limit for limit in limits if input_tokens > limit * 1000), default=0)
    return f"_above_{passed}k_tokens" if passed else ""
