"""``mediawiki_search``: searches a MediaWiki site, and returns the introductions of pages, in one request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, HttpUrl, StringConstraints

from react_run import Outcome, ReActSkillSpec, ReActToolset, Run, tool
from react_toolsets.http import Answers, JsonClient, RequestFailed
from react_toolsets.knowledge import (
    USER_AGENT,
    cut,
    failed,
    first_sentence,
    interpret_lookup,
    lookup_skill,
    result_as_json,
    source_of,
    web_address,
    without_credentials,
)

HITS = 8
"""How many pages to request: the most that a call can return, and some spare for pages without an introduction."""
MAX_EXTRACT = 2000
MAX_MEANINGS = 10
TEMPORARY = {"maxlag", "readonly", "cirrussearch-too-busy-error", "internal_api_error_DBConnectionError"}
"""API error codes of a wiki that is overloaded or under maintenance."""

Query = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]


class MediaWikiToolset(ReActToolset):
    """Searches Wikipedia, or another MediaWiki site, and returns page introductions with their URLs."""

    kind: ClassVar[str] = "mediawiki"

    timeout_seconds: float = Field(default=10, ge=1, le=30)
    """Time limit for a search, in seconds, retries and waits included."""
    language: str = Field(default="en", pattern=r"^[a-z]{2,3}(-[a-z]{2,10}){0,2}$")
    """The Wikipedia to search, as in ``en.wikipedia.org``."""
    endpoint: Annotated[HttpUrl | None, AfterValidator(without_credentials)] = None
    """The URL of another wiki's ``api.php``; replaces ``language``."""
    user_agent: str = Field(default=USER_AGENT, min_length=1, max_length=300, pattern=r"^[\x20-\x7e]+$")
    """The User-Agent header; Wikimedia asks for a contact address in it."""

    @tool(read_only=True, network=True)
    async def mediawiki_search(self, query: Query, run: Run, max_results: Annotated[int, Field(ge=1, le=5)] = 3) -> str:
        """Search an encyclopaedia (Wikipedia unless configured otherwise) and read the introductions of the best pages.

        Args:
            query: The name of a thing, or a few words about it; not a whole question.
            max_results: How many pages to return.
        """
        return result_as_json(await self._search(query, max_results, run.state(Answers)))

    def interpret_result(self, tool_name: str, args: Mapping[str, object], result: object) -> Outcome | None:
        """Success is a verified fact, the first page; several meanings need the user; errors may be retried."""
        return interpret_lookup(result, _verified_summary)

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        """The skill group ``knowledge_lookup``."""
        return [lookup_skill("mediawiki_search")]

    def _client(self) -> JsonClient:
        endpoint = self.endpoint or f"https://{self.language}.wikipedia.org/w/api.php"
        return JsonClient(
            endpoint=str(endpoint),
            user_agent=self.user_agent,
            timeout_seconds=self.timeout_seconds,
            check=_check,
        )

    async def _search(self, query: str, max_results: int, answers: Answers) -> dict[str, object]:
        client = self._client()
        source = client.host
        try:
            answer = await client.ask(_parameters(query), answers)
            pages = list(_pages(answer))
        except RequestFailed as failure:
            return failed(_with_remedy(failure), query=query, source=source)
        if pages and pages[0]["disambiguation"] and not _has_one_meaning(pages):
            return _ambiguous(query, source, pages, max_results)
        usable = [page for page in pages if page["extract"] and not page["disambiguation"]][:max_results]
        for page in usable:
            if not _related(query, f"{page['title']} {page['extract']}"):
                page["relevance"] = "low"
        if usable:
            return {"query": query, "status": "ok", "source": source, "results": usable}
        message = f"{source} has no page about {query!r}. Use a shorter name, another spelling, or another source."
        return {"query": query, "status": "no_result", "source": source, "results": [], "message": message}


def _parameters(query: str) -> dict[str, str]:
    return {
        "action": "query",
        "format": "json",
        "formatversion": "2",
        "generator": "search",
        "gsrsearch": " ".join(query.split()),
        "gsrlimit": str(HITS),
        "gsrnamespace": "0",
        "redirects": "1",
        "prop": "extracts|info|pageprops",
        "exintro": "1",
        "explaintext": "1",
        "exlimit": str(HITS),
        "inprop": "url",
        "ppprop": "disambiguation",
    }


def _check(answer: Mapping[str, object]) -> None:
    """Raise an API error, which MediaWiki sends with status 200 in one of two forms."""
    errors = answer.get("errors")
    error = answer.get("error") or (errors[0] if isinstance(errors, list) and errors else None)
    if error is None:
        return
    fields = error if isinstance(error, Mapping) else {}
    code = str(fields.get("code", "unknown"))[:80]
    text = f"the wiki reported {code}: {cut(str(fields.get('info') or fields.get('text') or 'no details'), 200)}"
    if code == "ratelimited":
        raise RequestFailed("rate_limited", f"{text} Try again later, or use another source.", transient=True)
    if code in TEMPORARY:
        raise RequestFailed("server_error", f"{text} Try again later, or use another source.", transient=True)
    raise RequestFailed("http_error", f"{text} The same request will not succeed; use another source.")


