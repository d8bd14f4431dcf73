"""What decides whether an answer is accepted."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from react_run.components import Component

if TYPE_CHECKING:
    from react_run.outcome import Verdict
    from react_run.run import Run


class Check(Component):
    """Decides whether an answer is accepted (behaviour G3); its fields are its YAML options."""

    @abstractmethod
    async def check(self, run: Run, answer: str) -> Verdict:
        """Judge ``answer``; the feedback of a refusal goes back to the model verbatim."""
