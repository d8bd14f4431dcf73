"""Helpers that toolsets and plugins share with the runtime."""
