"""Replacing a passage of a text: it must be there, exactly, and only once unless every place is meant."""

from __future__ import annotations

from react_toolsets.files.trouble import FileTrouble


def replaced(text: str, old: str, new: str, *, everywhere: bool, path: str) -> tuple[str, list[int]]:
    """``text`` with ``new`` instead of ``old``, and the numbers of the lines where that was.

    Raises:
        FileTrouble: ``old`` is empty, is not there, is there more than once, or is ``new`` already.
    """
    old, new = (part.replace("\r\n", "\n") if "\r\n" not in text else part for part in (old, new))
    if not old:
        raise FileTrouble("old_text is empty; to write a whole file use write_file", code="invalid_edit")
    if old == new:
        raise FileTrouble("old_text and new_text are the same, so there is nothing to change", code="invalid_edit")
    places = _places(text, old)
    if not places:
        raise FileTrouble(f"old_text is not in {path!r}. {_hint(text, old)}", code="text_not_found")
    lines = [text.count("\n", 0, place) + 1 for place in places]
    if len(places) > 1 and not everywhere:
        where = ", ".join(map(str, lines[:10])) + (", …" if len(lines) > 10 else "")
        raise FileTrouble(
            f"old_text is {len(places)} times in {path!r} (lines {where}); give more of the text around the place you "
            "mean, or set everywhere",
            code="text_not_unique",
        )
    return text.replace(old, new), lines


def _places(text: str, old: str) -> list[int]:
    places, at = [], text.find(old)
    while at >= 0:
        places.append(at)
        at = text.find(old, at + len(old))
    return places


def _hint(text: str, old: str) -> str:
    """Where something like ``old`` is."""
    lines = [" ".join(line.split()) for line in text.split("\n")]
    wanted = [" ".join(line.split()) for line in old.strip("\n").split("\n")]
    for at in range(len(lines) - len(wanted) + 1):
        if lines[at : at + len(wanted)] == wanted:
            return f"Line {at + 1} differs from it in white space only: copy it exactly."
    first = next((at for at, line in enumerate(lines) if line and line == wanted[0]), None)
    if first is not None:
        return f"Its first line is at line {first + 1}, but what follows is different: read the file again."
    return "Read the file, and copy the passage exactly."
