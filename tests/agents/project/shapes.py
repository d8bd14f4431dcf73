"""Areas and perimeters of rectangles."""

from __future__ import annotations


def area(width: float, height: float) -> float:
    """The area of a rectangle."""
    return width * height


def perimeter(width: float, height: float) -> float:
    """The perimeter of a rectangle."""
    return width + height
