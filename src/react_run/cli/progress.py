"""Shows what a run is doing: a plugin for the status line and ``-v``, and one for the draft answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from react_run.cli.screen import Screen
from react_run.cli.terminal import cells, coloured, fitted, width
from react_run.hookspecs import hookimpl
from react_run.secrets.stream import StreamMasker
from react_run.support.text import printable

if TYPE_CHECKING:
    from react_run.messages import ModelResponse
    from react_run.outcome import Observation
    from react_run.questions import Question
    from react_run.run import Iteration, Run, ToolCall
    from react_run.secrets import Masker

_SHORT_ARGUMENTS = 60
_SHORT_RESULT = 80
_SHORT_PROGRESS = 40
_SHORT_PLAN = 50


class Progress:
    """Follows a run: iteration, running tools, tokens; depending on ``verbosity``, also a line per tool call and
    more.
    """

    def __init__(self, screen: Screen, masker: Masker, verbosity: int = 0) -> None:
        self.screen, self.masker, self.verbosity = screen, masker, verbosity
        self.run: Run | None = None
        self.running: list[str] = []
        self.far: dict[str, str] = {}
        self.undecided: set[object] = set()
        self.thinking = False
        self.tool_calls = 0
        self.below = (0, 0)
        """Model calls and tool calls of subagents."""

    def begin(self) -> None:
        """Forget the previous run."""
        self.run, self.running, self.far, self.thinking, self.tool_calls = None, [], {}, False, 0
        self.below = (0, 0)
        self.undecided.clear()  # an interrupted turn leaves its question behind
        self.screen.pause(False)

    def status(self, seconds: float) -> str:
        """One line: iteration, what is running, elapsed time, tokens."""
        run = self.run
        parts = ["starting" if run is None else f"iteration {max(1, len(run.iterations))}/{run.max_iterations}"]
        if self.running:
            parts.append(", ".join(f"{name} {self.far.get(name, '')}".rstrip() for name in dict.fromkeys(self.running)))
        elif self.thinking:
            parts.append("thinking")
        if run is not None and run.outcome.plan:
            parts.append(fitted(printable(self.masker.mask(planned(run.outcome.plan))), _SHORT_PLAN))
        parts.append(f"{seconds:.1f} s")
        if run is not None and run.usage.total_tokens:
            parts.append(f"{run.usage.total_tokens:,} tokens")
        return " · ".join(parts)

    @hookimpl(tryfirst=True)
    def react_run_started(self, run: Run) -> None:
        if run.parent is None:
            self.run = run

    @hookimpl
    def react_model_call_started(self, run: Run) -> None:
        self.thinking = True
        if run.parent is not None:
            self.below = (self.below[0] + 1, self.below[1])

    @hookimpl
    def react_model_call_finished(self, run: Run, iteration: Iteration, response: ModelResponse) -> None:
        self.thinking = False
        if self.verbosity > 1:
            tokens = response.usage.total_tokens
            self._note(f"  iteration {iteration.number}: {response.finish_reason}, {_count(tokens)} tokens", "dim")
            if response.text and response.message.tool_requests:
                self._note(f"  {response.text.strip()}", "dim")

    @hookimpl
    def react_tool_call_started(self, run: Run, call: ToolCall) -> None:
        self.running.append(call.name)
        self.tool_calls += 1
        if run.parent is not None:
            self.below = (self.below[0], self.below[1] + 1)

    @hookimpl(tryfirst=True)
    def react_tool_permit(self, call: ToolCall) -> None:
        self.undecided.add(call)  # a plugin may ask the user now
        self.screen.pause(True)

    @hookimpl(tryfirst=True)
    def react_asked(self, question: Question) -> None:
        self.undecided.add(id(question))
        self.screen.pause(True)

    @hookimpl(tryfirst=True)
    def react_decided(self, question: Question) -> None:
        self.decided(id(question))

    def decided(self, what: object) -> None:
        """Note that ``what``, a call or a question, no longer waits for the user."""
        self.undecided.discard(what)
        self.screen.pause(bool(self.undecided))

    @hookimpl
    def react_tool_progress(self, call: ToolCall, done: float | None, total: float | None, message: str) -> None:
        self.far[call.name] = fitted(printable(self.masker.mask(_far(done, total, message))), _SHORT_PROGRESS)

    @hookimpl
    def react_tool_call_finished(self, run: Run, call: ToolCall, observation: Observation) -> None:
        self.decided(call)
        if call.name in self.running:
            self.running.remove(call.name)
            self.far.pop(call.name, None)
        if self.verbosity:
            self._note(self._line(call, observation))
        elif self.screen.animated:
            self._note(self._brief(call, observation), "dim")

    @hookimpl
    def react_guard_fired(self, run: Run, guard: str, detail: str) -> None:
        if self.verbosity:
            self._note(f"  guard {guard}: {detail}", "yellow")

    def _brief(self, call: ToolCall, observation: Observation) -> str:
        """Show that a tool ran, with its arguments; show the result only if it failed."""
        given = self.masker.mask_data(call.arguments)
        lone = next(iter(given.values())) if isinstance(given, dict) and len(given) == 1 else given
        asked = lone if isinstance(lone, str) else json.dumps(lone, ensure_ascii=False, default=str) if lone else ""
        said = observation.outcome.message if observation.outcome else ""
        failed = f" → {self.masker.mask(said or observation.content)}" if observation.failed else ""
        text = " ".join(f"{call.name} {asked}{failed}".split())
        return fitted(printable(f"{_indent(call.run)}{'✗' if failed else '·'} {text}"), width() - 1)

    def _line(self, call: ToolCall, observation: Observation) -> str:
        """Mark, name, short arguments, head of the result, seconds; calls of subagents are indented."""
        mark = coloured("✗", "red") if observation.failed else coloured("✓", "green")
        # Mask before encoding or cutting: even half a secret is a secret.
        arguments = json.dumps(self.masker.mask_data(call.arguments), ensure_ascii=False, default=str)
        content = self.masker.mask(" ".join(observation.content.split()))
        seconds = f"{call.seconds or 0:.2f} s"
        indent = _indent(call.run)
        if self.verbosity == 1 and self.screen.animated:
            arguments = fitted(arguments, _SHORT_ARGUMENTS)
        elif self.verbosity == 1:
            arguments, content = fitted(arguments, _SHORT_ARGUMENTS), fitted(content, _SHORT_RESULT)
        text = printable(f"{self.masker.mask(call.name)} {arguments} → {content}")
        if self.verbosity == 1 and self.screen.animated:
            text = fitted(text, max(20, width() - cells(f"{indent}✓  {seconds}") - 1))
        return f"{indent}{mark} {text} {coloured(seconds, 'dim')}"

    def _note(self, text: str, colour: str = "") -> None:
        shown = text if not colour else coloured(printable(self.masker.mask(text)), colour)
        self.screen.note(shown)


class Permitted:
    """Tells :class:`Progress` that a call was permitted: it is innermost, :class:`Progress` outermost."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress

    @hookimpl(trylast=True)
    def react_tool_permit(self, call: ToolCall) -> None:
        self.progress.decided(call)


