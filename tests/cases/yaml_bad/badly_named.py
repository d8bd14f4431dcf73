"""A tool whose name no provider accepts."""

from react_run import tool


@tool(name="(!)")
def search(query: str) -> str:
    """Search."""
    return query
