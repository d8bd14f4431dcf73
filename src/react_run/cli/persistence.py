"""Saves the journal and the conversation of a run. A failure to save must not prevent the answer."""

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
    """How to name a run on the command line: by its short id if its journal is where ids are looked up."""
    from react_run.journal.locate import runs_directory

    return run.id[:12] if journal.parent == runs_directory() else shlex.quote(str(journal))


@dataclass(kw_only=True)
class Keeping:
    """Saves the runs of one agent.

    Args:
        options: How the agent was built.
        config: Its configuration.
        note: Reports what cannot be saved.
        record: The file for the journal, instead of the default location.
        no_save: Save only what was asked for.
        session: The name of the conversation.
        continues: Whether to continue the last conversation if none is named.
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
        """Whether the user was told that there is no conversation to continue."""
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
            self.note(f"the journal is not saved: {directory} cannot be made ({error.strerror})")
            return None
        return directory

    @property
    def _goes_on(self) -> bool:
        return self.continues or self.session is not None

    def earlier(self) -> list[Message]:
        """The conversation so far, if it is to be continued.

        Raises:
            ConfigError: It cannot be read.
        """
        if not self._goes_on:
            return []
        earlier = self._conversation.read()
        if self.continues and self.session is None and not earlier and not self._told:
            self.note(
                f"there is no conversation with {self.config.path} to continue: starting a new one (conversations are "
                "saved by the path of the agent file; --session gives one a name)"
            )
        self._told = True
        return earlier

    @contextmanager
    def turn(self, begun: Sequence[Message] = ()) -> Iterator[Sequence[Message]]:
        """Hold one turn of the conversation, and return the messages so far. Other processes wait until it is over.

        Args:
            begun: The messages so far, if the conversation is not shared.
        """
        if self.no_save or not self._goes_on:
            yield begun or self.earlier()
            return
        with ExitStack() as stack:
            try:
                stack.enter_context(self._conversation.turn(self._say_waiting))
            except OSError as error:
                self.note(
                    f"the conversation cannot be locked ({error.strerror}): make sure that no other process uses it"
                )
            yield self.earlier()

    def _say_waiting(self) -> None:
        self.note("waiting for another process to finish its turn of this conversation")

    def keep(self, messages: Sequence[Message]) -> None:
        """Save the conversation for the next time."""
        if self.no_save:
            return
        try:
            self._conversation.write(messages, self.config.masker)
        except OSError as error:
            self.note(f"the conversation is not saved: {self._conversation.path} cannot be written ({error.strerror})")
