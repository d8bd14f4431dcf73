"""The ``web`` toolset: search and fetch, on the public internet only."""

from react_toolsets.web.search import DdgsProvider, SearchHit, SearchProvider
from react_toolsets.web.toolset import WebToolset

__all__ = ["DdgsProvider", "SearchHit", "SearchProvider", "WebToolset"]
