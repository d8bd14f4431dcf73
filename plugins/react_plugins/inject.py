"""The plugin ``inject``: adds context to each model call, without keeping it in the conversation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from react_run import Iteration, LocalPath, Message, ModelResponse, Plugin, Run, hookimpl


class Inject(Plugin):
    """Adds a message to the end of each request, where it leaves the provider's prefix cache valid.

    Placeholders: `{now}`, `{iteration}`, `{iterations_left}`, `{tool_calls}`, `{tokens}`, `{cost}`.
    """

    kind: ClassVar[str] = "inject"

    text: str = ""
    """The text; `{file: notes.md}` reads it once, when the agent file is loaded."""
    path: LocalPath | None = None
    """A file, read again before each call; a missing file adds nothing."""
    when: Literal["each", "first", "later"] = "each"
    """The model calls it applies to: every call, only the first of a run, or all but the first."""

    @model_validator(mode="after")
    def _has_something(self) -> Self:
        if not self.text.strip() and self.path is None:
            raise ValueError("give text, path, or both")
        return self

    @hookimpl(trylast=True)  # next to the model, so that retries include it, too
    async def react_model_call(
        self, run: Run, iteration: Iteration, proceed: Callable[[], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        text = await run.recorded("injected", partial(self._text, run)) if self._wanted(iteration) else ""
        if not text:
            return await proceed()
        given = iteration.request
        iteration.request = replace(given, messages=[*given.messages, Message(role="user", content=text)])
        try:
            return await proceed()
        finally:
            iteration.request = given

    def _wanted(self, iteration: Iteration) -> bool:
        first = iteration.request.call == 1
        return self.when == "each" or first == (self.when == "first")

    async def _text(self, run: Run) -> str:
        texts = [self.text, "" if self.path is None or not self.path.is_file() else self.path.read_text("utf-8")]
        text = filled("\n\n".join(text.strip() for text in texts if text.strip()), run)
        return run.agent.config.masker.mask(text)  # `redact` may have processed the request already


def filled(text: str, run: Run) -> str:
    """``text`` with its placeholders filled in; other braces are kept."""
    used, made = run.usage, len(run.iterations)
    values = {
        "now": datetime.now().astimezone().isoformat(timespec="seconds"),
        "iteration": str(made),
        "iterations_left": str(max(0, run.max_iterations - made)),
        "tool_calls": str(len(run.outcome.steps)),
        "tokens": "unknown" if used.total_tokens is None else str(used.total_tokens),
        "cost": "unknown" if used.cost is None else f"{used.cost:.4f} USD",
    }
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text
