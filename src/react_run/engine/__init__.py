"""Carries out a run: the calls of an iteration, their timeouts, sensors, guides and streams."""
