"""The ``plan`` toolset: a todo list that the model keeps and people can see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from react_run import Observation, ReActToolset, Run, ToolCall, ToolError, tool

_MARKS = {"open": " ", "doing": ">", "done": "x"}


class Step(BaseModel):
    """One step of a plan."""

    model_config = ConfigDict(extra="forbid")

    step: Annotated[str, Field(min_length=1, max_length=300)]
    """What to do, in a few words."""
    status: Literal["open", "doing", "done"] = "open"
    """The progress of the step."""

    @field_validator("step")
    @classmethod
    def _on_one_line(cls, step: str) -> str:
        line = " ".join(step.split())
        if not line:
            raise ValueError("is empty")
        return line


class PlanToolset(ReActToolset):
    """A todo list for tasks with several steps: the model keeps it, and people see it."""

    kind: ClassVar[str] = "plan"

    steps: int = Field(default=30, ge=1, le=200)
    """Maximum number of steps in a plan."""

    @tool(read_only=True, repeatable=True, serial=True, bookkeeping=True)
    def plan(self, run: Run, steps: list[Step] | None = None) -> str:
        """Keep a todo list for a task that takes several steps.

        Write the whole list before you begin; send it again whenever a step is begun or done, or the plan changes. What
        you send replaces what was there.

        Args:
            steps: All steps in order, each with its status: open, doing or done. Leave it out to read the list.
        """
        if steps is not None:
            if len(steps) > self.steps:
                text = f"a plan has at most {self.steps} steps, and this one has {len(steps)}: combine some"
                raise ToolError(text, code="too_many_steps")
            run.outcome.plan = [step.model_dump() for step in steps]
        return shown_plan(run.outcome.plan)

    def replayed(self, call: ToolCall, observation: Observation) -> None:
        """Set the plan after a recording has answered the call, as the call would have done."""
        given = call.arguments.get("steps")
        if observation.failed or not isinstance(given, Sequence):
            return
        try:
            call.run.outcome.plan = [Step.model_validate(step).model_dump() for step in given]
        except ValidationError:  # recorded with another version
            return


def shown_plan(plan: Sequence[Mapping[str, str]]) -> str:
    """A plan as the model reads it."""
    if not plan:
        return "(The plan is empty.)"
    lines = [f"{number}. [{_MARKS[step['status']]}] {step['step']}" for number, step in enumerate(plan, 1)]
    done = sum(step["status"] == "done" for step in plan)
    return "\n".join([*lines, f"({done} of {len(plan)} done)"])
