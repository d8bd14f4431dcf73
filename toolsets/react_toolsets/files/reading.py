"""Cuts a text to the part that a model reads, with a note on the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from react_run import FilePart, ImagePart, Model


def part_of(text: str, first: int, count: int, room: int) -> str:
    """At most ``count`` lines of ``text`` from line ``first`` (counting from 1) that fit into ``room`` bytes."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        return "[the file is empty]"
    if first > len(lines):
        return f"[the file has {len(lines)} lines; there is no line {first}]"
    shown: list[str] = []
    for line in lines[first - 1 : first - 1 + count]:
        room -= len(line.encode(errors="replace")) + 1
        if room < 0:
            break
        shown.append(line)
    if not shown:
        return _cut(lines[first - 1], first, len(lines), room + len(lines[first - 1].encode(errors="replace")))
    last = first + len(shown) - 1
    if first == 1 and last == len(lines):
        return "\n".join(shown)
    more = f"; read on with offset={last + 1}" if last < len(lines) else ""
    return "\n".join([*shown, f"[lines {first} to {last} of {len(lines)}{more}]"])


def _cut(line: str, number: int, of: int, room: int) -> str:
    """The head of a line that is too long to show."""
    head = line.encode(errors="replace")[: max(0, room)].decode(errors="ignore")
    more = f"; read on with offset={number + 1}" if number < of else ""
    note = f"line {number} of {of} has {len(line):,} characters, of which these are the first {len(head):,}{more}"
    return f"{head}\n[{note}]"


def as_part(data: bytes, path: str, model: Model) -> ImagePart | FilePart | None:
    """The image or PDF in ``data``; ``None`` if it is neither, or if the model does not read such files."""
    from react_run import attachment

    try:
        part = attachment(data, path.rpartition("/")[2])
    except ValueError:
        return None
    return None if model.can_read(part.media_type) is False else part
