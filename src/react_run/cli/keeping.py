"""What the command line keeps of a run: its journal and its conversation. Neither may keep a run from its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from react_run.cli.loading import AgentOptions
from react_run.cli.sessions import read_session, session_file, write_session

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig
    from react_run.messages import Message


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
    """

    options: AgentOptions
    config: ReActAgentConfig
    note: Callable[[str], None]
    record: str | None = None
    no_save: bool = False
    session: str | None = None

    def __post_init__(self) -> None:
        self.session = self.session or self.config.session
        assert self.config.path is not None  # the command line reads files
        self._conversation = session_file(self.config.path, self.session)

    def journal(self) -> object:
        """What writes the journal of each run; ``()`` for nothing."""
        if self.no_save and self.record is None:
            return ()
        from react_run.journal.recorder import Recorder

        path = Path(self.record) if self.record else self.config.trace or self._own_journals()
        return Recorder(path=path, session=self.session, options=self.options.to_record()) if path else ()

    def _own_journals(self) -> Path | None:
        from react_run.places import data_directory

        directory = data_directory() / "runs"
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            self.note(f"no journal is kept: {directory} cannot be made ({error.strerror})")
            return None
        return directory

    def earlier(self, *, continues: bool) -> list[Message]:
        """The conversation so far, when it is to be continued.

        Raises:
            ConfigError: It cannot be read.
        """
        return read_session(self._conversation) if continues or self.session else []

    def keep(self, messages: Sequence[Message]) -> None:
        """Keep the conversation for the next time."""
        if self.no_save:
            return
        try:
            write_session(self._conversation, messages, self.config.masker)
        except OSError as error:
            self.note(f"the conversation is not kept: {self._conversation} cannot be written ({error.strerror})")
