"""Checks model ids early, using LiteLLM's data files without importing it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from react_run.components.errors import near
from react_run.components.kinds import installed
from react_run.models import prices

OPENAI_ID = re.compile(r"(?:ft:)?(?:gpt-|chatgpt-|o\d|codex-)[\w.:-]*")
"""OpenAI model ids without a provider prefix."""

_FURTHER = "custom_openai huggingface litellm_proxy lm_studio ollama ollama_chat text-completion-openai vllm xai"
KEYS: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    "cerebras": ("CEREBRAS_API_KEY",),
    "cohere": ("COHERE_API_KEY", "CO_API_KEY"),
    "cohere_chat": ("COHERE_API_KEY", "CO_API_KEY"),
    "deepseek": ("DEEPSEEK_API_KEY",),
    "fireworks_ai": ("FIREWORKS_AI_API_KEY", "FIREWORKS_API_KEY"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "groq": ("GROQ_API_KEY",),
    "mistral": ("MISTRAL_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "openrouter": ("OPENROUTER_API_KEY", "OR_API_KEY"),
    "perplexity": ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"),
    "together_ai": ("TOGETHERAI_API_KEY", "TOGETHER_API_KEY", "TOGETHER_AI_API_KEY"),
    "xai": ("XAI_API_KEY",),
}
"""The environment variables for the keys of providers that need only a key."""


def wrong_id(name: str) -> str:
    """What is wrong with a model id for a provider's own address, and the way out; ``""`` if nothing is known to be
    wrong.

    A known provider may have any model, because lists are always out of date.
    """
    provider, slash, model = name.partition("/")
    if name != name.strip() or not name:
        return f"{name!r} is not a model id: remove the spaces"
    if slash:
        if provider not in providers():
            return f"no provider is called {provider!r}.{near(provider, providers())} {_WAY_OUT}"
        if not model:
            return f"{name!r} names no model: write {_example(provider)}"
        return ""
    if OPENAI_ID.fullmatch(name) or prices.known(name):
        return ""
    if name in installed("models"):
        instead = _EXAMPLES.get(name) or f"{{kind: {name}, …}}"
        return f"{name!r} is a kind of model and not a model id: write {instead}"
    if name in providers():
        return f"{name!r} is a provider and not a model: write {_example(name)}"
    return f"no provider is known for {name!r}.{near(name, [*installed('models'), *prices.bare_ids()])} {_WAY_OUT}"


def doubtful_id(name: str) -> str:
    """A warning about a model id that looks like a mistake; empty for any other, as it may be new.

    Two kinds of mistakes are certain enough. A typo has the numbers of a known id: `gpt-5.9` may be a new version, but
    `gpt-5-mni` is a typo. A family name has no number, is not an id, and consists of words of known ids: `claude`.
    Ids that users choose themselves (deployments, their own servers) are not checked.
    """
    provider, slash, model = name.partition("/")
    if not slash:
        provider, model = "openai", name
    if provider not in _CATALOGUED or model.startswith("ft:"):
        return ""
    own = prices.ids_of(provider)
    known = {*own, *(() if provider == "bedrock" else prices.bare_ids())}
    if model in known:
        return ""
    alike = (
        other for other in get_close_matches(model, known, n=3, cutoff=_A_SLIP) if _numbers(other) == _numbers(model)
    )
    if found := next(alike, ""):
        return f"{provider} has no known model {model!r}. Did you mean {found!r}?"
    words = _words(model)
    family = [other for other, purpose in own.items() if purpose == "chat" and words <= _words(other)]
    if _numbers(model) or not family:
        return ""
    newest = max(family, key=lambda other: (_version(other), -len(other), other))
    return f"{provider} has no known model {model!r}, only longer names such as {newest!r}"


def _words(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]+", name.lower()))


def _version(name: str) -> list[int]:
    """The numbers of a version: single digits, because dates and sizes are longer."""
    return [int(number) for number in _numbers(name) if len(number) == 1]


def _numbers(name: str) -> list[str]:
    return re.findall(r"\d+", name)


_A_SLIP = 0.85
_CATALOGUED = frozenset(KEYS) - {"openrouter", "together_ai"} | {"bedrock"}
"""Providers that publish the list of their models."""
_EXAMPLES: Mapping[str, str] = {
    "anthropic": "anthropic/claude-sonnet-4-5",
    "gemini": "gemini/gemini-2.5-flash",
    "litellm": "anthropic/claude-sonnet-4-5",
    "mistral": "mistral/mistral-large-latest",
    "openai": "openai/gpt-5-mini",
}
_WAY_OUT = "Write provider/model, or set base_url for a server of your own."


def missing_key(provider: str) -> str:
    """The variable missing for a provider's key; ``""`` if one is set, or the provider takes other credentials."""
    names = KEYS.get(provider, ())
    return "" if not names or any(os.environ.get(name, "").strip() for name in names) else names[0]


def provider_of(name: str) -> str:
    """The provider of a model id at its own address."""
    provider, slash, _ = name.partition("/")
    return provider if slash else str(prices.known(name).get("litellm_provider", ""))


@lru_cache(maxsize=1)
def providers() -> frozenset[str]:
    """Every provider that LiteLLM knows: each has its own folder."""
    spec = find_spec("litellm")
    folders = [Path(path) / "llms" for path in (spec and spec.submodule_search_locations) or ()]
    named = (entry.name for folder in folders if folder.is_dir() for entry in folder.iterdir() if entry.is_dir())
    return frozenset(name for name in named if not name.startswith("_")) | frozenset(_FURTHER.split())


def _example(provider: str) -> str:
    return _EXAMPLES.get(provider, f"{provider}/MODEL")
