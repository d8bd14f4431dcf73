"""Builds agents from options: shared by the command line, the server and batches."""
