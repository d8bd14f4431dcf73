"""The plugin ``python_sensor``: a function checks each executed call (behaviour G2)."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, field_validator

from react_plugins.given_functions import called, check_parameters
from react_plugins.matching import matches
from react_run import LocalFunction, Observation, Plugin, Run, Signal, ToolCall, hookimpl

VALUES = ("run", "call", "observation")


class PythonSensor(Plugin):
    """Calls a function after each executed tool call.

    It may take `run`, `call` and `observation`, and returns nothing, a text, a `Signal`, or a list of these.
    """

    kind: ClassVar[str] = "python_sensor"

    function: LocalFunction
    """The function: `module:function`, installed or next to the agent file."""
    after: list[str] = Field(default_factory=lambda: ["*"], min_length=1)
    """The tools it applies to, as names or globs."""
    severity: Literal["block", "warn", "hint"] = "block"
    """The severity of texts that it returns."""

    @field_validator("function")
    @classmethod
    def _can_be_asked(cls, function: LocalFunction) -> LocalFunction:
        check_parameters(function, VALUES)
        return function

    @hookimpl
    async def react_sense(self, run: Run, call: ToolCall, observation: Observation) -> list[Signal] | None:
        if not matches(call.name, self.after):
            return None
        said = await called(run, self.function, {"run": run, "call": call, "observation": observation})
        return [self._signal(one) for one in (said if isinstance(said, list) else [said]) if one is not None]

    def _signal(self, said: object) -> Signal:
        if isinstance(said, str):
            return Signal(severity=self.severity, message=said)
        if not isinstance(said, Signal):
            raise TypeError(f"{self.function} returned {type(said).__name__}; return a Signal, a text, or nothing")
        return said
