"""Units of measurement: a compiled table, a parser of names, and exact conversion."""
