"""The ``web`` toolset: searches the web and fetches pages, only on the public internet."""

from react_toolsets.web.search import DdgsProvider, SearchHit, SearchProvider
from react_toolsets.web.toolset import WebToolset

__all__ = ["DdgsProvider", "SearchHit", "SearchProvider", "WebToolset"]
