"""Search providers: components with one method, ``search``, plain or async."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Mapping, Sequence
from typing import ClassVar, Literal

from pydantic import Field, ImportString, TypeAdapter, ValidationInfo

from react_run import Component, Origin, ReactError
from react_run.support import dataclass
from react_toolsets.http import RequestFailed
from react_toolsets.web.extract import missing_extra

TRY_LATER = "Try again later, with other words, or fetch a page whose address you know."


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchHit:
    """A search result: a page, and a snippet of its text."""

    title: str
    url: str
    snippet: str


class SearchProvider(Component):
    """The base class of search providers; subclasses are pydantic models whose fields are options."""

    @abstractmethod
    def search(self, query: str, max_results: int) -> Sequence[SearchHit] | Awaitable[Sequence[SearchHit]]:
        """The best results for ``query``; an empty list if there are none.

        A plain method is called in a worker thread; ``async def search`` runs on the event loop.

        Raises:
            RequestFailed: With ``rate_limited``, ``network_error`` or ``search_failed``.
        """


class DdgsProvider(SearchProvider):
    """Asks several public search engines through the ddgs library; needs no key."""

    kind: ClassVar[str] = "ddgs"

    region: str = Field(default="us-en", pattern=r"^[a-z]{2}-[a-z]{2}$")
    """Country and language, such as ``uk-en`` or ``de-de``."""
    safesearch: Literal["on", "moderate", "off"] = "moderate"
    """How strictly to filter adult results."""
    backend: str = "auto"
    """The engines to ask, separated by commas, or ``auto``."""
    timeout_seconds: int = Field(default=10, ge=1, le=60)
    """Time limit per engine, in seconds."""

    def search(self, query: str, max_results: int) -> Sequence[SearchHit]:
        """Ask the engines until ``max_results`` pages are found."""
        try:
            from ddgs import DDGS
            from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException
        except ModuleNotFoundError:
            raise missing_extra("ddgs") from None
        try:
            found = DDGS(timeout=self.timeout_seconds).text(
                query, region=self.region, safesearch=self.safesearch, backend=self.backend, max_results=max_results
            )
        except RatelimitException:
            raise RequestFailed("rate_limited", f"The search engines are throttling. {TRY_LATER}") from None
        except TimeoutException:
            raise RequestFailed("network_error", f"The search engines did not answer in time. {TRY_LATER}") from None
        except DDGSException as error:
            if "No results" in str(error):
                return []
            raise RequestFailed("search_failed", f"The search engines cannot be used now. {TRY_LATER}") from error
        return [
            SearchHit(title=hit.get("title", ""), url=hit.get("href", ""), snippet=hit.get("body", "")) for hit in found
        ]


def provider_from(value: object, info: ValidationInfo) -> object:
    """The provider for an option: ``ddgs``, a dotted path, or a mapping with ``kind`` and options.

    Raises:
        ValueError: It is not a subclass of :class:`SearchProvider`, or its code is next to an untrusted agent file.
    """
    if isinstance(value, str):
        value = {"kind": value}
    if not isinstance(value, Mapping):
        return value
    options = {str(name): option for name, option in value.items() if name != "kind"}
    kind = value.get("kind", "ddgs")
    origin = info.context if isinstance(info.context, Origin) else None
    provider = DdgsProvider if kind == "ddgs" else _imported(str(kind), origin)
    return provider.model_validate(options, context=info.context)


def _imported(path: str, origin: Origin | None) -> type[SearchProvider]:
    if not {".", ":"} & set(path):
        raise ValueError(f"{path!r} is neither 'ddgs' nor the path of a class such as package.module.Class")
    try:
        found = TypeAdapter(ImportString).validate_python(path) if origin is None else origin.imported(path)
    except ReactError as error:
        raise ValueError(str(error)) from error
    if not (isinstance(found, type) and issubclass(found, SearchProvider)):
        raise ValueError(f"{path!r} is not a subclass of react_toolsets.web.SearchProvider")
    return found
