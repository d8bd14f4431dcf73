"""Agents that are driven by a plan: what they do, what must be so afterwards, and whether a guard spoilt it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from react_run import ModelError, ModelRequest, ReActAgent, RunResult, ScriptedModel, Tool
from react_run.testing import calls, says

Call = tuple[str, Mapping[str, object]]
Move = Sequence[Call] | str | Mapping[str, object]
"""What an agent does next: call tools, answer, or send a reply of a form of its own."""
Plan = Generator[Move, list[str], None]
"""An agent: it is sent what it gets to read, results first, and goes on. The last text it yields is its answer."""


class State:
    """What is true in one run, and the tools that read and change it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._tools: list[Tool] = []

    def offer(self, name: str, function: Callable[..., object], **marks: Any) -> None:
        """Offer ``function`` as a tool, described by its name."""
        function.__doc__ = function.__doc__ or f"{name}.".replace("_", " ").capitalize()
        self._tools.append(Tool.from_function(function, name=name, **marks))

    @property
    def tools(self) -> list[Tool]:
        """What is offered."""
        return list(self._tools)


@dataclass(frozen=True, kw_only=True)
class Driven:
    """An agent with a plan.

    ``make`` puts tools into the state, and returns the plan and what must be so afterwards. ``right`` agents do nothing
    wrong: no guard may keep them from a success, or change their answer. The others claim what is not so, although the
    runtime could know: no guard may let that pass as a success.
    """

    name: str
    make: Callable[[State], tuple[Plan, Callable[[], bool]]]
    right: bool = True
    prompt: str = "Do it."
    config: Mapping[str, Any] = field(default_factory=dict)
    plugins: Callable[[], list[object]] = list
    toolsets: Callable[[], list[Any]] = list
    model: Mapping[str, Any] = field(default_factory=dict)
    answer: str = ""
    """The answer, where it is not the last thing that is said."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What came of a driven run."""

    driven: Driven
    result: RunResult | None
    sound: bool
    said: str
    trouble: str = ""

    @property
    def false_success(self) -> bool:
        """Whether it counts as a success although the state is not what it should be."""
        return self.result is not None and self.result.success and not self.sound

    @property
    def false_void(self) -> bool:
        """Whether everything is as it should be, and yet it is no success, or its answer was replaced."""
        if not (self.driven.right and self.sound):
            return False
        return self.result is None or not self.result.success or self.result.answer != (self.driven.answer or self.said)

    @property
    def problem(self) -> str:
        """What is wrong, if anything."""
        how = "" if self.result is None else f"{self.result.stop_reason}: {self.result.answer[:100]!r}"
        if self.trouble:
            return self.trouble
        if self.false_success:
            return f"a false success ({how})"
        if self.false_void:
            return f"a false void ({how})"
        if self.driven.right and not self.sound:
            return f"a guard kept it from what it was to do ({how})"
        return ""


class Driver:
    """Carries out a plan as the replies of a model."""

    def __init__(self, plan: Plan, prompt: str) -> None:
        self.plan, self.prompt = plan, prompt
        self.said = ""
        self._begun = False

    def reply(self, request: ModelRequest) -> dict[str, object]:
        """The next reply."""
        if not any(message.text == self.prompt for message in request.messages):  # older turns are to be summed up
            return says("Pages were read, and are no longer here.")
        heard = _heard(request)
        try:
            move = self.plan.send(heard) if self._begun else next(self.plan)
        except StopIteration:
            move = self.said or "I have nothing to add."
        self._begun = True
        if not isinstance(move, str | Mapping):
            return calls(*move, usage=_USED)
        reply = says(move) if isinstance(move, str) else dict(move)
        self.said = str(reply.get("text") or self.said)
        return {"usage": _USED, **reply}


_USED = {"input_tokens": 10, "output_tokens": 5, "cost": 0.001}


def _heard(request: ModelRequest) -> list[str]:
    """What was told since the last reply: results in order, then remarks."""
    texts: list[str] = []
    for message in reversed(request.messages):
        if message.role == "assistant":
            break
        texts.append(message.text)
    return texts[::-1]


async def drive(driven: Driven) -> Verdict:
    """Run a driven agent once, in a directory of its own."""
    with TemporaryDirectory(prefix="guard-bench-") as name:
        state = State(Path(name))
        plan, sound = driven.make(state)
        driver = Driver(plan, driven.prompt)
        model = ScriptedModel(replies=[driver.reply], repeat_last=True, **dict(driven.model))
        toolsets: list[Any] = [*state.tools, *driven.toolsets()]
        agent = ReActAgent(dict(driven.config), model=model, toolsets=toolsets, plugins=driven.plugins())
        agent.workspace = state.folder
        result, trouble = None, ""
        try:
            result = await agent.run(driven.prompt)
        except ModelError as error:
            result = error.result
        except Exception as error:  # the bench goes on: this is what it is looking for
            trouble = f"the run raised {type(error).__name__}: {error}"
        return Verdict(driven=driven, result=result, sound=sound(), said=driver.said, trouble=trouble)
