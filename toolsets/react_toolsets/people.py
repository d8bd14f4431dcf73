"""The ``people`` toolset: asks the user during a run."""

from __future__ import annotations

import asyncio
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from react_run import ClarificationNeeded, NoResult, Outcome, Question, ReActToolset, Run, ToolError, tool

LONGEST_QUESTION = 2_000
"""The most characters of a question."""


class Asked:
    """Counts the questions of a run."""

    count = 0


class PeopleToolset(ReActToolset):
    """Asks the user what only the user knows, and waits for the answer."""

    kind: ClassVar[str] = "people"

    unanswered: Literal["end", "go_on"] = "end"
    """What to do if the user cannot be asked: end the run with the question, or let the model continue without an
    answer.
    """
    wait: float | None = Field(default=None, gt=0)
    """Seconds to wait for an answer before the user counts as absent; no limit by default."""
    questions: int = Field(default=5, ge=1)
    """Maximum number of questions per run."""

    @tool(read_only=True, repeatable=True, serial=True)
    async def ask_user(
        self,
        question: Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION)],
        run: Run,
        choices: Annotated[list[str] | None, Field(max_length=20)] = None,
    ) -> str:
        """Ask the user something that you cannot find out with another tool and that changes what you do.

        Args:
            question: One question, complete in itself: the user sees nothing else of your work.
            choices: The possible answers, when there are only a few.
        """
        choices = list(dict.fromkeys(choice.strip() for choice in choices or () if choice.strip()))
        if len(choices) == 1:
            raise ToolError(
                "one choice is not a question: give several, or none to allow any answer", code="one_choice"
            )
        asked = run.state(Asked)
        if asked.count >= self.questions:
            text = f"a run may ask only {self.questions} questions. Continue with what you know."
            raise ToolError(text, code="too_many_questions")
        asked.count += 1
        said = await self._said(run, Question(f"The agent asks: {question.strip()}", choices=choices))
        if said is None:
            if self.unanswered == "end":
                raise ClarificationNeeded(question.strip())
            raise NoResult("the user cannot be asked now. Continue without, and say in your answer what you assumed")
        return said

    async def _said(self, run: Run, question: Question) -> str | None:
        try:
            async with asyncio.timeout(self.wait):
                answer = await run.ask(question)
        except TimeoutError:
            return None
        return None if answer is None else str(answer.value).strip() or "(the user gave no answer)"

    def interpret_result(self, tool_name: str, args: dict[str, object], result: object) -> Outcome | None:
        """The user's answer is a verified fact."""
        return Outcome.success(f"The user was asked: {args.get('question')} The answer: {result}")
