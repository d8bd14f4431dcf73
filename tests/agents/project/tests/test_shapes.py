from __future__ import annotations

from shapes import area, perimeter


def test_area() -> None:
    assert area(2, 3) == 6


def test_perimeter() -> None:
    assert perimeter(2, 3) == 10
