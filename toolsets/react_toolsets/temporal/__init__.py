"""Calendar and clock, offline: dates, time zones, durations and business days."""

from react_toolsets.temporal.toolset import TemporalToolset

__all__ = ["TemporalToolset"]
