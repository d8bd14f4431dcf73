"""Runs an agent once, and shows the run in one of three formats."""

from __future__ import annotations

import errno
import sys
from collections.abc import Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from react_run.cli.exit import Interrupted, logs_to, unread_output, warnings_to
from react_run.cli.screen import Screen, starting
from react_run.cli.terminal import json_text
from react_run.errors import ModelError, ReactError, blamed, result_left
from react_run.journal.locate import find_run
from react_run.launch.options import AgentOptions, approve_all, built, speaks_for_us
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.agent import ReActAgent
    from react_run.cli.persistence import Keeping
    from react_run.cli.progress import Draft, Progress
    from react_run.config import ReActAgentConfig
    from react_run.journal.recorder import Recorder
    from react_run.messages import Message
    from react_run.parts import Part
    from react_run.results import RunResult
    from react_run.run import Run

    Prompt = str | Sequence[str | Part]

OFFLINE = "no model named: the offline model answers what the tools can answer (-m MODEL for a real one)"


@dataclass(kw_only=True)
class OneRun:
    """The options of a run, and the run itself."""

    options: AgentOptions
    style: str = "text"
    no_stream: bool = False
    record: str | None = None
    replay: str | None = None
    no_save: bool = False
    continues: bool = False
    session: str | None = None
    verbose: int = 0
    quiet: bool = False
    yes: bool = False
    raw: bool = False
    attach: Sequence[str] = ()
    screen: Screen = field(init=False)
    progress: Progress = field(init=False)
    journal: Recorder | None = field(init=False, default=None)
    config: ReActAgentConfig | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.screen = Screen(quiet=self.quiet)

    def answer(self, prompt: Prompt) -> int:
        """Run the agent on ``prompt``, show the result, and return the exit status."""
        try:
            self.screen.start_status(starting)  # in here: a Ctrl-C may come as soon as the line is there
            with warnings_to(self.screen.note), logs_to(self.screen.note):
                return self._answer(prompt)
        except Exception as error:
            if self.style == "text":
                self._show_what_is_left(error)
                raise
            if not isinstance(error, ReactError) and not blamed(error):
                raise
            self._write_json({"success": False, "error": described_error(error)}, self.config)
            return error.exit_status if isinstance(error, ReactError) else 1
        finally:
            self.screen.stop_status()

    def _answer(self, prompt: Prompt) -> int:
        from react_run.cli.persistence import Keeping
        from react_run.cli.progress import Draft, Permitted, Progress, Stopwatch
        from react_run.cli.statuses import footer

        if self.attach:
            from react_run.cli.attaching import with_files

            prompt = with_files(prompt, self.attach)
        if self.replay is not None and not speaks_for_us(find_run(self.replay)):
            self.options = replace(self.options, foreign=True)
        self.config = config = self.options.config()
        if config.model is None and self.replay is None:
            self.screen.note(OFFLINE)
        self.progress = progress = Progress(self.screen, config.masker, self.verbose)
        streams = self.style == "text" and self.screen.shows_drafts and not self.no_stream
        draft = Draft(self.screen, config.masker) if streams else None
        plugins = [progress, Permitted(progress), *([draft] if draft else []), *self.options.extra_plugins()]
        if self.yes:
            approve_all(config, plugins)
        keeping = Keeping(
            options=self.options,
            config=config,
            note=self.screen.note,
            record=self.record,
            no_save=self.no_save,
            session=self.session,
            continues=self.continues,
        )
        agent = self._agent(config, plugins, keeping)
        self.screen.start_status(progress.status)
        clock = Stopwatch()
        try:
            return self._ended(self._driven(agent, config, keeping, prompt), draft, config)
        except Interrupted:
            self._say_interrupted()
            raise
        finally:
            self.screen.stop_status()
            self.screen.end_draft()  # where Ctrl-C came before the answer could take its place
            if (run := progress.run) is not None:
                self.screen.note(footer(run.usage, progress.tool_calls, clock.seconds, run.id, below=progress.below))

    def _agent(self, config: ReActAgentConfig, plugins: list[object], keeping: Keeping) -> ReActAgent:
        """The agent that answers."""
        self.journal = keeping.journal()
        journal = self.journal or ()
        agent = built(config, plugins, journal)
        if self.replay is None:
            return agent
        from react_run.journal.replay.model import ReplayModel

        return agent.replace(model=ReplayModel(journal=find_run(self.replay)), journal=journal)

    def _driven(self, agent: ReActAgent, config: ReActAgentConfig, keeping: Keeping, prompt: Prompt) -> RunResult:
        from react_run.cli.interrupts import drive

        with keeping.turn() as earlier:
            result = drive(self._run(agent, prompt, earlier, config), at_once=self._say_interrupted)
            keeping.keep(result.messages)
        return result

    async def _run(
        self, agent: ReActAgent, prompt: Prompt, earlier: Sequence[Message], config: ReActAgentConfig
    ) -> RunResult:
        async with agent:
            if self.style != "stream-json":
                return await agent.run(prompt, messages=earlier)
            from react_run.cli.events import as_event
            from react_run.messages import TextDelta
            from react_run.secrets.stream import StreamMasker

            held = StreamMasker(config.masker)
            result: RunResult | None = None
            async for event in agent.stream(prompt, messages=earlier):
                kind, data = as_event(event)
                text = held.add(event.text) if isinstance(event, TextDelta) else held.rest()
                if text:
                    self._write_json({"type": "text_delta", "text": text}, config)
                if kind == "result":
                    result = event  # type: ignore[assignment]  # the event of that kind
                elif kind != "text_delta":
                    self._write_json({"type": kind, **data}, config)
            assert result is not None  # the last event
            return result

    def _ended(self, result: RunResult, draft: Draft | None, config: ReActAgentConfig) -> int:
        from react_run.cli.statuses import status_of, why

        self.screen.stop_status()
        if self.style == "text":
            with unread_output():
                show_answer(config.masker.mask(result.answer), draft, self.screen, raw=self.raw)
        else:
            kind = {"type": "result"} if self.style == "stream-json" else {}
            self._write_json({**kind, **result.to_dict()}, config)
        if reason := why(result):
            self.screen.note(config.masker.mask(reason))
        return status_of(result)

    def _write_json(self, data: dict[str, object], config: ReActAgentConfig | None = None) -> None:
        """Write a line. If its reader has gone, the run goes on, and the status is that of the run."""
        masked = config.masker.mask_data(data) if config else data
        with unread_output():
            print(json_text(masked), flush=True)

    def _show_what_is_left(self, error: Exception) -> None:
        """Write what a failed run had achieved: the answer if it was ready, or the facts that its tools verified."""
        result = result_left(error)
        if result is not None and result.answer and self.config is not None:
            self.screen.stop_status()
            show_answer(self.config.masker.mask(result.answer), None, self.screen, raw=self.raw)

    def _say_interrupted(self) -> None:
        from react_run.cli.persistence import shown_run

        self.screen.stop_status()
        run = self.progress.run
        journal = None if run is None else self._journal_of(run)
        resume = f"; continue with: react-run resume {shown_run(journal, run)}" if run and journal else ""
        self.screen.note(f"interrupted{resume}")

    def _journal_of(self, run: Run) -> Path | None:
        return self.journal.file_for(run) if self.journal else None


