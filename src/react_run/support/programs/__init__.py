"""Runs programs for tools: with a timeout, bounded output, and no process left behind."""
