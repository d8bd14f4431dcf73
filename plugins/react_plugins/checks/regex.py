"""The check ``regex``: an answer is accepted if it matches a pattern."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

from pydantic import field_validator

from react_run import Check, Pattern, Run, SlowPattern, Verdict


class RegexCheck(Check):
    """The answer must match a regular expression, somewhere or as a whole, or must not."""

    kind: ClassVar[str] = "regex"

    pattern: str
    """The regular expression (Python syntax)."""
    whole: bool = False
    """Whether the whole answer must match, instead of some part of it."""
    forbidden: bool = False
    """Whether the answer must not match."""
    feedback: str = ""
    """The feedback for the model if the answer is refused."""

    @field_validator("pattern")
    @classmethod
    def _is_a_pattern(cls, pattern: str) -> str:
        Pattern(pattern)
        return pattern

    @cached_property
    def _compiled(self) -> Pattern:
        return Pattern(self.pattern)

    async def check(self, run: Run, answer: str) -> Verdict:
        try:
            found = self._compiled.fullmatch(answer.strip()) if self.whole else self._compiled.search(answer)
        except SlowPattern as error:
            return Verdict(accepted=False, feedback=f"The answer cannot be checked: {error}")
        if found is not self.forbidden:
            return Verdict(accepted=True)
        must = "must not" if self.forbidden else "must as a whole" if self.whole else "must"
        return Verdict(accepted=False, feedback=self.feedback or f"The answer {must} match the pattern {self.pattern}")
