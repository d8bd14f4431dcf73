"""Finds the phrase to look up: the subject of a question, without the words that only ask."""

from __future__ import annotations

from collections.abc import Sequence

from react_offline.draft import Draft
from react_offline.lexicon import COMPARATIVES, CONTENT_AFTER_ALL, REFERENCES, word_set
from react_offline.numbers import number_at
from react_offline.plan import Known
from react_offline.reading import Reading, written
from react_offline.slots import Kind
from react_offline.text import Token

_BE = {"is", "are", "was", "were", "'s", "'re"}
_AUXILIARIES = _BE | {"did", "does", "do", "has", "have", "had", "can"}
_ASKING = {"who", "what", "which"}
_CIRCUMSTANCE = {"when", "where", "howtall", "howbig", "howold", "howlong", "howheavy", "howfar", "howmany", "how"}
_ABOUT = {"about", "on", "for", "of", "named", "called", "mentioning", "containing", "with"}
_SEARCHING = {"lookup", "search", "find", "define", "describe", "google"}
_TELLING = {"tell", "information", "info", "know", "facts", "something", "details", "article", "articles"}
_ARTICLES = {"a", "an", "the"}
_POLITE = {"please", "can", "could", "would", "you", "me", "hi", "hello", ","}
_PERSONAL = {"my", "me", "i", "mine", "our", "us", "we", "you", "your", "here", "there"} | REFERENCES
_TIMELY = word_set(
    """
    weather temperature forecast time date price news score today tomorrow yesterday now current currently tonight next
    latest
    """
)
_NO_SUBJECT = _PERSONAL | _TIMELY | CONTENT_AFTER_ALL | set(COMPARATIVES)
_COMPUTING = word_set("plus minus times divided multiplied percent squared cubed best worst favourite favorite")
_CONNECTING = {"of", "de", "la", "du", "di", "da", "von", "van", "the", "and", "upon", "&"}


def bind_query(draft: Draft) -> None:
    """Bind the query parameter to the subject of the question."""
    slots = draft.open(Kind.QUERY)
    if not slots:
        return
    phrase = subject(draft.reading) if draft.card.general else _within(draft)
    if not phrase:
        return
    start, end = phrase
    if not draft.free(start, end):
        return
    text = written(draft.reading.tokens[start:end])
    draft.put(slots[0], Known(_longest_name(draft.reading, start, end) or text, (text,)))
    draft.take(0 if draft.card.general else start, end)
    draft.evidence += 1 if draft.card.general else 0


Phrase = tuple[int, int]


def subject(reading: Reading) -> Phrase | None:
    """The position of the words to look up; ``None`` if the clause asks for something else."""
    start = _after_lead(reading)
    end = _end(reading)
    while start is not None and reading.word(start) in _ARTICLES:
        start += 1
    if start is None or start >= end or not _is_subject(reading.tokens[start:end]):
        return None
    if reading.names_units or any(span.start < end and span.end > start for span in reading.expressions):
        return None
    return start, end


def _after_lead(reading: Reading) -> int | None:
    index = 0
    while reading.word(index) in _POLITE:
        index += 1
    word, following = reading.word(index), reading.word(index + 1)
    if word in _SEARCHING:
        return _after_about(reading, index + 1)
    if word in _TELLING or (word in ("give", "get", "show") and following in _TELLING | {"me"}):
        return _after_about(reading, index + 1, needed=True)
    if word == "what" and following in ("do", "can", "does") and reading.word(index + 2) == "you":
        return _after_about(reading, index + 3, needed=True)
    if word in _ASKING:
        return index + 2 if following in _AUXILIARIES else index + 1 if word != "what" else None
    if word in _CIRCUMSTANCE and following in _AUXILIARIES:
        return index + 2
    return None


def _after_about(reading: Reading, index: int, *, needed: bool = False) -> int | None:
    """The index after an ``about`` or ``for`` within the next few words."""
    for position in range(index, min(index + 5, len(reading))):
        if reading.word(position) in _ABOUT:
            return position + 1
    return None if needed else index


def _end(reading: Reading) -> int:
    end = len(reading)
    while end and (reading.tokens[end - 1].kind in ("punct", "op") or reading.word(end - 1) in ("mean", "please")):
        end -= 1
    return end


def _is_subject(tokens: Sequence[Token]) -> bool:
    """Whether a phrase can be looked up: it names something other than the user or the present."""
    words = [token for token in tokens if token.kind == "word"]
    if not words or any(token.low in _NO_SUBJECT or token.text in _COMPUTING for token in words):
        return False
    if number_at(tokens, 0) and not any(token.capital for token in tokens):
        return False
    return all(token.kind in ("word", "number", "quote", "punct") for token in tokens) and len(tokens) <= 12


def _longest_name(reading: Reading, start: int, end: int) -> str:
    """For ``when was Marie Curie born``: only the name, which can be looked up."""
    lead = next((token.low for token in reading.tokens if token.low not in _POLITE), "")
    if lead not in _CIRCUMSTANCE:
        return ""
    best: Sequence[Token] = ()
    index = start
    while index < end:
        stop = index
        while stop < end and (reading.tokens[stop].capital or (stop > index and _connects(reading, stop, end))):
            stop += 1
        if stop - index > len(best):
            best = reading.tokens[index:stop]
        index = max(stop, index + 1)
    return written(best)


def _connects(reading: Reading, index: int, end: int) -> bool:
    return reading.word(index) in _CONNECTING and index + 1 < end and reading.tokens[index + 1].capital


def _within(draft: Draft) -> Phrase | None:
    """For a tool that searches one subject: the phrase after ``for``, ``about`` or the tool's verb."""
    reading = draft.reading
    return _after_preposition(draft, reading) or _after_verb(draft, reading)


def _after_verb(draft: Draft, reading: Reading) -> Phrase | None:
    """``look up photosynthesis``, ``define entropy``."""
    verb = next((i for i, token in enumerate(reading.tokens) if token.low not in _POLITE), 0)
    if reading.word(verb) not in _SEARCHING or not draft.explains(reading.tokens[verb]):
        return None
    start, end = verb + 1, _end(reading)
    while start < end and (reading.word(start) in _ARTICLES | _PERSONAL or draft.explains(reading.tokens[start])):
        start += 1
    if start >= end or not _is_subject(reading.tokens[start:end]):
        return None
    draft.evidence += 1
    return start, end


def _after_preposition(draft: Draft, reading: Reading) -> Phrase | None:
    for index, token in enumerate(reading.tokens):
        if token.low in _ABOUT and draft.free(index):
            start, end = index + 1, _end(reading)
            while reading.word(start) in _ARTICLES:
                start += 1
            if start < end and draft.hits():
                return start, end
    return None
