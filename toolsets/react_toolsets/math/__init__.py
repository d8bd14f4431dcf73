"""Exact arithmetic and unit conversion: ``calculate`` and ``convert_units``, offline, without evaluating Python."""

from react_toolsets.math.toolset import MathToolset

__all__ = ["MathToolset"]
