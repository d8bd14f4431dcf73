"""Makers: functions that create frozen values in less than half the time that calling the class takes.

A run creates a dozen such values per iteration (decision record 0017).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


def maker(cls: Callable[P, T]) -> Callable[P, T]:
    """Create a function that makes instances of ``cls``, a frozen, keyword-only dataclass with slots.

    Calling a class packs its keywords into a dictionary and unpacks them again, and setting the slots of a frozen class
    takes a call for each. A maker sets them on an instance of a twin class, which is the same but not frozen, and then
    changes the instance's class to ``cls``.
    """
    parameters, values, names = _fields(cls)
    names |= {"_new": object.__new__, "_twin": type("Twin", (), {"__slots__": tuple(values)}), "_cls": cls}
    lines = [
        "self = _new(_twin)",
        *(f"self.{name} = {value}" for name, value in values.items()),
        "self.__class__ = _cls",
    ]
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    exec(f"def made({', '.join(parameters)}):\n " + "\n ".join([*lines, "return self"]), names)
    made: Callable[P, T] = names["made"]
    return made


def _fields(cls: Any) -> tuple[list[str], dict[str, str], dict[str, Any]]:
    """The parameters for the fields of ``cls``, an expression for each field's value, and the names they use."""
    parameters, values = ["*"], dict[str, str]()
    names: dict[str, Any] = {"_missing": MISSING}
    for field in fields(cls):
        name = field.name
        values[name] = name
        if field.default_factory is not MISSING:
            names[f"_make_{name}"] = field.default_factory
            values[name] = f"_make_{name}() if {name} is _missing else {name}"
            parameters.append(f"{name}=_missing")
        elif field.default is not MISSING:
            names[f"_default_{name}"] = field.default
            parameters.append(f"{name}=_default_{name}")
        else:
            parameters.append(name)
    return parameters, values, names
