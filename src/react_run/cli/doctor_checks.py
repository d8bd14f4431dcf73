"""The individual checks of ``doctor``."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from react_run.cli.finding import Finding
from react_run.components.kinds import GROUPS, every_installed, installed
from react_run.support.user_dirs import config_directory, data_directory, state_directory

if TYPE_CHECKING:
    from react_run.cli.mcp import Servers
    from react_run.models.base import Model

PATIENCE = 5.0
"""Seconds to wait for a provider, and for a toolset to start."""

PROVIDERS: Mapping[str, str] = {
    "OPENAI_API_KEY": "https://api.openai.com",
    "ANTHROPIC_API_KEY": "https://api.anthropic.com",
    "GEMINI_API_KEY": "https://generativelanguage.googleapis.com",
    "MISTRAL_API_KEY": "https://api.mistral.ai",
    "GROQ_API_KEY": "https://api.groq.com",
    "OPENROUTER_API_KEY": "https://openrouter.ai",
}
"""The environment variables for the keys of common providers, and the providers' addresses."""

MALICIOUS = {"litellm": ("1.82.7", "1.82.8")}
"""Releases that must not be installed."""


def installation() -> Iterator[Finding]:
    """Check Python, our version, directories, and known malicious releases."""
    from react_run import __version__

    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding("ok", "Python", f"{version} ({sys.executable})")
    yield Finding("ok", "react-run", f"{__version__} ({Path(__file__).parent.parent})")
    for name, directory in (("data", data_directory()), ("settings", config_directory()), ("state", state_directory())):
        yield _writable(name, directory)
    for distribution, releases in MALICIOUS.items():
        if _version(distribution) in releases:
            fix = f"pip install --upgrade {distribution}, then replace every key stored on this machine"
            yield Finding("failed", distribution, f"{_version(distribution)} is a malicious release", fix)


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _writable(name: str, directory: Path) -> Finding:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        probe = directory / f".doctor-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        return Finding(
            "failed",
            f"{name} directory",
            f"{directory} cannot be written: {error.strerror}",
            f"make it writable, or set REACT_RUN_HOME to a directory that is: chmod u+rwx {_nearest(directory)}",
        )
    return Finding("ok", f"{name} directory", str(directory))


def _nearest(directory: Path) -> Path:
    """The directory, or its nearest existing parent."""
    return next((path for path in (directory, *directory.parents) if path.exists()), directory)


def kinds() -> Iterator[Finding]:
    """Check that everything installed can be loaded."""
    from react_run.errors import PluginError

    for group in GROUPS:
        names = installed(group)
        broken = []
        for kind in names.values():
            try:
                kind.load()
            except PluginError as error:
                broken.append(kind.name)
                fix = f"pip install --force-reinstall {kind.distribution}, or uninstall it"
                yield Finding("failed", f"{group[:-1]} {kind.name}", str(error), fix)
        for kind in every_installed(group):
            if names[kind.name] != kind:
                detail = f"offered by {kind.distribution} and by {names[kind.name].distribution}, which wins"
                yield Finding(
                    "failed",
                    f"{group[:-1]} {kind.name}",
                    detail,
                    f"uninstall one of them: pip uninstall {kind.distribution}",
                )
        working = ", ".join(sorted(name for name in names if name not in broken))
        yield Finding("ok", group, working or "none installed")


def keys() -> Iterator[Finding]:
    """Check which keys are set, without showing them."""
    present = [name for name in PROVIDERS if os.environ.get(name)]
    for name in present:
        yield Finding("ok", name, "set (not shown)")
    if not present:
        detail = "no key of a common provider is set; an agent without a model runs on the offline model"
        yield Finding("note", "keys", detail, f"export one, such as {next(iter(PROVIDERS))}=…, or use --env-file")


def providers() -> Iterable[Finding]:
    """Check that the providers whose keys are set can be reached."""
    return [reachable(address) for name, address in PROVIDERS.items() if os.environ.get(name)]


def reachable(address: str) -> Finding:
    """Check that ``address`` accepts connections; nothing is sent."""
    parts = urlsplit(address)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    what = f"provider {parts.hostname}"
    started = time.monotonic()
    try:
        socket.create_connection((parts.hostname or "", port), PATIENCE).close()
    except OSError as error:
        fix = "check the network, the proxy (HTTPS_PROXY) and base_url; meanwhile, agents can run offline: -m offline"
        return Finding("failed", what, f"cannot be reached on port {port}: {error}", fix)
    return Finding("ok", what, f"reachable in {(time.monotonic() - started) * 1000:.0f} ms")