def show_answer(answer: str, draft: Draft | None, screen: Screen, *, raw: bool = False) -> None:
    """Write the accepted answer, unless it is already shown as the draft.

    Args:
        answer: The answer.
        draft: The part shown so far.
        screen: Where it was shown.
        raw: Whether Markdown stays as it is on a terminal; it always does elsewhere.
    """
    from react_run.cli.markdown import has_markdown, show
    from react_run.cli.terminal import is_dumb, is_terminal, terminal_text

    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed")
    rendered = not raw and is_terminal(sys.stdout) and not is_dumb() and has_markdown(answer)
    if draft is not None:
        draft.finish()
        same = draft.shown.strip() == answer.strip() and bool(answer)
        if same and not rendered and screen.keeps_draft():
            return
        screen.take_away()
    if rendered:
        show(answer)
    else:
        print(terminal_text(answer), flush=True)


def described_error(error: Exception) -> dict[str, object]:
    """An error as data for ``--json``, with what the run had achieved."""
    from react_run.config.yaml import AgentFileError

    data: dict[str, object] = {"type": type(error).__name__, "message": str(error)}
    if isinstance(error, AgentFileError):
        data["problems"] = [problem.to_dict() for problem in error.problems]
    if isinstance(error, ModelError):
        data |= {"provider": error.provider, "status": error.status, "code": error.code}
    if where := blamed(error):
        data["raised_by"] = where
    if (result := result_left(error)) is not None:
        data["result"] = result.to_dict()
    return data
