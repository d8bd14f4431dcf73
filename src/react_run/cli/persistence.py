"""What the command line keeps of a run: its journal and its conversation. Neither may keep a run from its answer."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from react_run.journal.sessions import Session
from react_run.launch.options import AgentOptions
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig
    from react_run.journal.recorder import Recorder
    from react_run.messages import Message
    from react_run.run import Run


def shown_run(journal: Path, run: Run) -> str:
    """What to call a run on a command line: its short id, when its journal lies where ids are looked up."""
    from react_run.journal.locate import runs_directory

    return run.id[:12] if journal.parent == runs_directory() else shlex.quote(str(journal))


@dataclass(kw_only=True)
class Keeping:
    """What is kept of the runs of one agent.

    Args:
        options: How the agent was made.
        config: Its configuration.
        note: Says what cannot be kept.
        record: The file for the journal, instead of our own place.
        no_save: Keep nothing that was not asked for.
        session: The name of the conversation.
        continues: Whether the last conversation is continued when none is named.
    """

    options: AgentOptions
    config: ReActAgentConfig
    note: Callable[[str], None]
    record: str | None = None
    no_save: bool = False
    session: str | None = None
    continues: bool = False

    def __post_init__(self) -> None:
        self._told = False
        """Whether it was said that there is nothing to go on with."""
        self.session = self.config.session = self.config.session if self.session is None else self.session
        assert self.config.path is not None  # the command line reads files
        self._conversation = (
            Session.last_with(self.config.path) if self.session is None else Session.named(self.session)
        )

    def journal(self) -> Recorder | None:
        """What writes the journal of each run."""
        if self.no_save and self.record is None:
            return None
        from react_run.journal.recorder import Recorder

        path = Path(self.record) if self.record else self.config.trace or self._own_journals()
        return Recorder(path=path, session=self.session, options=self.options.to_record()) if path else None

    def _own_journals(self) -> Path | None:
        from react_run.journal.locate import runs_directory

        directory = runs_directory()
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            self.note(f"no journal is kept: {directory} cannot be made ({error.strerror})")
            return None
        return directory

    @property
    def _goes_on(self) -> bool:
        return self.continues or self.session is not None

    def earlier(self) -> list[Message]:
        """The conversation so far, when it is to be continued.

        Raises:
            ConfigError: It cannot be read.
        """
        if not self._goes_on:
            return []
        earlier = self._conversation.read()
        if self.continues and self.session is None and not earlier and not self._told:
            self.note(
                f"there is no conversation with {self.config.path} to go on with: this one starts anew (they are kept "
                "by the path of the agent file; give one a name with --session)"
            )
        self._told = True
        return earlier

    @contextmanager
    def turn(self, begun: Sequence[Message] = ()) -> Iterator[Sequence[Message]]:
        """One turn of the conversation: what was said so far. Other processes wait until it is over.

        Args:
            begun: What was said so far, where that is nobody else's business.
        """
        if self.no_save or not self._goes_on:
            yield begun or self.earlier()
            return
        with ExitStack() as stack:
            try:
                stack.enter_context(self._conversation.turn(self._say_waiting))
            except OSError as error:
                self.note(f"the conversation cannot be locked ({error.strerror}): nobody else should be in it now")
            yield self.earlier()

    def _say_waiting(self) -> None:
        self.note("waiting for another turn of this conversation to end")

    def keep(self, messages: Sequence[Message]) -> None:
        """Keep the conversation for the next time."""
        if self.no_save:
            return
        try:
            self._conversation.write(messages, self.config.masker)
        except OSError as error:
            self.note(f"the conversation is not kept: {self._conversation.path} cannot be written ({error.strerror})")
