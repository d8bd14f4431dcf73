"""Checks decide whether an answer is accepted."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from react_run.components import Component

if TYPE_CHECKING:
    from react_run.outcome import Verdict
    from react_run.run import Run


class Check(Component, group="checks"):
    """Decides whether an answer is accepted (behaviour G3); its fields are its YAML options."""

    costly: ClassVar[bool] = False
    """Whether the check runs a program; such checks see only answers that every other check accepts."""

    sealed: list[str] = Field(default_factory=list)
    """Files of the workspace that this check depends on, as names, directories or globs: if one of them is changed,
    added or removed during a run, the answer is refused permanently."""

    @abstractmethod
    async def check(self, run: Run, answer: str) -> Verdict:
        """Judge ``answer``; if it is refused, the feedback goes back to the model verbatim.

        A check that cannot be carried out raises an exception, which refuses the answer permanently and says so.
        """

    def guide(self) -> str:
        """What the model should know about this check from the start, as a section with a heading; nothing by
        default.
        """
        return ""

    def presented(self, answer: str) -> str:
        """Convert an accepted ``answer`` for the user; unchanged by default. Must not raise."""
        return answer
