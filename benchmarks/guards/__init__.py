"""The guard bench: adversarial behaviours that prove that each guard carries weight (``python -m benchmarks.guards``).

A small deterministic model solves tasks from what it can see in its requests, and only from that, so that a guard which
loses information makes it fail honestly. Faults are put between it and the loop, and into its tools, by a seed.
"""
