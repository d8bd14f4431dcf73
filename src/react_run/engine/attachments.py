"""Takes images and files into a run: from its prompt, from earlier turns, and from tools."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from react_run.engine.state import EngineState
from react_run.errors import ConfigError
from react_run.outcome import Observation
from react_run.parts import LARGEST, PDF, FilePart, Part
from react_run.support.files.run_files import run_folders, write_new
from react_run.support.render import render

if TYPE_CHECKING:
    from react_run.messages import Message
    from react_run.run import Run

logger = logging.getLogger(__name__)
GUARD = "attachment"


def split(prompt: object) -> tuple[str, tuple[Part, ...]]:
    """Split a prompt into its text and its attachments.

    Raises:
        ConfigError: The prompt is neither text nor a list of texts and parts.
    """
    items = prompt if isinstance(prompt, Sequence) else (prompt,)
    for item in items:
        if not isinstance(item, str | Part):
            known = "the prompt must be text, or a list of texts, ImagePart and FilePart"
            raise ConfigError(f"{known}, not {type(item).__name__}")
    text = "\n\n".join(item for item in items if isinstance(item, str))
    return text, tuple(item for item in items if isinstance(item, Part))


def taken_in(run: Run, parts: Iterable[Part]) -> tuple[Part, ...]:
    """Return ``parts`` for the conversation; those that the model may not be able to read are saved, and named with
    their path.
    """
    run.state(EngineState).carries_parts = True
    return tuple(_taken_in(run, part) for part in parts)


def _taken_in(run: Run, part: Part) -> Part:
    if part["type"] == "text" or (reads := run.agent.model.can_read(part.media_type)):
        return part
    kept = saved(run, part)
    if reads is False:
        where = f", saved as {kept.saved_to}" if kept.saved_to else ""
        logger.warning(
            "%s does not read %s: it is told of %s%s", run.agent.model.name, part.media_type, part.label, where
        )
    return kept


def saved(run: Run, part: Part) -> Part:
    """Save a copy of ``part`` in the run's workspace, where tools can find it."""
    if part.saved_to or not part.data:
        return part
    folders, name = (*run_folders(run.id), "attachments"), f"{part.digest[:16]}{part.ending}"
    try:
        with suppress(FileExistsError):  # the name is a digest of the content
            write_new(run.workspace, folders, name, [part.data])
    except OSError as error:
        logger.warning("%s cannot be saved: %s", part.label, error)
        return part
    return part.saved("/".join((*folders, name)))


def incoming(run: Run, messages: Iterable[Message]) -> list[Message]:
    """Convert the attachments of earlier turns."""
    return [_incoming(run, message) for message in messages]


def _incoming(run: Run, message: Message) -> Message:
    content = message.content
    if isinstance(content, str) or not any(isinstance(part, Part) for part in content):
        return message
    taken = [taken_in(run, (part,))[0] if isinstance(part, Part) else part for part in content]
    return replace(message, content=taken)


def observed(run: Run, result: object) -> Observation:
    """Split the return value of a tool, a part or a list with parts, into texts followed by parts."""
    items = result if isinstance(result, list | tuple) else (result,)
    texts, parts = [], []
    for item in items:
        if not isinstance(item, Part):
            texts.append(render(item))
        elif isinstance(item, FilePart) and item.media_type != PDF:
            texts.append(str(item["text"]))
        else:
            texts.append(f"[{item.label}]")
            parts.append(item)
    return Observation(content="\n".join(texts), parts=bounded(run, parts))


def bounded(run: Run, parts: Iterable[Part]) -> tuple[Part, ...]:
    """Convert the return value of a tool; parts too large for a request are saved, and left out of the conversation."""
    fitting, size = [], 0
    for part in parts:
        size += part.size
        if size <= LARGEST:
            fitting.append(part)
        else:
            size -= part.size
            kept = saved(run, part)
            where = f"; it is saved as {kept.saved_to}" if kept.saved_to else ""
            run.note(GUARD, f"{part.label} is left out: one result may have at most {LARGEST // 2**20} MB{where}")
    return taken_in(run, fitting)
