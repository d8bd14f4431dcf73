"""The bundled plugins; an agent file names each by its kind."""
