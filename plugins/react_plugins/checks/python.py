"""The check ``python``: a function decides whether an answer is accepted."""

from __future__ import annotations

from typing import ClassVar

from pydantic import field_validator

from react_plugins.given_functions import called, check_parameters
from react_run import Check, LocalFunction, Run, Verdict

VALUES = ("answer", "run")


class PythonCheck(Check):
    """Calls a function, which may take `answer` and `run`.

    It accepts by returning `True`, and refuses by returning `False` or a text for the model, or with a failed `assert`;
    a `Verdict` can do either. Anything else, including other exceptions, counts as a check that could not be carried
    out.
    """

    kind: ClassVar[str] = "python"

    function: LocalFunction
    """The function: `module:function`, installed or next to the agent file."""
    feedback: str = "The answer was not accepted."
    """The feedback for the model if the function returns just `False`."""

    @field_validator("function")
    @classmethod
    def _can_be_asked(cls, function: LocalFunction) -> LocalFunction:
        check_parameters(function, VALUES)
        return function

    async def check(self, run: Run, answer: str) -> Verdict:
        try:
            said = await called(run, self.function, {"run": run, "answer": answer})
        except AssertionError as error:
            return Verdict(accepted=False, feedback=str(error) or self.feedback)
        match said:
            case Verdict():
                return said
            case bool():
                return Verdict(accepted=said, feedback="" if said else self.feedback)
            case str() if said.strip():
                return Verdict(accepted=False, feedback=said)
        raise TypeError(f"the function returned {said!r}; return True, False, a text, or a Verdict")
