"""``duckduckgo_instant_answer``: DuckDuckGo's short answers about well-known things. It is not a web search."""

from __future__ import annotations

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

SOURCE = "DuckDuckGo Instant Answers"
MAX_TEXT = 2000
MAX_MEANINGS = 10
MAX_FACTS = 20

Query = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class DuckDuckGoToolset(ReActToolset):
    """Short answers, definitions and facts about well-known things from DuckDuckGo's Instant Answer service."""

    kind: ClassVar[str] = "duckduckgo"

    timeout_seconds: float = Field(default=10, ge=1, le=30)
    """Time limit for a query, in seconds, retries and waits included."""
    endpoint: Annotated[HttpUrl, AfterValidator(without_credentials)] = HttpUrl("https://api.duckduckgo.com/")
    """The URL of the service."""
    user_agent: str = Field(default=USER_AGENT, min_length=1, max_length=300, pattern=r"^[\x20-\x7e]+$")
    """The User-Agent header."""

    @tool(read_only=True, network=True)
    async def duckduckgo_instant_answer(
        self, query: Query, run: Run, max_related_topics: Annotated[int, Field(ge=0, le=10)] = 5
    ) -> str:
        """Look up a well-known thing: summary, definition, key facts, official site. This is not a web search.

        Args:
            query: The short name of one thing, such as "Ada Lovelace"; not a question.
            max_related_topics: How many related topics to return.
        """
        return result_as_json(await self._ask(query, max_related_topics, run.state(Answers)))

    def interpret_result(self, tool_name: str, args: Mapping[str, object], result: object) -> Outcome | None:
        """Success is a verified fact, the best answer; several meanings need the user; errors may be retried."""
        return interpret_lookup(result, _verified_summary)

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        """The skill group ``knowledge_lookup``."""
        return [lookup_skill("duckduckgo_instant_answer")]

    def _client(self) -> JsonClient:
        return JsonClient(
            endpoint=str(self.endpoint),
            user_agent=self.user_agent,
            timeout_seconds=self.timeout_seconds,
            check=lambda answer: None,
            empty_is_throttling=True,
        )

    async def _ask(self, query: str, max_related_topics: int, answers: Answers) -> dict[str, object]:
        parameters = {
            "q": " ".join(query.split()),
            "format": "json",
            "no_html": "1",
            "no_redirect": "1",
            "skip_disambig": "0",
        }
        try:
            answer = await self._client().ask(parameters, answers)
        except RequestFailed as failure:
            return failed(failure, query=query, source=SOURCE)
        topics = list(_topics(answer.get("RelatedTopics")))
        if answer.get("Type") == "D":
            return _ambiguous(query, _text(answer, "Heading"), topics)
        found = {**_findings(answer), "related_topics": topics[:max_related_topics]}
        found = {name: value for name, value in found.items() if value}
        if found.keys() - {"heading"}:
            return {"query": query, "status": "ok", "source": SOURCE, **found}
        message = f"No instant answer for {query!r}. Use the short name of one thing; this is not a web search."
        return {"query": query, "status": "no_result", "source": SOURCE, "message": message}


def _text(answer: Mapping[str, object], name: str, limit: int = MAX_TEXT) -> str:
    value = answer.get(name)
    return cut(value.strip(), limit) if isinstance(value, str) else ""


def _findings(answer: Mapping[str, object]) -> dict[str, object]:
    """The parts of an answer under our own names; some may be empty."""
    direct, abstract = _text(answer, "Answer"), _text(answer, "AbstractText") or _text(answer, "Abstract")
    source, url = _text(answer, "AbstractSource"), web_address(_text(answer, "AbstractURL"))
    return {
        "heading": _text(answer, "Heading"),
        "answer": direct and {"text": direct, "type": _text(answer, "AnswerType")},
        "abstract": abstract and {"text": abstract, "source": source, "url": url},
        "definition": _text(answer, "Definition"),
        "infobox": dict(_facts(answer.get("Infobox"))),
        "official_site": _official_site(answer),
    }


def _facts(infobox: object) -> Iterator[tuple[str, str]]:
    """Labels and values of the infobox, without identifiers of other services and nested values."""
    content = infobox.get("content") if isinstance(infobox, Mapping) else None
    facts = [fact for fact in content if isinstance(fact, Mapping)] if isinstance(content, list) else []
    for fact in facts[:MAX_FACTS]:
        label, value = fact.get("label"), fact.get("value")
        if isinstance(label, str) and isinstance(value, str | int | float) and fact.get("data_type") == "string":
            yield label, cut(str(value), 300)


def _official_site(answer: Mapping[str, object]) -> str:
    results = answer.get("Results")
    for result in results if isinstance(results, list) else []:
        if isinstance(result, Mapping) and "official" in _text(result, "Text").casefold():
            return web_address(_text(result, "FirstURL"))
    return web_address(_text(answer, "OfficialWebsite"))


def _topics(topics: object) -> Iterator[dict[str, str]]:
    """The related topics in order, including those in named groups."""
    for topic in topics if isinstance(topics, list) else []:
        if not isinstance(topic, Mapping):
            continue
        if text := _text(topic, "Text", 300):
            yield {"text": text, "url": web_address(_text(topic, "FirstURL"))}
        for nested in topic["Topics"] if isinstance(topic.get("Topics"), list) else []:
            if isinstance(nested, Mapping) and (text := _text(nested, "Text", 300)):
                yield {"text": text, "url": web_address(_text(nested, "FirstURL"))}


def _ambiguous(query: str, heading: str, topics: list[dict[str, str]]) -> dict[str, object]:
    meanings = topics[:MAX_MEANINGS]
    choices = "; ".join(cut(meaning["text"], 80) for meaning in meanings)
    message = f"{query!r} has several meanings" + (f": {choices}. Which one is meant?" if choices else ". Which one?")
    fields: dict[str, object] = {"query": query, "status": "ambiguous", "source": SOURCE, "message": message}
    return {**fields, "heading": heading, "related_topics": meanings}


def _verified_summary(fields: Mapping[str, object]) -> str:
    heading = fields.get("heading") or fields.get("query")
    match fields:
        case {"answer": {"text": str(text)}}:
            return f"{SOURCE} on {heading}: {first_sentence(text)}"
        case {"abstract": {"text": str(text), "source": source, "url": url}}:
            return source_of(f"{source or SOURCE} on {heading}: {first_sentence(text)}", url)
        case {"definition": str(text)}:
            return f"{SOURCE} on {heading}: {first_sentence(text)}"
    return ""