def _pages(answer: Mapping[str, object]) -> Iterator[dict[str, object]]:
    """The pages found, best first, without missing and broken entries."""
    found = answer.get("query", {})
    pages = found.get("pages", []) if isinstance(found, Mapping) else None
    if isinstance(pages, Mapping):  # format version 1, from old wikis
        pages = list(pages.values())
    if not isinstance(pages, list):
        raise RequestFailed("invalid_response", "the wiki sent search results of an unknown shape.")
    for page in sorted((page for page in pages if isinstance(page, Mapping)), key=_rank):
        title = page.get("title")
        if not isinstance(title, str) or page.get("missing", False) is not False:
            continue
        extract, properties = page.get("extract"), page.get("pageprops")
        yield {
            "title": title,
            "extract": cut(extract.strip(), MAX_EXTRACT) if isinstance(extract, str) else "",
            "url": web_address(page.get("canonicalurl")) or web_address(page.get("fullurl")),
            "disambiguation": isinstance(properties, Mapping) and "disambiguation" in properties,
        }


def _rank(page: Mapping[str, object]) -> int:
    index = page.get("index")
    return index if isinstance(index, int) else HITS + 1


def _with_remedy(failure: RequestFailed) -> RequestFailed:
    """Add a remedy to Wikimedia's refusal of clients without a contact."""
    if failure.code != "http_error" or " 403 " not in str(failure):
        return failure
    remedy = "The wiki may require a contact: set user_agent of this toolset to a name and a way to contact you."
    return RequestFailed(failure.code, f"{failure} {remedy}")


def _listed(page: Mapping[str, object]) -> list[str]:
    """The meanings that a disambiguation page lists."""
    lines = (line.strip(" *•-") for line in str(page["extract"]).splitlines()[1:])
    return [cut(line, 120) for line in lines if line]


def _has_one_meaning(pages: list[dict[str, object]]) -> bool:
    """Whether there is only one page to choose from, so that there is nothing to ask."""
    others = [page for page in pages if page["extract"] and not page["disambiguation"]]
    return len(others) == 1 and len(_listed(pages[0])) < 2


def _ambiguous(query: str, source: str, pages: list[dict[str, object]], max_results: int) -> dict[str, object]:
    """The meanings to choose from: what the disambiguation page lists, and the other pages found."""
    others = [page for page in pages if page["extract"] and not page["disambiguation"]]
    listed = _listed(pages[0])
    meanings = [str(page["title"]) for page in others] if len(others) > 1 or not listed else listed
    choices = "; ".join(meanings[:MAX_MEANINGS])
    message = f"{query!r} has several meanings" + (f": {choices}. Which one is meant?" if choices else ". Which one?")
    return {
        "query": query,
        "status": "ambiguous",
        "source": source,
        "message": message,
        "meanings": meanings[:MAX_MEANINGS],
        "results": others[:max_results],
    }


STOP_WORDS = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "by", "did", "do", "does", "for", "from", "had", "has", "have",
    "how", "in", "is", "it", "its", "of", "on", "or", "that", "the", "this", "to", "was", "were", "what",
    "when", "where", "which", "who", "whom", "whose", "why", "will", "with",
})  # fmt: skip


PLURALS = {
    "oes": "o", "ses": "s", "xes": "x", "zes": "z", "ches": "ch", "shes": "sh", "ies": "y", "ves": "f", "y": "ies",
}  # fmt: skip
"""Alternative endings of English words: a search for volcanoes finds the page Volcano, one for city finds Cities."""


def _related(query: str, text: str) -> bool:
    """Whether ``text`` shares a content word with ``query``; in scripts without spaces, a pair of characters."""
    text = text.casefold()
    words = re.findall(r"\w+", query.casefold())
    content = [word for word in words if word not in STOP_WORDS] or words
    return not content or any(piece in text for word in content for piece in _pieces(word))


def _pieces(word: str) -> list[str]:
    if re.search(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]", word):  # scripts written without spaces
        return [word[start : start + 2] for start in range(max(1, len(word) - 1))]
    if len(word) <= 3:
        return [word]
    others = [word.removesuffix(end) + instead for end, instead in PLURALS.items() if word.endswith(end)]
    return [word.removesuffix("s"), *others]


def _verified_summary(fields: Mapping[str, object]) -> str:
    results = fields.get("results")
    first = results[0] if isinstance(results, list) and results else {}
    if not isinstance(first, Mapping) or "relevance" in first:
        return ""
    fact = first_sentence(str(first.get("extract")))
    return source_of(f"{fields.get('source')} on {first.get('title')}: {fact}", first.get("url"))
