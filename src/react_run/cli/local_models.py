"""Estimates, for ``doctor``, whether this machine has enough memory for a model that runs on it.

The sources are what servers report about their models: Ollama's ``/api/tags``, ``/api/ps`` and ``/api/show``
(https://docs.ollama.com/api), and the ``meta`` that llama.cpp's server adds to ``/v1/models``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import httpx

from react_run.cli.finding import Finding
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.models.remote import RemoteModel

PATIENCE = 5.0
"""Seconds to wait for one reply."""
OLLAMA = "http://localhost:11434"
"""Ollama's default address."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")
BESIDES = 1.1
"""The memory that a server needs in all, as a multiple of the weights; a tenth for buffers, as a rule of thumb."""
BYTES_PER_NUMBER = 2
"""The context's keys and values have 16 bits by default."""
UNKNOWN_WINDOW = 4096
"""The context size, in tokens, to assume if neither the file nor the server gives one."""
MEMORY = Path("/proc/meminfo")


@dataclass(frozen=True)
class Need:
    """The memory that a model needs, in bytes."""

    weights: int
    context: int = 0
    tokens: int = 0
    loaded: bool = False
    """Whether the server has loaded it already, so that no more memory is needed."""

    @property
    def total(self) -> int:
        """The estimated total."""
        return int(self.weights * BESIDES) + self.context


def memory_findings(model: RemoteModel, *, memory: Path = MEMORY) -> Iterator[Finding]:
    """Check that the server has the model, and that this machine has enough memory for it.

    Servers on other machines, and servers that do not report the size of their models, are not checked.

    Args:
        model: The model of the agent file.
        memory: The kernel's memory report.
    """
    name = model.name.removeprefix("ollama/").removeprefix("ollama_chat/")
    address = model.base_url or (OLLAMA if name != model.name else "")
    if urlsplit(address).hostname not in LOOPBACK:
        return
    what = f"memory for {name}"
    headers = {"Authorization": f"Bearer {model.api_key.get_secret_value()}"} if model.api_key else {}
    with httpx.Client(timeout=PATIENCE, trust_env=False, headers=headers) as client:
        names, need = _asked(client, address, name, model.context_window)
    if names and need is None and not _is_there(name, names):
        nearest = get_close_matches(name, names, n=1, cutoff=0.5)
        has = f"did you mean {nearest[0]}?" if nearest else f"it has {', '.join(sorted(names)[:5])}"
        yield Finding("failed", what, f"the server has no model {name}; {has}", f"ollama pull {name}")
    elif need is not None:
        yield _judged(what, need, _available(memory))


def _asked(client: httpx.Client, address: str, name: str, window: int | None) -> tuple[list[str], Need | None]:
    """The models of an Ollama server, and the needs of the one called ``name``, as far as the server reports them."""
    root = urlunsplit(urlsplit(address)._replace(path="", query=""))
    models = _entries(_reply(client, "GET", f"{root}/api/tags"), "models")
    for entry in models:
        if _is_there(name, [str(entry.get("name"))]) and _number(entry, "size"):
            return [name], _need_of(client, root, entry, window)
    if names := [entry["name"] for entry in models if isinstance(entry.get("name"), str)]:
        return names, None
    listed = _entries(_reply(client, "GET", f"{address.rstrip('/')}/models"), "data")
    for entry in listed:
        meta = entry.get("meta")
        named = entry.get("id") == name or len(listed) == 1  # llama.cpp has one model, and answers under any name
        if named and isinstance(meta, dict) and (size := _number(meta, "size")):
            return [], Need(weights=size, loaded=True)
    return [], None


def _need_of(client: httpx.Client, root: str, entry: Mapping[str, Any], window: int | None) -> Need:
    """The memory that an Ollama model needs."""
    own = str(entry.get("name"))
    for running in _entries(_reply(client, "GET", f"{root}/api/ps"), "models"):
        if running.get("name") == own:
            return Need(weights=_number(running, "size") or _number(entry, "size"), loaded=True)
    shown = _reply(client, "POST", f"{root}/api/show", {"model": own})
    tokens = window or UNKNOWN_WINDOW
    info = shown.get("model_info")
    per_token = _bytes_per_token(info) if isinstance(info, dict) else 0
    return Need(weights=_number(entry, "size"), context=per_token * tokens, tokens=tokens if per_token else 0)


def _bytes_per_token(info: Mapping[str, Any]) -> int:
    """The bytes of keys and values for one token of context; 0 if the model's shape is unknown."""
    shape = f"{info.get('general.architecture')}."
    layers, heads = _number(info, f"{shape}block_count"), _number(info, f"{shape}attention.head_count")
    shared = _number(info, f"{shape}attention.head_count_kv") or heads
    width = _number(info, f"{shape}embedding_length") // heads if heads else 0
    key = _number(info, f"{shape}attention.key_length") or width
    value = _number(info, f"{shape}attention.value_length") or width
    return layers * shared * (key + value) * BYTES_PER_NUMBER


def _judged(what: str, need: Need, available: int | None) -> Finding:
    if need.loaded:
        return Finding("ok", what, f"the server has loaded it ({_size(need.weights)})")
    parts = f"{_size(need.weights)} of weights"
    if need.tokens:
        parts += f", {_size(need.context)} for {need.tokens:,} tokens of context"
    wanted = f"it needs about {_size(need.total)} ({parts})"
    if available is None:
        return Finding("note", what, f"{wanted}; how much memory is free is unknown")
    told = f"{wanted}, and {_size(available)} are free; an estimate that ignores graphics memory"
    if need.total <= available:
        return Finding("ok", what, told)
    fix = "without enough graphics memory, use a smaller model, quantization or context_window, or close programs"
    return Finding("note", what, told, fix)


def _available(memory: Path) -> int | None:
    """The bytes that programs can still get without swapping; ``None`` if the kernel does not report it."""
    with suppress(OSError, ValueError):
        for line in memory.read_text(encoding="ascii").splitlines():
            field, _, rest = line.partition(":")
            if field == "MemAvailable":
                return int(rest.split()[0]) * 1024
    return None


def _is_there(name: str, names: list[str]) -> bool:
    return name in names or f"{name}:latest" in names


def _reply(client: httpx.Client, method: str, url: str, body: object = None) -> dict[str, Any]:
    """The JSON object that the server returns; empty if it does not know the address."""
    try:
        response = client.request(method, url, json=body) if body is not None else client.request(method, url)
        found = response.json() if response.is_success else None
    except (httpx.HTTPError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _entries(reply: Mapping[str, Any], field: str) -> list[dict[str, Any]]:
    found = reply.get(field)
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _number(entry: Mapping[str, Any], field: str) -> int:
    """A positive integer, or 0; for a list with one number per layer, the largest."""
    value = entry.get(field)
    values = value if isinstance(value, list) else [value]
    return max((each for each in values if isinstance(each, int) and each > 0), default=0)


def _size(count: int) -> str:
    return f"{count / 2**30:.1f} GB" if count >= 2**30 / 10 else f"{count / 2**20:.0f} MB"