def agent_findings(file: str, *, trust: bool, offline: bool) -> Iterator[Finding]:
    """Check that an agent file is valid, that its model can be reached, and that its toolsets start."""
    from react_run.cli.check import problems_of
    from react_run.cli.validation import Soundness, mistyped
    from react_run.config import load_config
    from react_run.launch.mcp_servers import mcp_toolsets

    problems = problems_of(file, trust, None, Soundness())
    for problem in problems:
        yield Finding("failed", "agent file", str(problem["text"]), f"fix the file: react-run check {file}")
    if problems:
        return
    yield Finding("ok", "agent file", file)
    config = load_config(file, trusted=True if trust else None)
    address = getattr(config.model, "base_url", None)
    if address and not offline:
        yield reachable(str(address))
    for model in filter(None, (config.model, *config.fallback_models)):
        yield _has_key(model)
        if doubt := mistyped(model):
            yield Finding("note", f"model {model.name}", doubt)
        if not offline:
            yield from _memory(model)
    servers = list(mcp_toolsets(config.toolsets))
    for toolset in config.toolsets:
        if toolset not in servers:
            yield _starts(toolset)
    for toolset in servers:
        yield from _servers(toolset, offline=offline)


def _servers(toolset: Any, *, offline: bool) -> Iterator[Finding]:
    """Check that each MCP server of a toolset works."""
    from react_run.errors import ReactError

    inspection: Servers = toolset.inspection()
    try:
        found = inspection.health(remote=not offline)
        different = {name: lines for name, lines in inspection.differences().items() if name in found}
    except ReactError as error:
        yield Finding("failed", "MCP servers", str(error), "see docs/toolsets/mcp.md")
        return
    finally:
        inspection.end()
    locked = inspection.locked() is not None
    for name in inspection.names:
        what = f"MCP server {name}"
        works, said = found.get(name, (True, ""))
        if name not in found:
            yield Finding("note", what, "it is on another machine, which --offline does not contact")
        elif not works:
            yield Finding("failed", what, said, f"run its command by hand, and read .react-run/logs/mcp-{name}.log")
        elif locked and name in different:
            fix = "review it with react-run mcp diff, and lock it again if it is right"
            yield Finding("failed", what, f"{said}; it differs from the lock: {'; '.join(different[name])}", fix)
        else:
            yield Finding("ok", what, f"{said}, as locked" if locked else said)


def _has_key(model: Model) -> Finding:
    from react_run.models.remote import RemoteModel

    what = f"model {model.name}"
    if variable := getattr(model, "missing_key", str)():
        fix = f"export {variable}=…, give api_key in the file, or use --env-file"
        return Finding("failed", what, f"no key: {variable} is not set", fix)
    if not isinstance(model, RemoteModel):
        return Finding("ok", what, "runs here, and needs no key")
    address = model.base_url or "its provider's own address"
    return Finding("ok", what, f"the provider of this id is known, and its key is set if one is needed ({address})")


def _memory(model: Model) -> Iterator[Finding]:
    """Whether a model on this machine has the memory it needs."""
    from react_run.models.remote import RemoteModel

    if isinstance(model, RemoteModel):
        from react_run.cli.local_models import memory_findings

        yield from memory_findings(model)


def _starts(toolset: object) -> Finding:
    import asyncio

    from react_run.config.dump import kind_name
    from react_run.tools.composite import offered
    from react_run.tools.toolset import ReActToolset

    assert isinstance(toolset, ReActToolset)  # a configuration cannot hold anything else here
    what = f"toolset {kind_name(toolset)}"

    async def start() -> int:
        async with asyncio.timeout(PATIENCE):
            await toolset.open()
        try:
            return len(offered(toolset))
        finally:
            await toolset.close()

    try:
        count = asyncio.run(start())
    except Exception as error:
        reason = "it took too long" if isinstance(error, TimeoutError) else f"{type(error).__name__}: {error}"
        return Finding(
            "failed", what, f"does not start: {reason}", "check its options, and the files and addresses they name"
        )
    return Finding("ok", what, f"starts, {count} tool{'' if count == 1 else 's'}")
