"""The cases of ``react-run test``: what is asked, what answers, and what must come of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, ValidationError, field_validator, model_validator

from react_run.components import LocalPath, Options, Origin
from react_run.components.option_errors import problem
from react_run.errors import ReactError
from react_run.support.regex import Pattern, SlowPattern

if TYPE_CHECKING:
    from react_run.agent import ReActAgent
    from react_run.results import RunResult


class Case(Options):
    """One case. What is not said is not looked at."""

    name: str
    """What it is called; unique in its file."""
    prompt: str = ""
    """What is asked. With `recording`, that is known already."""
    replies: list[Any] | None = None
    """The replies of the model, as of `{kind: scripted}`. Without them the agent's own model answers; it must be
    offline."""
    recording: LocalPath | None = None
    """A journal: the model answers as it was recorded, and everything must be as recorded."""
    recorded_tools: bool = False
    """Whether tools answer from the recording as well."""
    answer: str | None = None
    """The whole answer."""
    contains: list[str] = Field(default_factory=list)
    """Texts (or one) that must occur in the answer."""
    matches: str | None = None
    """A regular expression that must be found in the answer."""
    tools: list[str] | None = None
    """The names of the tools that are called, in order."""
    success: bool | None = None
    """Whether the run is a success; without `stop_reason` and `recording`, it must be unless this says `false`."""
    stop_reason: str | None = None
    """Why the run ends."""
    max_iterations: int | None = None
    """Iterations that it may take at most."""

    @field_validator("replies")
    @classmethod
    def _are_replies(cls, given: list[Any] | None) -> list[Any] | None:
        from react_run.models.scripted import ScriptedModel

        for number, reply in enumerate(given or ()):
            try:
                ScriptedModel(replies=[reply])
            except ValidationError as error:
                found = error.errors()[0]
                where = "".join(f" {part!r}:" for part in found["loc"][1:])
                raise ValueError(f"reply {number + 1}:{where} {found['msg'].removeprefix('Value error, ')}") from None
        if given == []:
            raise ValueError("must have at least one reply; leave 'replies' out to ask the agent's own model")
        return given

    @field_validator("contains", mode="before")
    @classmethod
    def _one_text(cls, given: object) -> object:
        return [given] if isinstance(given, str) else given

    @field_validator("matches")
    @classmethod
    def _compiles(cls, given: str | None) -> str | None:
        Pattern(given or "")
        return given

    @model_validator(mode="after")
    def _one_source(self) -> Case:
        if self.recording is None and not self.prompt.strip():
            raise problem("cfg.missing_key", "'prompt' is missing: what to ask (or name a recording)")
        if self.recording is not None and (self.replies is not None or self.prompt):
            raise problem(
                "cfg.value", "a recording says itself what is asked and replied: leave out prompt and replies"
            )
        return self


class Cases(Options):
    """A file of cases."""

    cases: list[Case] = Field(min_length=1)
    """The cases, in order."""

    @model_validator(mode="after")
    def _unique(self) -> Cases:
        names = [case.name for case in self.cases]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise problem("cfg.value", f"two cases are called {twice!r}")
        return self


def read_cases(path: Path) -> list[Case]:
    """The cases in a file.

    Raises:
        ConfigError: Everything that is wrong with it, each problem with its position.
    """
    from react_run.config.texts import note_errors
    from react_run.config.yaml import AgentFileError, Report, plain
    from react_run.config.yaml.compose import compose
    from react_run.config.yaml.text import read_text

    report = Report()
    found = read_text(path, str(path), report)
    tree = compose(*found, report) if found else None
    if tree is not None and not report.problems:
        try:
            return Cases.model_validate(plain(tree), context=Origin(directory=path.parent.absolute())).cases
        except ValidationError as error:
            note_errors(error, tree, report)
    raise AgentFileError(report.problems)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What came of a case; ``problems`` is empty when it passed."""

    name: str
    problems: tuple[str, ...]
    seconds: float
    answer: str = ""

    def to_dict(self) -> dict[str, object]:
        """For ``--json``."""
        return {
            "name": self.name,
            "passed": not self.problems,
            "problems": list(self.problems),
            "seconds": round(self.seconds, 3),
            "answer": self.answer,
        }


async def judged(case: Case, agent: ReActAgent) -> Verdict:
    """Run one case; whatever goes wrong in it is its problem alone."""
    started = perf_counter()
    answer = ""
    try:
        result = await _run(case, agent)
        problems = tuple(_problems(case, result)) if result is not None else ()
        answer = result.answer if result is not None else ""
    except ReactError as error:
        problems = (f"{type(error).__name__}: {error}",)
    return Verdict(name=case.name, problems=problems, seconds=perf_counter() - started, answer=answer)


async def _run(case: Case, agent: ReActAgent) -> RunResult | None:
    if case.recording is not None:
        from react_run.journal import read_journal
        from react_run.journal.replay.replay import replay

        tools: Literal["recorded", "live"] = "recorded" if case.recorded_tools else "live"
        return (await replay(read_journal(case.recording), agent, tools=tools)).result
    if case.replies is None:
        return await agent.replace().run(case.prompt)
    from react_run.models.scripted import ScriptedModel

    model = ScriptedModel(replies=case.replies)
    return await agent.replace(model=model).run(case.prompt)


def _problems(case: Case, result: RunResult) -> list[str]:
    answer, called = result.answer, [step.action for step in result.steps]
    expected_success = case.success
    if expected_success is None and case.stop_reason is None and case.recording is None:
        expected_success = True
    checks = {
        f"answer: expected {case.answer!r}, got {answer!r}": case.answer is not None and answer != case.answer,
        **{f"answer: {text!r} does not occur in {answer!r}": text not in answer for text in case.contains},
        f"answer: {case.matches!r} is not found in {answer!r}": case.matches is not None
        and not _is_found(case.matches, answer),
        f"tools: expected {case.tools}, got {called}": case.tools is not None and called != case.tools,
        f"success: expected {expected_success}, got {result.success} ({result.stop_reason})": expected_success
        is not None
        and result.success is not expected_success,
        f"stop_reason: expected {case.stop_reason}, got {result.stop_reason}": case.stop_reason is not None
        and result.stop_reason != case.stop_reason,
        f"max_iterations: expected at most {case.max_iterations}, got {result.iterations}": case.max_iterations
        is not None
        and result.iterations > case.max_iterations,
    }
    return [text for text, wrong in checks.items() if wrong]


def _is_found(pattern: str, answer: str) -> bool:
    try:
        return Pattern(pattern).search(answer)
    except SlowPattern:
        return False


def needs_network(case: Case, agent: ReActAgent) -> str:
    """Why a case cannot be run offline; nothing when it can."""
    from react_offline import OfflineModel
    from react_run.journal.replay.model import ReplayModel
    from react_run.models.scripted import ScriptedModel

    if case.recording is not None or case.replies is not None:
        return ""
    if isinstance(agent.model, (OfflineModel, ReplayModel, ScriptedModel)):
        return ""
    return f"{case.name}: it would ask {agent.model.name}: give it replies or a recording, or use -m offline"
