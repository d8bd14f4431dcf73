"""Measuring agents: cases, scorers, repeats, and what the marks say with which certainty. See ``docs/evals.md``."""

from __future__ import annotations
