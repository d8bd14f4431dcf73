"""``dataclass`` as in the standard library, except that a method is generated when it is first called.

The standard library generates and compiles the methods when a class is created, which takes half a millisecond for a
frozen class, and a seventh of the command line's start-up in all. Most of that is for classes that the process never
instantiates, and for comparisons and representations that are never used (decision record 0017).
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, fields
from operator import attrgetter
from reprlib import recursive_repr
from types import MethodType
from typing import Any, TypeVar, cast, dataclass_transform, overload


class _Factory:
    """Stands, in a signature, for the default of a field with a ``default_factory``."""

    def __repr__(self) -> str:
        return "<factory>"


T = TypeVar("T")
Method = Callable[..., Any]
_FACTORY = _Factory()


@overload
def dataclass(cls: type[T], /) -> type[T]: ...


@overload
def dataclass(
    *, eq: bool = ..., frozen: bool = ..., kw_only: bool = ..., slots: bool = ...
) -> Callable[[type[T]], type[T]]: ...


@dataclass_transform(field_specifiers=(dataclasses.field, dataclasses.Field))
def dataclass(
    cls: type[T] | None = None,
    /,
    *,
    eq: bool = True,
    frozen: bool = False,
    kw_only: bool = False,
    slots: bool = False,
) -> type[T] | Callable[[type[T]], type[T]]:
    """Make ``cls`` a dataclass, also for ``fields``, ``replace``, ``asdict``, ``copy`` and ``pickle``.

    Args:
        cls: The class, if the decorator is used without parentheses.
        eq: Compare by fields; frozen objects are then hashable, others are not.
        frozen: Setting a field raises ``FrozenInstanceError``.
        kw_only: All fields are keyword-only.
        slots: The class has slots instead of a dictionary.
    """

    def made(cls: type[T]) -> type[T]:
        own = set(vars(cls))
        cls = _with_fields(cls, kw_only, slots)
        cast("Any", cls).__dataclass_params__.frozen = frozen
        later = {"__init__": _init, "__repr__": _repr, **({"__eq__": _eq} if eq else {})}
        if eq and "__hash__" not in own:
            if frozen:
                later["__hash__"] = _hash
            else:
                cast("Any", cls).__hash__ = None
        for name, write in later.items():
            if name not in own:
                setattr(cls, name, _Unwritten(cls, name, write))
        if frozen:
            for method in (_refuse_to_set, _refuse_to_delete, *((_get_state, _set_state) if slots else ())):
                if method.__name__ not in own:
                    setattr(cls, method.__name__, method)
        return cls

    return made if cls is None else made(cls)


def _with_fields(cls: Any, kw_only: bool, slots: bool) -> Any:
    """Do what the standard library does besides generating methods, which is fast."""
    text, bases = cls.__doc__, [base for base in cls.__mro__[1:] if "__dataclass_params__" in vars(base)]
    frozen = [base for base in bases if base.__dataclass_params__.frozen]
    cls.__doc__ = text or cls.__name__  # without one, it would generate one from a signature that does not exist yet
    for base in frozen:  # otherwise, it would refuse to let a class that looks not frozen inherit from them
        base.__dataclass_params__.frozen = False
    try:
        cls = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only, slots=slots)(cls)
    finally:
        for base in frozen:
            base.__dataclass_params__.frozen = True
    cls.__doc__ = text
    return cls


class _Unwritten:
    """A placeholder for a method until its first use."""

    __slots__ = ("_cls", "_name", "_write")

    def __init__(self, cls: type, name: str, write: Callable[[Any], Method]) -> None:
        self._cls, self._name, self._write = cls, name, write

    def __get__(self, instance: object, owner: type | None = None) -> Method:
        method = self._write(self._cls)
        method.__name__, method.__qualname__ = self._name, f"{self._cls.__qualname__}.{self._name}"
        setattr(self._cls, self._name, method)
        return method if instance is None else MethodType(method, instance)


def _init(cls: Any) -> Method:
    first, named, lines = list[str](), list[str](), list[str]()
    names: dict[str, Any] = {"_missing": _FACTORY, "_set": object.__setattr__}
    frozen = cls.__dataclass_params__.frozen
    for field in fields(cls):
        name = value = field.name
        if field.default_factory is not MISSING:
            names[f"_make_{name}"] = field.default_factory
            value = f"_make_{name}() if {name} is _missing else {name}" if field.init else f"_make_{name}()"
        elif field.default is not MISSING:
            names[f"_default_{name}"] = field.default
            value = name if field.init else f"_default_{name}"
        elif not field.init:
            continue
        if field.init:
            has_default = field.default is not MISSING
            default = f"=_default_{name}" if has_default else "=_missing" if value != name else ""
            (named if field.kw_only else first).append(f"{name}{default}")
        setter = getattr(getattr(cls, name, None), "__set__", None)
        if frozen and setter:  # twice as quick as by name
            names[f"_set_{name}"] = setter
            lines.append(f"_set_{name}(self, {value})")
        else:
            lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    signature = ", ".join(["self", *first, *(["*", *named] if named else [])])
    made = _function(cls, f"__init__({signature})", lines or ["pass"], names)
    made.__annotations__ = {field.name: field.type for field in fields(cls) if field.init} | {"return": None}
    return made


def _function(cls: type, head: str, lines: list[str], names: dict[str, Any]) -> Method:
    """Create a function in the module of ``cls``, where its annotations are valid; ``names`` are its closure."""
    body = "\n  ".join(lines)
    made: dict[str, Any] = {}
    text = f"def write({', '.join(names)}):\n def {head}:\n  {body}\n return {head.partition('(')[0]}"
    module = sys.modules.get(cls.__module__)
    exec(text, vars(module) if module else {}, made)
    method: Method = made["write"](**names)
    return method


def _values(names: list[str]) -> Callable[[object], object]:
    return attrgetter(*names) if len(names) > 1 else lambda value: tuple(getattr(value, name) for name in names)


def _eq(cls: Any) -> Method:
    values = _values([field.name for field in fields(cls) if field.compare])

    def same(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return same


def _hash(cls: Any) -> Method:
    values = _values([field.name for field in fields(cls) if (field.compare if field.hash is None else field.hash)])

    def hashed(self: object) -> int:
        return hash(values(self))

    return hashed


def _repr(cls: Any) -> Method:
    names = [field.name for field in fields(cls) if field.repr]

    @recursive_repr()
    def shown(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return shown


def _is_fixed(value: Any, name: str) -> bool:
    return "__dataclass_params__" in vars(type(value)) or name in value.__dataclass_fields__


def _refuse_to_set(self: object, name: str, value: object) -> None:
    if _is_fixed(self, name):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _refuse_to_delete(self: object, name: str) -> None:
    if _is_fixed(self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _get_state(self: Any) -> list[object]:
    return [getattr(self, field.name) for field in fields(self)]


def _set_state(self: Any, state: list[object]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


_refuse_to_set.__name__, _refuse_to_delete.__name__ = "__setattr__", "__delattr__"
_get_state.__name__, _set_state.__name__ = "__getstate__", "__setstate__"