class Draft:
    """Shows the draft of an answer as it arrives, with secrets masked, and dims it if it was not the answer."""

    def __init__(self, screen: Screen, masker: Masker) -> None:
        self.screen, self.masker = screen, masker
        self.begin()

    def begin(self) -> None:
        """Forget the previous draft."""
        self._held = StreamMasker(self.masker)
        self.shown = ""
        """The text on the screen that is the current draft."""

    @hookimpl
    def react_text_delta(self, run: Run, text: str) -> None:
        if run.parent is None:
            self._show(self._held.add(text))

    @hookimpl
    def react_text_discarded(self, run: Run) -> None:
        if run.parent is None:
            self._show(self._held.rest())
            if self.shown:
                last = run.iterations[-1] if run.iterations else None
                proposed = last is not None and last.response is not None and not last.calls
                self.screen.set_aside("set aside: " if proposed else "")
            self.begin()

    def finish(self) -> None:
        """Show text that was held back."""
        self._show(self._held.rest())

    def _show(self, text: str) -> None:
        if text:
            self.screen.draft(text)
            self.shown += text


def _indent(run: Run) -> str:
    depth = 0
    while run.parent is not None:
        run, depth = run.parent, depth + 1
    return "  " * depth


def _far(done: float | None, total: float | None, message: str) -> str:
    """``3/10 message``."""
    number = "" if done is None else f"{done:g}" if total is None else f"{done:g}/{total:g}"
    return " ".join(f"{number} {message}".split())


def planned(plan: Sequence[Mapping[str, str]]) -> str:
    """``plan 2/5: what is being done``."""
    done = sum(step["status"] == "done" for step in plan)
    at = next((step["step"] for status in ("doing", "open") for step in plan if step["status"] == status), "")
    return f"plan {done}/{len(plan)}{f': {at}' if at else ''}"


def _count(number: int | None) -> str:
    return "n/a" if number is None else f"{number:,}"


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._started = monotonic()

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return monotonic() - self._started
