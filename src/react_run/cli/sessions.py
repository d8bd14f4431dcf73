"""Conversations that go on: one per agent file, and any number by name."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from react_run.errors import ConfigError
from react_run.places import data_directory

if TYPE_CHECKING:
    from react_run.messages import Message
    from react_run.secrets import Masker

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


def session_file(agent_file: Path, name: str | None) -> Path:
    """Where the conversation ``name``, or the last one with ``agent_file``, is kept.

    Raises:
        ConfigError: The name is no file name.
    """
    if name is None:
        digest = sha256(str(agent_file.resolve()).encode()).hexdigest()[:16]
        return data_directory() / "sessions" / "last" / f"{digest}.json"
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{name!r} is no name for a session: letters, digits, '.', '_' and '-'")
    return data_directory() / "sessions" / f"{name}.json"


def read_session(path: Path) -> list[Message]:
    """The messages of a conversation; none when it has not begun.

    Raises:
        ConfigError: The file is damaged.
    """
    from react_run.chat import message_from_dict

    try:
        return [message_from_dict(message) for message in json.loads(path.read_text(encoding="utf-8"))["messages"]]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError, TypeError, KeyError, ConfigError) as error:
        raise ConfigError(f"cannot continue the conversation in {path}: {error}") from error


def write_session(path: Path, messages: Sequence[Message], masker: Masker) -> None:
    """Keep a conversation, secrets masked; the file is replaced as a whole."""
    from react_run.chat import message_to_dict

    data = masker.mask_data({"version": 1, "messages": [message_to_dict(message) for message in messages]})
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    part.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8", errors="replace")
    part.chmod(0o600)
    part.replace(path)
