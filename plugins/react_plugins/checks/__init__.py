"""The checks that ship with react-run; each is named by its kind under ``checks:`` in an agent file (behaviour G3)."""
