"""The file changes that a run's tools made, from its journal, whatever the files contain now."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from typing import TYPE_CHECKING

from react_run.journal.view.markup import LONGEST, details, escaped

if TYPE_CHECKING:
    from react_run.journal.iterations import ToolUse
    from react_run.journal.reading import Journal

_NOTHING = '<p class="soft">No tool wrote or edited a file. Changes by child processes are not shown.</p>'


def changes(journal: Journal) -> str:
    """The changes of a run and its subagents, in order, as diffs."""
    known: dict[str, str] = {}
    parts = [_change(use, known) for use in _uses(journal)]
    return "".join(parts) or _NOTHING


def _uses(journal: Journal) -> Iterator[ToolUse]:
    for iteration in journal.iterations:
        yield from (use for use in iteration.tools if use.executed and not use.failed)
    for child in journal.below:
        yield from _uses(child)


def _change(use: ToolUse, known: dict[str, str]) -> str:
    """The diff of one call; empty if the call changes no file. ``known`` holds the contents written so far."""
    arguments = use.arguments
    if not isinstance(arguments, dict) or not isinstance(path := arguments.get("path"), str):
        return ""
    old, new, content = (arguments.get(name) for name in ("old_text", "new_text", "content"))
    if isinstance(old, str) and isinstance(new, str):
        if path in known:
            known[path] = known[path].replace(old, new)
        return _diff_block(use, path, old, new)
    if isinstance(content, str):
        before = known.get(path, "")
        known[path] = content
        return _diff_block(use, path, before, content)
    return ""


def _diff_block(use: ToolUse, path: str, old: str, new: str) -> str:
    lines = [*unified_diff(old[:LONGEST].splitlines(), new[:LONGEST].splitlines(), lineterm="", n=3)][2:]
    added, removed = (sum(line.startswith(mark) for line in lines) for mark in "+-")
    cut = "\n… cut here" if max(len(old), len(new)) > LONGEST else ""
    inner = "\n".join(map(_line, lines))
    summary = (
        f'<b>{escaped(path)}</b> <span class="good">+{added}</span> <span class="bad">-{removed}</span> '
        f'<span class="soft">iteration {use.iteration} · {escaped(use.name)}</span>'
    )
    return details("iteration", summary, f'<pre tabindex="0">{inner}{cut}</pre>', opened=True)


def _line(line: str) -> str:
    kind = {"+": "good", "-": "bad", "@": "soft"}.get(line[:1], "")
    return f'<span class="{kind}">{escaped(line)}</span>' if kind else escaped(line)
