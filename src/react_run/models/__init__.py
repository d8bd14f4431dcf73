"""Models: each completes a request. ``base`` is the interface; the others are kinds for agent files."""
