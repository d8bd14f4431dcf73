"""The bundled scorers; a file of cases names each by its kind under ``scorers:``."""
