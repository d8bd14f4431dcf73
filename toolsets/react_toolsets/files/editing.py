"""Replaces a passage of a text, which must occur as shown, and exactly once unless every place is meant."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from react_toolsets.files.as_shown import AsShown, as_stored, shown_as, usual_end, with_line_ends
from react_toolsets.files.trouble import FileTrouble

_NUMBERED = re.compile(r"^[ \t]*+\d++(?:: ?|\t|\| ?|→|- )")
"""The start of lines in a listing with line numbers."""
_ODD_BLANK = re.compile(r"[^\S ]")
_SHOWN = 160
"""The most characters of a line in a hint."""


def replaced(text: str, old: str, new: str, *, everywhere: bool, path: str) -> tuple[str, list[int]]:
    """Replace ``old`` with ``new``; return the text and the line numbers of the replaced passages.

    Raises:
        FileTrouble: ``old`` is empty, does not occur, occurs more than once, or equals ``new``.
    """
    if "\r\n" not in text:
        old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    said, old = old, shown_as(old)
    ends_are_meant = "\r\n" in said  # explicit line endings must match in a file that mixes them
    if not old:
        raise FileTrouble("old_text is empty; to write a whole file use write_file", code="invalid_edit")
    if said == new or (old == shown_as(new) and not ends_are_meant):
        raise FileTrouble("old_text and new_text are the same, so there is nothing to change", code="invalid_edit")
    view = AsShown(text)
    places = view.passages(old)
    if ends_are_meant:
        places = [(begin, end) for begin, end in places if text[begin:end] == said] or places
    if not places:
        raise FileTrouble(f"old_text is not in {path!r}. {_hint(view.text, old)}", code="text_not_found")
    lines = list(_line_numbers(text, [begin for begin, _ in places]))
    if len(places) > 1 and not everywhere:
        where = ", ".join(map(str, lines[:10])) + (", …" if len(lines) > 10 else "")
        raise FileTrouble(
            f"old_text occurs {len(places)} times in {path!r} (lines {where}); include more of the text around the "
            "place you mean, or set everywhere",
            code="text_not_unique",
        )
    usual = "" if ends_are_meant else usual_end(text)
    pieces, at = [], 0
    for begin, end in places:
        pieces += [text[at:begin], _new_passage(new, text[begin:end], usual)]
        at = end
    return "".join([*pieces, text[at:]]), lines


def _line_numbers(text: str, places: Sequence[int]) -> Iterator[int]:
    """The line number of each of ``places``, which are sorted, so that lines are counted only once."""
    line, at = 1, 0
    for place in places:
        line, at = line + text.count("\n", at, place), place
        yield line


def _new_passage(new: str, passage: str, usual: str) -> str:
    stored = as_stored(new, passage)
    if stored is None:
        raise FileTrouble(
            "the passage contains both a control character and the text that it is shown as, such as \\x1b, so it is "
            "unclear which of them new_text means; edit a shorter passage that contains only one of them",
            code="invalid_edit",
        )
    return with_line_ends(stored, passage, usual) if usual else stored


def _hint(text: str, old: str) -> str:
    """A hint where a passage similar to ``old`` is."""
    if (without := _without_numbers(old)) and without in text:
        return "It is there without the line numbers at the beginning of each line: leave them out."
    lines, wanted = text.split("\n"), old.strip("\n").split("\n")
    plain, plain_wanted = ([" ".join(line.split()) for line in each] for each in (lines, wanted))
    for at in range(len(lines) - len(wanted) + 1):
        if plain[at : at + len(wanted)] == plain_wanted:
            return _other_blanks(lines[at : at + len(wanted)], wanted, at + 1)
    first = next((at for at, line in enumerate(plain) if line and line == plain_wanted[0]), None)
    if first is not None:
        return f"Its first line is at line {first + 1}, but what follows is different: read the file again."
    return "Read the file, and copy the passage exactly."


def _other_blanks(there: list[str], wanted: list[str], number: int) -> str:
    for at, (line, other) in enumerate(zip(there, wanted, strict=True)):
        if line != other:
            return (
                f"Line {number + at} differs from it in white space only: it is {_quoted(line)}, and old_text has "
                f"{_quoted(other)}."
            )
    return f"Line {number} differs from it in white space only: old_text has other line breaks around it."


def _quoted(line: str) -> str:
    """``line`` as JSON, so that tabs and unusual blanks are visible and can be copied."""
    text = json.dumps(line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…", ensure_ascii=False)
    return _ODD_BLANK.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _without_numbers(old: str) -> str:
    lines = old.strip("\n").split("\n")
    return "\n".join(_NUMBERED.sub("", line, count=1) for line in lines) if all(map(_NUMBERED.match, lines)) else ""
