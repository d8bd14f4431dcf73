"""The scorers ``exact``, ``contains`` and ``matches``: the text of the answer."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from pydantic import Field, field_validator

from react_run import Pattern, Score, ScoredRun, Scorer, SlowPattern


class Expects(Scorer):
    """A scorer that compares the answer with a value: its own, or what the case expects."""

    def wanted(self, run: ScoredRun, own: object) -> object:
        """The value to compare the answer with.

        Raises:
            ValueError: Neither the scorer nor the case has a value.
        """
        wanted = run.expected if own is None else own
        if wanted is None:
            raise ValueError(
                f"the case {run.name!r} says nothing under 'expected', and the scorer {self.label} neither"
            )
        return wanted


class Exact(Expects):
    """The answer must be the expected text, apart from spaces around it."""

    kind: ClassVar[str] = "exact"

    text: str | None = None
    """The text; by default that of the case. If it is a list, one entry must be the answer."""
    ignore_case: bool = False
    """Whether large and small letters are the same."""

    async def score(self, run: ScoredRun) -> Score:
        wanted = self.wanted(run, self.text)
        choices = [as_text(each) for each in (wanted if isinstance(wanted, list) else [wanted])]
        same = _plain(run.answer, self.ignore_case) in [_plain(choice, self.ignore_case) for choice in choices]
        shown = choices[0] if len(choices) == 1 else choices
        return Score(value=float(same), reason=f"answer: expected {shown!r}, got {run.answer!r}")


class Contains(Expects):
    """Texts must occur in the answer; the score is the share of those that do."""

    kind: ClassVar[str] = "contains"

    texts: list[str] = Field(default_factory=list)
    """The texts; by default those of the case."""
    ignore_case: bool = False
    """Whether large and small letters are the same."""

    @field_validator("texts", mode="before")
    @classmethod
    def _one_text(cls, given: object) -> object:
        return [given] if isinstance(given, str) else given

    async def score(self, run: ScoredRun) -> Score:
        wanted = self.wanted(run, self.texts or None)
        texts = [as_text(each) for each in (wanted if isinstance(wanted, list) else [wanted])]
        answer = _plain(run.answer, self.ignore_case)
        missing = [text for text in texts if _plain(text, self.ignore_case) not in answer]
        reason = "\n".join(f"answer: {text!r} does not occur in {run.answer!r}" for text in missing)
        return Score(value=1 - len(missing) / len(texts), reason=reason)


class Matches(Scorer):
    """A regular expression must be found in the answer."""

    kind: ClassVar[str] = "matches"

    pattern: str
    """The regular expression (Python syntax)."""

    @field_validator("pattern")
    @classmethod
    def _compiles(cls, pattern: str) -> str:
        Pattern(pattern)
        return pattern

    @cached_property
    def _compiled(self) -> Pattern:
        return Pattern(self.pattern)

    async def score(self, run: ScoredRun) -> Score:
        try:
            found = self._compiled.search(run.answer)
        except SlowPattern:
            found = False
        return Score(value=float(found), reason=f"answer: {self.pattern!r} is not found in {run.answer!r}")


def as_text(value: object) -> str:
    """An expected value as text for the comparison."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _plain(text: str, ignore_case: bool) -> str:
    return text.strip().casefold() if ignore_case else text.strip()
