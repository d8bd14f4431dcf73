"""JSON Schemas of tools: built from functions and models, without anything that providers refuse (behaviour H4)."""
