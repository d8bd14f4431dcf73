"""What a maker makes is the same as what its class makes."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, field

import pytest

from react_run.support.dataclasses import dataclass
from react_run.support.maker import maker


@dataclass(frozen=True, kw_only=True, slots=True)
class Value:
    name: str
    number: int = 1
    items: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.number < 0:
            object.__setattr__(self, "number", 0)


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
