"""Expands shorthands to one canonical form (docs/agent-files.md), on the tree, so that every value keeps its place."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from react_run.components.building import find
from react_run.components.errors import near
from react_run.components.kinds import ALIASES
from react_run.config.limits import Limits
from react_run.config.wrapper_levels import LEVELS
from react_run.config.yaml import Node, Report, wrap
from react_run.errors import ReactError
from react_run.support.user_dirs import from_home

if TYPE_CHECKING:
    from react_run.config.loading import Loading

GENERATION_KEYS = {
    "base_url": "base_url",
    "api_key": "api_key",
    "temperature": "temperature",
    "max_tokens": "max_tokens",
    "timeout": "timeout",
    "model_settings": "settings",
}
"""Keys of the agent file that are passed to the model, and their names there."""
_LISTS = frozenset({"toolsets", "plugins", "checks", *LEVELS})


BY_ID = ""
"""The key for the model id in a mapping, if the command line sets options of a model that the file gives as an id."""

# -- the shape of one file, before files are merged ------------------------------------------------------------------


def normalise(tree: Node, report: Report) -> Node:
    """Convert to the flat shape: ``properties`` unwrapped, ``toolset`` as ``toolsets``, limits under ``limits``."""
    entries = {key: node for key, node in tree.mapping.items() if not key.startswith("x-")}
    _unwrap(entries, report)
    _one_toolset(entries, report)
    _listed(entries)
    _gather_limits(entries, report)
    return tree.like(entries)


def _unwrap(entries: dict[str, Node], report: Report) -> None:
    properties = entries.get("properties")
    if properties is not None and properties.value is None:
        del entries["properties"]  # left empty
        return
    if properties is None or not isinstance(properties.value, dict):
        return  # anything else is reported as an unknown key
    del entries["properties"]
    for key, node in properties.mapping.items():
        if key in entries:
            report.add(
                "cfg.given_twice", f"{key!r} is given here and at the top level of the file", node.key_place, node.path
            )
        entries[key] = node


def _one_toolset(entries: dict[str, Node], report: Report) -> None:
    toolset = entries.pop("toolset", None)
    if toolset is None:
        pass
    elif "toolsets" in entries:
        report.add("cfg.given_twice", "give 'toolset' or 'toolsets', not both", toolset.key_place, toolset.path)
    elif toolset.value is not None:
        entries["toolsets"] = toolset.like([toolset])
    for key in ("toolsets", "+toolsets"):
        node = entries.get(key)
        if node is not None and isinstance(node.value, list):
            made = node.like([child for item in node.items for child in _children(item)])
            entries[key] = made


def _listed(entries: dict[str, Node]) -> None:
    """Normalise lists of components: a list without entries is empty, and a single plugin needs no dash."""
    for key in _LISTS & entries.keys():
        node = entries[key]
        if node.value is None:
            del entries[key]
        elif isinstance(node.value, dict) and key not in ("toolsets", "checks"):
            entries[key] = node.like([node])


def _children(toolset: Node) -> Iterable[Node]:
    """The toolsets in a composite, which is just a list of them."""
    kind, inner = toolset.mapping.get("kind"), toolset.mapping.get("toolsets")
    composite = kind is not None and ALIASES.get(str(kind.value), kind.value) == "composite"
    if not composite or len(toolset.mapping) != 2 or inner is None or not isinstance(inner.value, list):
        yield toolset
        return
    for child in inner.items:
        yield from _children(child)


def _gather_limits(entries: dict[str, Node], report: Report) -> None:
    flat = [key for key in entries if key in Limits.model_fields]
    if not flat:
        return
    limits = entries.get("limits")
    if limits is not None and not isinstance(limits.value, dict):
        return  # reported later: it is not a mapping
    gathered = dict(limits.mapping) if limits is not None else {}
    for key in flat:
        node = entries.pop(key)
        if key in gathered:
            report.add("cfg.given_twice", f"{key!r} is given here and under 'limits'", node.key_place, node.path)
        gathered[key] = node
    entries["limits"] = limits.like(gathered) if limits is not None else Node(gathered, node.place, ("limits",))


# -- the whole tree, once its variables are expanded ------------------------------------------------------------------


def expand_shorthands(tree: Node, loading: Loading) -> None:
    """Turn the remaining shorthands of ``tree``, in place, into components."""
    entries = tree.mapping
    _model(entries, loading)
    _fallback_models(entries, loading)
    _paths(entries, "skills", "a skill directory", loading)
    _paths(entries, "subagents", "an agent file", loading)
    _append(entries, "toolsets", _as_component(entries.get("skills"), "skills", "paths"))
    _append(entries, "toolsets", _as_component(entries.get("subagents"), "agents", "agents"))
    guides = entries.get("guides")
    for guide in guides.items if guides else ():
        _append(entries, "plugins", _component("guide", text=guide))
    permissions = entries.get("permissions")
    if permissions is not None and isinstance(permissions.value, list):
        _append(entries, "plugins", _component("approval", rules=permissions))
    _output_schema(entries, loading.report)
    _check_class_name(entries, loading)


def _output_schema(entries: dict[str, Node], report: Report) -> None:
    node = entries.get("output_schema")
    if node is None or node.value is None or isinstance(node.value, (str, list, bool, int, float)):
        return  # anything but a mapping is reported later
    if isinstance(node.value, dict):
        _append(entries, "checks", _component("json_schema", schema=node))
        return
    from react_run.support.typed import schema_of

    try:
        schema = schema_of(node.value)
    except TypeError as error:
        report.add("cfg.type", str(error), node.place, node.path)
        del entries["output_schema"]
        return
    entries["output_schema"] = wrap(schema, node.place, node.path)
    _append(entries, "checks", _component("json_schema", schema=entries["output_schema"], type=node))


def _component(kind: str, **options: Node) -> Node:
    first = next(iter(options.values()))
    return first.like({"kind": first.like(kind), **options})


def _as_component(node: Node | None, kind: str, option: str) -> Node | None:
    return _component(kind, **{option: node}) if node is not None and node.items else None


def _append(entries: dict[str, Node], key: str, component: Node | None) -> None:
    if component is None:
        return
    listed = entries.get(key)
    if listed is None:
        entries[key] = component.like([component])
    elif isinstance(listed.value, list):
        listed.value.append(component)


def _model(entries: dict[str, Node], loading: Loading) -> None:
    node = entries.get("model")
    if node is None:
        return
    entries["model"] = _as_model(node, entries, loading, GENERATION_KEYS, has_address=_given(entries, "base_url"))


def _given(entries: dict[str, Node], key: str) -> bool:
    return key in entries and entries[key].value is not None


def _fallback_models(entries: dict[str, Node], loading: Loading) -> None:
    node = entries.get("fallback_models")
    shared = {key: GENERATION_KEYS[key] for key in ("temperature", "max_tokens", "timeout")}
    if node is not None and isinstance(node.value, list):
        node.value[:] = [_as_model(item, entries, loading, shared, has_address=False) for item in node.items]


def _as_model(
    node: Node, entries: dict[str, Node], loading: Loading, keys: dict[str, str], *, has_address: bool
) -> Node:
    if isinstance(node.value, str) and node.value:
        node = node.like(_by_id(node, has_address=has_address))
    elif BY_ID in node.mapping:
        options = dict(node.mapping)
        given = options.pop(BY_ID)
        node = node.like({**_by_id(given, has_address=has_address or _given(options, "base_url")), **options})
    kind = node.mapping.get("kind")
    if kind is None or not isinstance(kind.value, str):
        return node
    options = dict(node.mapping)
    known = _options_of(kind.value, loading)
    for key, name in keys.items():
        if name in known and _given(entries, key):
            options.setdefault(name, entries[key])
    _check_id(kind.value, options, loading)
    return node.like(options)


def _check_id(kind: str, options: dict[str, Node], loading: Loading) -> None:
    """Check a model id early: a wrong one would fail only at the first call, after seconds of imports."""
    name = options.get("model")
    if (
        name is None
        or not isinstance(name.value, str)
        or _given(options, "base_url")
        or kind not in ("litellm", "openai")
    ):
        return
    from react_run.models.known_ids import wrong_id

    if problem := wrong_id(name.value if kind == "litellm" or "/" in name.value else f"openai/{name.value}"):
        loading.report.add("cfg.model_id", problem, name.place, name.path)


def kind_of_id(name: str, *, has_address: bool = False) -> dict[str, Any]:
    """The mapping that a model id stands for."""
    if name in ("offline", "scripted"):
        return {"kind": name}
    from react_run.models.known_ids import OPENAI_ID

    is_openai = has_address or name.startswith("openai/") or OPENAI_ID.fullmatch(name)
    kind = "openai" if is_openai else "litellm"
    return {"kind": kind, "model": name}


def _by_id(node: Node, *, has_address: bool) -> dict[str, Node]:
    return {key: node.like(value) for key, value in kind_of_id(str(node.value), has_address=has_address).items()}


def _options_of(kind: str, loading: Loading) -> Iterable[str]:
    try:
        cls = find("models", kind, loading)
    except ReactError:
        return ()  # reported when the model is built
    return cls.model_fields if isinstance(cls, type) and issubclass(cls, BaseModel) else ()


def _paths(entries: dict[str, Node], key: str, what: str, loading: Loading) -> None:
    node = entries.get(key)
    seen: dict[Path, Node] = {}
    for item in node.items if node else ():
        if not isinstance(item.value, (str, Path)):
            continue  # reported later
        path = ((item.directory or loading.directory) / from_home(item.value)).resolve()
        if not path.exists():
            text = f"there is no {what.partition(' ')[2]} {item.value} ({path})"
            loading.report.add("cfg.path_missing", text, item.place, item.path)
        elif path in seen:
            loading.report.add("cfg.duplicate_name", f"{item.value} is listed twice", item.place, item.path)
        seen[path] = item


def _check_class_name(entries: dict[str, Node], loading: Loading) -> None:
    node = entries.get("class_name")
    if node is None or not isinstance(node.value, str):
        return
    name = node.value.replace(":", ".").rpartition(".")[2]
    if name != "ReActAgent":
        text = f"{node.value!r} is not a ReActAgent.{near(name, ['ReActAgent'])} Use react_run.ReActAgent"
        loading.report.add("cfg.class_name", text, node.place, node.path)
