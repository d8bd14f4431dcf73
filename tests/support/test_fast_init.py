"""Values that are made quickly are frozen dataclasses like any other."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from react_run.support.fast_init import fast_init, maker


@fast_init
@dataclass(frozen=True, kw_only=True, slots=True)
class Value:
    name: str
    number: int = 1
    items: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.number < 0:
            object.__setattr__(self, "number", 0)


def test_fields_defaults_and_factories_are_as_declared() -> None:
    one, other = Value(name="a"), Value(name="a", number=-5)
    assert (one.name, one.number, one.items, other.number) == ("a", 1, [], 0)
    assert one.items is not other.items
    assert list(inspect.signature(Value).parameters) == ["name", "number", "items"]


def test_they_cannot_be_changed_but_replaced_compared_copied_and_pickled() -> None:
    value = Value(name="a", items=[1])
    with pytest.raises(FrozenInstanceError):
        value.name = "b"  # type: ignore[misc]  # what is tested
    assert replace(value, number=2) == Value(name="a", number=2, items=[1])
    assert value == copy.deepcopy(value) == pickle.loads(pickle.dumps(value))
    assert repr(value) == "Value(name='a', number=1, items=[1])"


@pytest.mark.parametrize("arguments", [{}, {"name": "a", "nmae": "b"}])
def test_missing_and_unknown_fields_are_errors(arguments: dict[str, str]) -> None:
    with pytest.raises(TypeError, match=r"name|nmae"):
        Value(**arguments)  # type: ignore[arg-type]  # what is tested


def test_what_a_maker_makes_is_the_same_as_what_its_class_makes() -> None:
    made = maker(Value)
    one, other = made(name="a"), made(name="a", number=-5, items=[1])
    assert type(one) is Value
    assert one == Value(name="a")
    assert other == Value(name="a", number=-5, items=[1])
    assert made(name="a").items is not one.items
    with pytest.raises(FrozenInstanceError):
        one.name = "b"  # type: ignore[misc]  # what is tested
    with pytest.raises(TypeError, match="nmae"):
        made(name="a", nmae="b")  # type: ignore[call-arg]  # what is tested
