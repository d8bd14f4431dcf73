"""The scorers that ship with react-run; each is named by its kind under ``scorers:`` in a file of cases."""
