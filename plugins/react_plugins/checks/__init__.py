"""The bundled checks; an agent file names each by its kind under ``checks:`` (behaviour G3)."""
