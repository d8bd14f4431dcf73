"""This runtime against others, in one process and doing the same work (``python -m benchmarks.peers``)."""
