"""A dataclass whose methods are written later is like one of the standard library in every other way."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import typing
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, field, fields, is_dataclass, replace
from typing import Any

import pytest

from react_run.support.dataclasses import dataclass

FORMS: list[dict[str, bool]] = [
    {"frozen": frozen, "kw_only": kw_only, "slots": slots, "eq": eq}
    for frozen in (True, False)
    for kw_only in (True, False)
    for slots in (True, False)
    for eq in (True, False)
]


def made(decorator: Callable[..., Any], form: dict[str, bool]) -> Any:
    class Value:
        """A value."""

        name: str
        number: int = 1
        items: list[int] = field(default_factory=list, compare=False)
        hidden: str = field(default="", repr=False, kw_only=True)
        later: list[str] = field(default_factory=lambda: ["late"], init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "number", abs(self.number))

    return decorator(**form)(Value)


def outcome(of: Callable[[], object]) -> object:
    try:
        return of()
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_each_form_does_what_the_one_of_the_standard_library_does(form: dict[str, bool]) -> None:
    ours, theirs = made(dataclass, form), made(dataclasses.dataclass, form)

    def seen(cls: Any) -> list[object]:
        one, same, other = cls(name="a"), cls(name="a", items=[1]), cls(name="a", number=-2, hidden="b")
        found = [repr(one), repr(other), one == same, one == other, one == 1, asdict(other), one.later, cls.__doc__]
        found += [
            str(inspect.signature(cls)),
            cls.__match_args__,
            is_dataclass(cls),
            [each.name for each in fields(cls)],
        ]
        found += [outcome(lambda: hash(one) == hash(same)), outcome(lambda: replace(other, number=-3).number)]
        found += [outcome(lambda: cls("a", 2).number), outcome(cls), outcome(lambda: cls(name="a", nmae="b"))]
        by_name = not (form["frozen"] and form["slots"])  # the standard library fails with a TypeError of its own
        unknown = [outcome(lambda: setattr(one, "unknown", 1))] if by_name else []
        found += [outcome(lambda: setattr(one, "name", "b")), *unknown]
        found += [outcome(lambda: delattr(other, "number")), outcome(lambda: copy.deepcopy(same).items)]
        return [*found, hasattr(one, "__dict__"), typing.get_type_hints(cls.__init__)]

    assert seen(ours) == seen(theirs)


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    x: int
    y: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class Place(Point):
    name: str = ""


@dataclasses.dataclass(frozen=True)
class Foreign(Point):
    """A frozen class of the standard library that inherits."""

    more: int = 0


def test_a_method_is_written_when_it_is_first_asked_for() -> None:
    @dataclass
    class Fresh:
        x: int

    unwritten = type(vars(Fresh)["__init__"])
    assert {name for name, thing in vars(Fresh).items() if type(thing) is unwritten} == {
        "__init__",
        "__repr__",
        "__eq__",
    }
    assert Fresh(1).x == 1
    assert {name for name, thing in vars(Fresh).items() if type(thing) is unwritten} == {"__repr__", "__eq__"}
    assert Fresh.__init__.__qualname__.endswith("Fresh.__init__")


def test_methods_of_its_own_stay() -> None:
    @dataclass(frozen=True)
    class Own:
        x: int

        def __repr__(self) -> str:
            return "mine"

        def __hash__(self) -> int:
            return 7

    assert (repr(Own(1)), hash(Own(1)), Own(1) == Own(1)) == ("mine", 7, True)


def test_frozen_objects_with_slots_are_pickled_and_copied() -> None:
    place = Place(x=1, name="here")
    assert place == copy.copy(place) == pickle.loads(pickle.dumps(place))
    assert place != Point(x=1)


def test_classes_inherit_fields_and_are_inherited_by_classes_of_the_standard_library() -> None:
    assert repr(Place(x=1)) == "Place(x=1, y=0, name='')"
    assert Foreign(x=1, more=2) == Foreign(x=1, more=2)
    with pytest.raises(FrozenInstanceError):
        Foreign(x=1).x = 2  # type: ignore[misc]  # what is tested
    with pytest.raises(TypeError, match="non-frozen dataclass from a frozen one"):
        dataclasses.dataclass(type("Loose", (Point,), {"__annotations__": {"z": int}}))
