"""Measured side by side with a floor in the same process; one JSON line per measure (``python -m benchmarks``)."""
