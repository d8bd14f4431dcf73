"""``react-run resume RUN``: continue a run that was interrupted, killed, or failed (behaviour J4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from react_run.cli.options import run_argument
from react_run.cli.recorded import naming_damage
from react_run.cli.run_once import OneRun
from react_run.launch.options import built
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.agent import ReActAgent
    from react_run.cli.persistence import Keeping
    from react_run.cli.run_once import Prompt
    from react_run.config import ReActAgentConfig
    from react_run.journal.reading import Journal
    from react_run.journal.replay.resume import Resumption
    from react_run.journal.shipped_store import PostgresStore, StoredSink
    from react_run.journal.sinks import Sink
    from react_run.messages import Message
    from react_run.results import RunResult
    from react_run.run import Run


@click.command("resume", context_settings={"help_option_names": ["-h", "--help"]})
@run_argument
@click.option("--force", is_flag=True, help="Continue even if the agent has changed since.")
@click.option("--agent", metavar="AGENT.yaml", help="Continue with this agent instead of the recorded one.")
@click.option("--trust", is_flag=True, help="Trust the file's directory for this run.")
@click.option("--json", "as_json", is_flag=True, help="Print one result object as JSON.")
@click.option("--no-stream", is_flag=True, help="Show the answer only when it is complete.")
@click.option("-v", "--verbose", count=True, help="Show a line per tool call and guard; -vv also shows each iteration.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the answer and errors.")
@click.option("--yes", is_flag=True, help="Approve every tool call that needs approval.")
@naming_damage
def command(run: str | None, force: bool, agent: str | None, trust: bool, as_json: bool, **given: Any) -> int:
    """Continue RUN where it stopped.

    Nothing that was recorded is done again: model replies and finished tool calls come from the journal. A call that
    started but did not finish runs again only if its tool is read-only or idempotent; otherwise the model is told that
    its outcome is unknown.
    """
    from react_run.cli.recorded import options_of
    from react_run.journal.locate import find_run
    from react_run.journal.reading import read_journal

    path = find_run(run).absolute()
    journal = read_journal(path)
    options = options_of(journal, agent, trust=trust)
    if journal.footer is not None and journal.footer["status"] == "finished":
        options.config()  # a journal that is not ours is still refused
        return _ended(journal, as_json=as_json)
    style = "json" if as_json else "text"
    session = journal.header["session"]
    store = click.get_current_context().obj
    goes_on = _Resumed(options=options, style=style, path=path, force=force, session=session, store=store, **given)
    return goes_on.answer(journal.prompt)


def _ended(journal: Journal, *, as_json: bool) -> int:
    """Show the result of a finished run, with its exit status; nothing is run again."""
    from react_run.cli.exit import complain
    from react_run.cli.statuses import status_of, why
    from react_run.cli.terminal import json_text, terminal_text
    from react_run.journal.result import result_of

    result = result_of(journal)
    print(json_text(result.to_dict()) if as_json else terminal_text(result.answer), flush=True)
    complain(f"run {journal.run_id[:12]} had already ended: this is its recorded answer")
    if reason := why(result):
        complain(reason)
    return status_of(result)


@dataclass(kw_only=True)
class _Resumed(OneRun):
    """A run that continues from its journal."""

    path: Path
    force: bool = False
    store: PostgresStore | None = None
    stored: StoredSink | None = None
    ready: Resumption = field(init=False)

    def _agent(self, config: ReActAgentConfig, plugins: list[object], keeping: Keeping) -> ReActAgent:
        from react_run.journal.replay.resume import prepare

        self.ready = prepare(self.path, built(config, plugins, ()), force=self.force, open_file=self._opened)
        for note in self.ready.notes:
            self.screen.note(note)
        return self.ready.agent

    def _opened(self, path: Path) -> Sink:
        from react_run.journal.files import FileSink

        if self.store is None:
            return FileSink(path)
        self.stored = self.store.open(path)
        return self.stored

    async def _run(
        self, agent: ReActAgent, prompt: Prompt, earlier: Sequence[Message], config: ReActAgentConfig
    ) -> RunResult:
        try:
            return await super()._run(agent, prompt, earlier, config)
        finally:
            if self.stored is not None:
                await self.stored.end()

    def _journal_of(self, run: Run) -> Path:
        return self.path

    def _driven(self, agent: ReActAgent, config: ReActAgentConfig, keeping: Keeping, prompt: Prompt) -> RunResult:
        from react_run.cli.interrupts import drive

        run = self._run(agent, prompt, self.ready.incoming, config)
        result = drive(run, at_once=self._say_interrupted)
        if keeping.session is not None:
            with keeping.turn() as earlier:
                self._keep(keeping, earlier, result)
        return result

    def _keep(self, keeping: Keeping, earlier: Sequence[Message], result: RunResult) -> None:
        """Add the turn to its conversation, unless the conversation has continued without it."""
        if list(earlier) == list(self.ready.incoming):
            keeping.keep(result.messages)
        else:
            self.screen.note(f"the conversation {keeping.session!r} has continued since: this turn is not added to it")
