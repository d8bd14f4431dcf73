"""Conversations shared by processes: one file each, one turn at a time."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING

from react_run.errors import ConfigError
from react_run.journal.locks import try_lock

if TYPE_CHECKING:
    from react_run.messages import Message
    from react_run.secrets import Masker

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_LOOK_AGAIN = 0.05
"""Seconds between two attempts to lock a conversation that another process is using."""


class Session:
    """A conversation on disk.

    Args:
        path: Its file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def named(cls, name: str) -> Session:
        """The conversation called ``name``.

        Raises:
            ConfigError: The name is not valid.
        """
        from react_run.support.user_dirs import data_directory

        if not _NAME.fullmatch(name):
            raise ConfigError(f"{name!r} is not a valid session name: use letters, digits, '.', '_' and '-'")
        return cls(data_directory() / "sessions" / f"{name}.json")

    @classmethod
    def names(cls) -> list[str]:
        """The names of all stored conversations."""
        from react_run.support.user_dirs import data_directory

        return sorted(path.stem for path in (data_directory() / "sessions").glob("*.json"))

    @classmethod
    def last_with(cls, agent_file: Path) -> Session:
        """The last conversation with the agent in ``agent_file``."""
        from react_run.support.user_dirs import data_directory

        digest = sha256(str(agent_file.resolve()).encode()).hexdigest()[:16]
        return cls(data_directory() / "sessions" / "last" / f"{digest}.json")

    def read(self) -> list[Message]:
        """The messages so far; none if the conversation is new.

        Raises:
            ConfigError: The file is damaged.
        """
        from react_run.models.stored import message_from_dict

        try:
            data = json.loads(self.path.read_text(encoding="utf-8"))
            return [message_from_dict(message) for message in data["messages"]]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except (OSError, ValueError, TypeError, KeyError, ConfigError) as error:
            raise ConfigError(f"cannot continue the conversation in {self.path}: {error}") from error

    def write(self, messages: Sequence[Message], masker: Masker) -> None:
        """Store the conversation with secrets masked, replacing the file atomically.

        Raises:
            OSError: It cannot be written; the old file is unchanged.
        """
        from react_run.models.stored import message_to_dict

        data = masker.mask_data({"version": 1, "messages": [message_to_dict(message) for message in messages]})
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        part = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        part.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8", errors="replace")
        part.chmod(0o600)
        part.replace(self.path)

    @contextmanager
    def turn(self, waiting: Callable[[], None]) -> Iterator[None]:
        """Lock the conversation; ``waiting`` is called once if another process holds the lock.

        Raises:
            OSError: It cannot be locked.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
        try:
            if not try_lock(lock):
                waiting()
                while not try_lock(lock):
                    sleep(_LOOK_AGAIN)
            yield
        finally:
            os.close(lock)
