"""The plugin ``redact``: masks confidential data in everything the model reads and everything that is recorded."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self
from weakref import WeakSet

from pydantic import Field, PrivateAttr, SecretStr, field_validator, model_validator
from pydantic_core import to_jsonable_python

from react_run import (
    Iteration,
    Message,
    ModelRequest,
    ModelResponse,
    Observation,
    Plugin,
    ReActStep,
    Run,
    RunResult,
    ToolCall,
    ToolRequest,
    hookimpl,
    inline,
)

SHORTEST = 4
"""The fewest characters of a value: masking shorter ones would blot out ordinary text."""
_UNJOINABLE = re.compile(r"\\[1-9]|\(\?P?[<(]\w|\(\?P=|^\(\?[aiLmsux]+\)")
"""Parts of patterns that cannot be combined: references to groups, named groups, flags for a whole pattern."""


class Seen:
    """The messages of a run that were processed, and the results."""

    def __init__(self) -> None:
        self.messages: dict[int, tuple[Message, Message]] = {}


class Redact(Plugin):
    """Masks values and patterns, and the secrets of the agent file, in results, prompts, answers and records.

    Wherever it is listed, it is outermost for results of tools, and next to the model for requests. Tools get the
    arguments as the model sent them. Journals, logs and the `logging` plugin mask the same data.
    """

    kind: ClassVar[str] = "redact"
    inherited_by_subagents: ClassVar[bool | None] = True

    values: list[SecretStr] = Field(default_factory=list)
    """Texts to mask, also in base64 or URL encoding; write them as `${VARIABLE}`."""
    patterns: list[str] = Field(default_factory=list)
    """Regular expressions whose matches are masked; write flags as `(?i:…)`."""

    _told: WeakSet[Any] = PrivateAttr(default_factory=WeakSet)

    @field_validator("values")
    @classmethod
    def _are_long_enough(cls, values: list[SecretStr]) -> list[SecretStr]:
        if any(len(value.get_secret_value()) < SHORTEST for value in values):
            raise ValueError(f"a value has fewer than {SHORTEST} characters, and would blot out ordinary text")
        return values

    @field_validator("patterns")
    @classmethod
    def _can_be_joined(cls, patterns: list[str]) -> list[str]:
        for pattern in patterns:
            try:
                matches_nothing = re.compile(pattern).search("") is not None
            except re.error as error:
                raise ValueError(f"{pattern!r} is not a regular expression: {error}") from None
            if matches_nothing:
                raise ValueError(f"{pattern!r} matches the empty text")
            if _UNJOINABLE.search(pattern):
                raise ValueError(f"{pattern!r}: no named groups, references or leading flags; write (?i:…) for a flag")
        return patterns

    @model_validator(mode="after")
    def _has_something(self) -> Self:
        if not self.values and not self.patterns:
            raise ValueError("give values, patterns, or both")
        return self

    # -- input -----------------------------------------------------------------------------------------------------

    @hookimpl(tryfirst=True)
    @inline
    def react_guide(self, run: Run) -> None:
        self._tell(run)  # before anything of the run is written anywhere

    @hookimpl(tryfirst=True)
    async def react_run(self, run: Run, proceed: Callable[[], Awaitable[RunResult]]) -> RunResult:
        self._tell(run)
        self._mask_messages(run, 0)
        result = await proceed()
        self._mask_messages(run, 0)
        self._mask_steps(run, 0)
        run.outcome.answer = self._text(run, result.answer)
        claimed = None if result.unverified_answer is None else self._text(run, result.unverified_answer)
        return replace(
            result, answer=run.outcome.answer, unverified_answer=claimed, value=self._value(run, result.value)
        )

    @hookimpl(tryfirst=True)
    async def react_tool_call(
        self, run: Run, call: ToolCall, proceed: Callable[[], Awaitable[Observation]]
    ) -> Observation:
        return self._observation(run, await proceed())

    # -- text that other plugins may have added ---------------------------------------------------------------------

    @hookimpl(tryfirst=True)  # before anything is saved because it is too long
    def react_settle(self, run: Run, iteration: Iteration) -> None:
        for call in iteration.calls:
            if call.observation is not None:
                call.observation = self._observation(run, call.observation)

    @hookimpl(tryfirst=True)
    async def react_iteration(self, run: Run, proceed: Callable[[], Awaitable[Iteration]]) -> None:
        messages, steps = len(run.messages), len(run.outcome.steps)
        await proceed()
        self._mask_messages(run, messages)
        self._mask_steps(run, steps)

    @hookimpl(trylast=True)
    async def react_model_call(
        self, run: Run, iteration: Iteration, proceed: Callable[[], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        given = iteration.request
        iteration.request = self._request(run, given)
        try:
            response = await proceed()
        finally:
            iteration.request = given
        message = response.message
        content = self._content(run, message.content)
        if content == message.content:
            return response
        await iteration.withdraw()
        return replace(response, message=replace(message, content=content))  # its calls are not changed

    # -- masking -----------------------------------------------------------------------------------------------------

    def _tell(self, run: Run) -> None:
        """Add the rules of this plugin to the agent's masker, which masks all records."""
        masker = run.agent.config.masker
        if masker not in self._told:
            self._told.add(masker)
            for value in self.values:
                masker.add(value.get_secret_value())
            for pattern in self.patterns:
                masker.add_pattern(pattern)

    def _text(self, run: Run, text: str) -> str:
        return run.agent.config.masker.mask(text)

    def _data(self, run: Run, data: object) -> object:
        return run.agent.config.masker.mask_data(data)

    def _value(self, run: Run, value: object) -> object:
        """A value without secrets; an instance of a class that contains one becomes JSON values."""
        shown = to_jsonable_python(value, inf_nan_mode="strings", fallback=str)
        masked = self._data(run, shown)
        return value if masked == shown else masked

    def _content(self, run: Run, content: str | Sequence[Mapping[str, object]]) -> str | Sequence[Mapping[str, object]]:
        """Mask text, or the texts in content parts; images are not searched."""
        if isinstance(content, str):
            return self._text(run, content)
        return [self._content_part(run, part) for part in content]

    def _content_part(self, run: Run, part: Mapping[str, object]) -> Mapping[str, object]:
        text = part.get("text")
        if not isinstance(text, str) or (masked := self._text(run, text)) == text:
            return part
        return {**part, "text": masked}

    def _observation(self, run: Run, observation: Observation) -> Observation:
        content, outcome = self._text(run, observation.content), observation.outcome
        if outcome is not None:
            summary, message = self._text(run, outcome.verified_summary), self._text(run, outcome.message)
            outcome = replace(outcome, verified_summary=summary, message=message)
        if content == observation.content and outcome == observation.outcome:
            return observation
        return replace(observation, content=content, outcome=outcome, raw=None)

    def _message(self, run: Run, message: Message) -> Message:
        known = run.state(Seen).messages
        if id(message) in known:
            return known[id(message)][1]
        content = self._content(run, message.content)
        requests = tuple(self._tool_request(run, request) for request in message.tool_requests)
        masked = message
        if content != message.content or requests != message.tool_requests:
            masked = replace(message, content=content, tool_requests=requests)
        known[id(message)] = known[id(masked)] = (message, masked)
        return masked

    def _tool_request(self, run: Run, request: ToolRequest) -> ToolRequest:
        arguments = self._data(run, request.arguments)
        assert isinstance(arguments, (dict, str))  # masking keeps the form
        return request if arguments == request.arguments else replace(request, arguments=arguments)

    def _request(self, run: Run, request: ModelRequest) -> ModelRequest:
        masked = [self._message(run, message) for message in request.messages]
        same = all(ours is theirs for ours, theirs in zip(masked, request.messages, strict=True))
        return request if same else replace(request, messages=masked)

    def _mask_messages(self, run: Run, start: int) -> None:
        for index in range(start, len(run.messages)):
            run.messages[index] = self._message(run, run.messages[index])

    def _mask_steps(self, run: Run, start: int) -> None:
        for index in range(start, len(run.outcome.steps)):
            run.outcome.steps[index] = self._step(run, run.outcome.steps[index])

    def _step(self, run: Run, step: ReActStep) -> ReActStep:
        arguments = self._data(run, step.action_input)
        assert isinstance(arguments, (dict, str))  # masking keeps the form
        seen = Observation(content=step.observation, outcome=step.outcome)
        masked = self._observation(run, seen)
        return replace(
            step,
            thought=self._text(run, step.thought),
            action_input=arguments,
            observation=masked.content,
            outcome=masked.outcome,
        )
