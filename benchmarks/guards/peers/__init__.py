"""The same misbehaviours on other runtimes (``python -m benchmarks.guards --peers``).

Every runtime gets the same plain functions as tools, and talks over HTTP to the same scripted model: a server on this
machine that speaks OpenAI's chat completions. This package imports nothing of ours but in our own adapter, so that it
runs in the environment where the others are installed.
"""
