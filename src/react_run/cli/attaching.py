"""Files that go with a prompt: ``--attach FILE``, and ``@FILE`` in a chat."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from react_run.errors import ConfigError
from react_run.support.user_dirs import from_home

if TYPE_CHECKING:
    from collections.abc import Sequence

    from react_run.parts import Part

MOST = 32 * 2**20
"""Maximum total bytes per prompt: what the large providers accept in one request."""
_MENTIONED = re.compile(r'(?<!\S)@(?:"(?P<quoted>[^"]+)"|(?P<bare>\S+))')
_BEHIND = ".,;:!?)]}'\""
"""Punctuation that ends a sentence rather than a file name."""


def with_files(prompt: str | Sequence[str | Part], files: Iterable[str]) -> str | Sequence[str | Part]:
    """Return ``prompt`` with files attached.

    Raises:
        ConfigError: A file cannot be attached; the message says which and why.
    """
    parts = [_read(file, f"--attach {file}: ") for file in files]
    return _together(prompt, parts)


def with_mentioned(line: str) -> tuple[str | Sequence[str | Part], list[str]]:
    """Return the prompt of a chat line with the files it mentions, and the words that look like files but are not.

    Raises:
        ConfigError: A file cannot be attached.
    """
    parts, strange = [], []
    for found in _MENTIONED.finditer(line):
        path = _existing(found["quoted"] or found["bare"], quoted=found["quoted"] is not None)
        if path is not None:
            parts.append(_read(path, f"@{path}: "))
        elif found["quoted"] or re.search(r"[./\\]", found["bare"].rstrip(_BEHIND)):
            strange.append(found[0])
    return _together(line, parts), strange


def _existing(name: str, *, quoted: bool) -> str | None:
    for candidate in (name,) if quoted else (name, name.rstrip(_BEHIND)):
        if candidate and from_home(candidate).is_file():
            return candidate
    return None


def _together(prompt: str | Sequence[str | Part], parts: list[Part]) -> str | Sequence[str | Part]:
    size = sum(part.size for part in parts)
    if size > MOST:
        raise ConfigError(f"the attachments are {size / 2**20:.1f} MB together; the limit is {MOST // 2**20} MB")
    if not parts:
        return prompt
    return [*([prompt] if isinstance(prompt, str) else prompt), *parts]


def _read(file: str, where: str) -> Part:
    from react_run.cli.exit import reason_of
    from react_run.parts import read_attachment

    path = from_home(file)
    try:
        return read_attachment(path)
    except FileNotFoundError:
        raise ConfigError(f"{where}there is no such file.{_near(path)}") from None
    except OSError as error:
        raise ConfigError(f"{where}it cannot be read: {reason_of(error)}") from None
    except ValueError as error:
        raise ConfigError(f"{where}{str(error).removeprefix(f'{path} ')}") from None


def _near(path: Path) -> str:
    from react_run.components.errors import near

    try:
        names = [each.name for each in path.parent.iterdir() if each.is_file()]
    except OSError:
        return ""
    return near(path.name, names)
