"""Class → object: checks the entry of an agent file against its base class, and validates its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from pydantic import BaseModel, ValidationError

from react_run.components.bases import BASES
from react_run.components.errors import KindImportError, KindNotTrusted
from react_run.components.kinds import kind_named, resolve
from react_run.components.option_errors import at, problem, unknown_key
from react_run.components.origin import Origin
from react_run.errors import ReactError

ARTICLES = {
    "toolsets": "a toolset",
    "plugins": "a plugin",
    "models": "a model",
    "checks": "a check",
    "scorers": "a scorer",
}


def build(group: str, entry: object, origin: object = None) -> object:
    """Build the object for ``entry`` (``name`` or ``{kind: name, option: …}``).

    Args:
        group: One of :data:`react_run.components.kinds.GROUPS`.
        entry: The entry in the agent file.
        origin: The :class:`Origin` of the entry, if it comes from a file.

    Raises:
        ValidationError: The kind or its options are wrong; positions are relative to the entry.
    """
    if not isinstance(entry, (str, Mapping)) and (made := BASES[group].adapted(entry, unmarked=True)) is not None:
        return made
    kind, options = _split(group, entry)
    try:
        target = find(group, kind, origin)
    except ReactError as error:
        raise at(("kind",), problem(_code(group, error), str(error)), kind) from None
    try:
        return _instance(group, target, kind, options, origin)
    except ReactError as error:
        code = str(getattr(error, "code", "value")).replace(".", "_")
        raise at((), problem(f"cfg.{code}", str(error)), options) from None
    except ValidationError:
        raise
    except Exception as error:
        text = f"{kind} failed on its options: {type(error).__name__}: {error}"
        raise at((), problem("cfg.value", text), options) from error


def find(group: str, kind: str, origin: object = None) -> object:
    """The object that ``kind`` names for the agent file at ``origin``."""
    if isinstance(origin, Origin):
        return resolve(group, kind, directory=origin.directory, trusted=origin.trusted)
    return resolve(group, kind)


def _code(group: str, error: ReactError) -> str:
    if isinstance(error, KindNotTrusted):
        return "cfg.untrusted"
    return "cfg.plugin_import" if isinstance(error, KindImportError) else f"cfg.unknown_{group[:-1]}"


def _split(group: str, entry: object) -> tuple[str, dict[str, object]]:
    if isinstance(entry, str):
        entry = {"kind": entry}
    if not isinstance(entry, Mapping):
        raise at((), problem("cfg.type", f"must be the name of {ARTICLES[group]}, or a mapping with kind:"), entry)
    options = dict(entry)
    kind = options.pop("kind", None)
    if kind is None:
        raise at((), problem("cfg.missing_key", f"'kind' is missing: it names {ARTICLES[group]}"), entry)
    if not isinstance(kind, str) or not kind:
        raise at(("kind",), problem("cfg.type", f"must be text (a string): the name of {ARTICLES[group]}"), kind)
    return kind, options


def _instance(group: str, target: object, kind: str, options: dict[str, object], origin: object) -> object:
    if (made := BASES[group].adapted(target)) is not None:
        shared = made.shared_option_names()
        _refuse_options(made, kind, {name: value for name, value in options.items() if name not in shared})
        return type(made).model_validate({**options, **dict(made)}, context=origin) if options else made
    if not isinstance(target, type):
        if group == "plugins" and has_hooks(target):
            return _refuse_options(target, kind, options)
        raise _wrong_kind(group, kind, _not_a_class(group, target))
    if not _fits(group, target):
        without = ", and has no method marked @hookimpl" if group == "plugins" else ""
        cls = f"{target.__module__}.{target.__qualname__}"
        raise _wrong_kind(group, kind, f"{cls} is not a subclass of {BASES[group].__name__}{without}")
    if issubclass(target, BaseModel):
        return target.model_validate(options, context=origin)
    return _plain_object(target, kind, options)


def _not_a_class(group: str, target: object) -> str:
    if group == "toolsets" and isinstance(target, FunctionType):
        place = f"module: {target.__module__}, include: [{target.__name__}]"
        return f"it is a function; functions are offered by {{kind: functions, {place}}}"
    return f"it is of type {type(target).__name__}, not a class"


def _wrong_kind(group: str, kind: str, why: str) -> ValidationError:
    known = kind_named(group, kind)
    of = f" of {known.origin}" if known is not None else ""
    return at(("kind",), problem(f"cfg.unknown_{group[:-1]}", f"{kind!r}{of} is not {ARTICLES[group]}: {why}"), kind)


def _fits(group: str, cls: type) -> bool:
    return issubclass(cls, BASES[group]) or (group == "plugins" and (has_hooks(cls) or is_wrapper(cls)))


def has_hooks(plugin: object) -> bool:
    """Whether ``plugin`` (a class, object or module) has methods marked ``@hookimpl``."""
    return bool(hooks_of(plugin))


def hooks_of(plugin: object) -> list[str]:
    """The names of the hooks that ``plugin`` implements."""
    return [
        name
        for name in dir(plugin)
        if name.startswith("react_") and hasattr(getattr(plugin, name, None), "react_run_impl")
    ]


def is_wrapper(plugin: object) -> bool:
    """Whether ``plugin`` is an object of a wrapper class, or such a class."""
    return getattr(plugin, "__react_wrapper__", False) is True


def _refuse_options(made: object, kind: str, options: Mapping[str, object]) -> object:
    if options:
        name = next(iter(options))
        raise at((name,), problem("cfg.unknown_key", f"unknown key {name!r}: {kind} has no options"), options)
    return made


def _plain_object(cls: Callable[..., Any], kind: str, options: dict[str, object]) -> object:
    """Instantiate a class that is not a pydantic model; its options are the keywords of its constructor."""
    from inspect import signature

    taken = signature(cls).parameters.values()
    if all(one.kind is not one.VAR_KEYWORD for one in taken):
        names = [one.name for one in taken if one.kind not in (one.POSITIONAL_ONLY, one.VAR_POSITIONAL)]
        for name in options:
            if name not in names:
                raise at((name,), unknown_key(name, names, []), options)
    try:
        signature(cls).bind(**options)
    except TypeError as error:
        raise at((), problem("cfg.value", f"options of {kind}: {error}"), options) from None
    return cls(**options)
