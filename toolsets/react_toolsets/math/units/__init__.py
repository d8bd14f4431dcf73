"""Units of measurement: a generated table, a parser for names, and exact conversion."""
