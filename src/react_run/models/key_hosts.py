"""Decides where a key from the environment may be sent: to its provider's own host over https, and to this machine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from react_run.models.known_ids import KEYS

HOSTS: Mapping[str, tuple[str, ...]] = {
    "anthropic": ("api.anthropic.com",),
    "azure": (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"),
    "azure_ai": (".services.ai.azure.com", ".models.ai.azure.com", ".inference.ai.azure.com"),
    "bedrock": (".amazonaws.com",),
    "cerebras": ("api.cerebras.ai",),
    "cohere": ("api.cohere.com", "api.cohere.ai"),
    "cohere_chat": ("api.cohere.com", "api.cohere.ai"),
    "deepseek": ("api.deepseek.com",),
    "fireworks_ai": ("api.fireworks.ai",),
    "gemini": ("generativelanguage.googleapis.com",),
    "groq": ("api.groq.com",),
    "mistral": ("api.mistral.ai", "codestral.mistral.ai"),
    "openai": ("api.openai.com",),
    "openrouter": ("openrouter.ai",),
    "perplexity": ("api.perplexity.ai",),
    "sagemaker": (".amazonaws.com",),
    "together_ai": ("api.together.xyz", "api.together.ai"),
    "vertex_ai": (".googleapis.com",),
    "xai": ("api.x.ai",),
}
"""The hosts of each provider; a leading dot allows subdomains of customers."""
NO_KEY = "none"
"""A dummy key for hosts that may not get a key from the environment: without a key, LiteLLM would take one from
there.
"""
ADDRESSES = frozenset((
    "api_base", "api_key", "aws_bedrock_runtime_endpoint", "azure_ad_token", "azure_endpoint", "base_url", "client",
    "context_window_fallback_dict", "custom_llm_provider", "fallbacks", "model_list",
))  # fmt: skip
"""Arguments of LiteLLM that select the provider or the key, which is up to the model's options."""
_PLACES = re.compile(r".*(?:location|region|project).*")
_PLACE = re.compile(r"[A-Za-z0-9_-]{0,64}")
_TAKE_A_KEY = frozenset(KEYS) | frozenset((
    "custom_openai", "hosted_vllm", "litellm_proxy", "llamafile", "lm_studio", "ollama", "ollama_chat", "vllm",
))  # fmt: skip
"""Providers for which LiteLLM ignores the environment if it is given a key."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def may_take_key(provider: str, base_url: str | None) -> bool:
    """Whether the environment's key for ``provider`` may be sent to ``base_url`` (``None``: the provider's own
    address).
    """
    if not base_url:
        return True
    url = urlsplit(base_url)
    host = (url.hostname or "").removesuffix(".")
    if host in _LOOPBACK:
        return True
    own = any(host == it or (it[0] == "." and host.endswith(it)) for it in HOSTS.get(provider, ()))
    return own and url.scheme == "https" and url.port in (None, 443)


def can_do_without(provider: str) -> bool:
    """Whether a dummy key keeps LiteLLM from taking one from the environment."""
    return provider in _TAKE_A_KEY


def wrong_field(name: str, value: object) -> str:
    """Why an argument may not be passed to LiteLLM unchanged; ``""`` if it may."""
    if name in ADDRESSES:
        return f"{name} would select LiteLLM's provider or key: use model, base_url and api_key"
    if _PLACES.fullmatch(name) and isinstance(value, str) and not _PLACE.fullmatch(value):
        return f"{name} becomes part of a URL: use only letters, digits and dashes"
    return ""
