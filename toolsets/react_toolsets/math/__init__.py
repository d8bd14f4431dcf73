"""Exact arithmetic and unit conversion: ``calculate`` and ``convert_units``, offline and never by evaluating Python."""

from react_toolsets.math.toolset import MathToolset

__all__ = ["MathToolset"]
