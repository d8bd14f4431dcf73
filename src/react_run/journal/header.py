"""Builds the header of a journal: the agent and the run at the start."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from react_run.engine.state import EngineState
from react_run.journal.lines import as_bytes, encoded
from react_run.journal.values import VERSION, Record, message_to_data, reference

if TYPE_CHECKING:
    from react_run.config.yaml import Node
    from react_run.parts import Part
    from react_run.run import ReActAgent, Run
    from react_run.secrets import Masker


def header_of(
    run: Run,
    agent: Record,
    *,
    time: float,
    options: Mapping[str, object],
    session: str | None,
    keep: Callable[[Part], Record] = reference,
) -> Record:
    """The first record of a run, except for the conversation that it begins with.

    Args:
        run: The run, set up but not started.
        agent: The description of its agent, from :func:`described`.
        time: Now, in seconds since 1970.
        options: The options that built the agent from its file, for building it again.
        session: The conversation that the run belongs to.
        keep: Stores attachments, and returns references to them.
    """
    from react_run import __version__

    state = run.state(EngineState)
    within = state.parent_call
    return {
        "version": VERSION,
        "started": datetime.fromtimestamp(time, UTC).isoformat(timespec="milliseconds"),
        "react_run": __version__,
        "python": platform.python_version(),
        **agent,
        "model": run.agent.model.name,
        "context_window": run.agent.model.context_window,
        "max_iterations": run.max_iterations,
        "workspace": str(run.workspace),
        "session": session,
        "options": dict(options),
        **({"settings": dict(state.settings)} if state.settings else {}),
        **({} if within is None else {"within": [len(within.run.iterations), within.position]}),
        **({"goes_on": True} if run.parent is not None and goes_on(run) else {}),
        "prompt": run.prompt,
        **({"attachments": [keep(part) for part in state.attached]} if state.attached else {}),
        "incoming": [message_to_data(message, keep) for message in state.incoming],
    }


def goes_on(run: Run) -> bool:
    """Whether ``run``, if interrupted, continues where it was when the outermost parent run is resumed."""
    while run.parent is not None:
        call = run.state(EngineState).parent_call
        if call is None or call.tool is None or not call.tool.delegates:
            return False
        run = run.parent
    return True


def described_agent(agent: ReActAgent, masker: Masker) -> Record:
    """Describe an agent: its file as written, its effective values, its components, and a digest of the last two."""
    config = agent.config
    values = _values(config.source, masker)
    toolsets = [_component("toolsets", toolset) for toolset in agent.toolset.toolsets]
    plugins = [_component("plugins", plugin) for plugin in config.plugins]
    kinds = [component["kind"] for component in (*toolsets, *plugins)]
    _, text = encoded({"values": values, "kinds": kinds}, masker)
    return {
        "agent": {
            "name": config.name,
            "description": config.description,
            "file": str(config.path.absolute()) if config.path else None,
            "text": _text(config.path),
            "values": values,
            "digest": sha256(as_bytes(text)).hexdigest()[:32],
        },
        "toolsets": toolsets,
        "plugins": plugins,
    }


def _text(path: Path | None) -> str | None:
    """The text of the agent file; values assigned to secret names are left out, literal ones as well."""
    from react_run.secrets import mask_line

    try:
        text = path.read_text(encoding="utf-8") if path else None
    except (OSError, ValueError):
        return None
    return None if text is None else "\n".join(map(mask_line, text.split("\n")))


def _values(node: Node, masker: Masker) -> object:
    """The values that were set, with secrets as the ``${VARIABLE}`` they came from."""
    value = node.value
    if isinstance(value, dict):
        return {key: _values(item, masker) for key, item in value.items()}
    if isinstance(value, list):
        return [_values(item, masker) for item in value]
    if isinstance(value, str):
        return node.raw if node.variables and masker.mask(value) != value else value
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return _path(value)  # an object built in Python


def _component(group: str, component: object) -> Record:
    from react_run.components.kinds import kind_of_class

    path = _path(component)
    kind = kind_of_class(group, type(component))
    if kind is not None:
        return {"kind": kind.name, "class": path, "distribution": kind.distribution, "version": kind.version}
    return {"kind": path, "class": path, "distribution": "", "version": ""}


def _path(value: object) -> str:
    cls = value if isinstance(value, type) else type(value)
    return f"{cls.__module__}:{cls.__qualname__}"


def changes(before: Record, now: Record) -> list[str]:
    """The differences between the agents of two headers or descriptions, one line each."""
    found = list(_changed("", before["agent"]["values"], now["agent"]["values"]))
    for group in ("toolsets", "plugins"):
        found += _changed_kinds(group[:-1], before[group], now[group])
    return found


def _changed(key: str, before: object, now: object) -> Iterable[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        for name in [*before, *(name for name in now if name not in before)]:
            inner = f"{key}.{name}" if key else name
            if name not in now:
                yield f"{inner}: no longer set"
            elif name not in before:
                yield f"{inner}: now {_shown(now[name])}"
            else:
                yield from _changed(inner, before[name], now[name])
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for index, pair in enumerate(zip(before, now, strict=True)):
            yield from _changed(f"{key}[{index}]", *pair)
    elif before != now:
        yield f"{key}: was {_shown(before)}, now {_shown(now)}"


def _changed_kinds(word: str, before: list[Record], now: list[Record]) -> Iterable[str]:
    versions = {component["class"]: component for component in now}
    for component in before:
        same = versions.get(component["class"])
        if same is None:
            yield f"{word} {component['kind']}: gone"
        elif same["version"] != component["version"]:
            yield f"{word} {component['kind']}: was version {component['version']}, now {same['version']}"
    known = {component["class"] for component in before}
    yield from (f"{word} {component['kind']}: new" for component in now if component["class"] not in known)


def _shown(value: object) -> str:
    from react_run.support.display import shown_value

    return shown_value(value)
