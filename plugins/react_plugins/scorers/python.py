"""The scorer ``python``: a function scores the run."""

from __future__ import annotations

import asyncio
import inspect
from typing import ClassVar

from pydantic import field_validator

from react_plugins.given_functions import check_parameters
from react_run import LocalFunction, Score, ScoredRun, Scorer

VALUES = ("answer", "expected", "result", "journal", "workspace", "run")


class PythonScorer(Scorer):
    """Calls a function, which may take `answer`, `expected`, `result`, `journal`, `workspace` and `run`.

    It returns a number from 0 to 1, `True` or `False`, a text that says what is wrong, a `Score`, or a pair of a number
    and a text. A failed `assert` scores 0 with its text; any other exception is an error, not a score.
    """

    kind: ClassVar[str] = "python"

    function: LocalFunction
    """The function: `module:function`, installed or next to the file of cases."""

    @field_validator("function")
    @classmethod
    def _can_be_asked(cls, function: LocalFunction) -> LocalFunction:
        check_parameters(function, VALUES)
        return function

    async def score(self, run: ScoredRun) -> Score:
        try:
            said = await self._said(run)
        except AssertionError as error:
            return Score(value=0.0, reason=str(error) or "an assertion of the scorer failed")
        match said:
            case Score():
                return said
            case bool() | int() | float():
                return Score(value=float(said), reason=f"{self._called} returned {said!r}")
            case str():
                return Score(value=0.0 if said.strip() else 1.0, reason=said)
            case (bool() | int() | float() as value, str() as reason):
                return Score(value=float(value), reason=reason)
        raise TypeError(f"{self._called} returned {said!r}; return a number, True, False, a text, or a Score")

    async def _said(self, run: ScoredRun) -> object:
        parameters = inspect.signature(self.function).parameters
        anything = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
        wanted = {name: _value(run, name) for name in VALUES if anything or name in parameters}
        if inspect.iscoroutinefunction(self.function):
            return await self.function(**wanted)
        said = await asyncio.to_thread(self.function, **wanted)
        return await said if inspect.isawaitable(said) else said

    @property
    def _called(self) -> str:
        return getattr(self.function, "__name__", "the function")


def _value(run: ScoredRun, name: str) -> object:
    own = {"answer": run.answer, "expected": run.expected, "result": run.result, "workspace": run.workspace, "run": run}
    return run.journal if name == "journal" else own[name]
