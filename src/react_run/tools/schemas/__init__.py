"""JSON Schemas of tools: made of functions and models, and cleaned of what providers refuse (behaviour H4)."""
