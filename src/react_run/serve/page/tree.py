"""A run as a tree: what ``react-run trace`` prints, to be opened and closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from react_run.journal.view.markup import escaped
from react_run.journal.view.tree import Branch, tree_of

if TYPE_CHECKING:
    from react_run.journal.reading import Journal

_COLOURS = {"green": "good", "red": "bad", "yellow": "guard", "dim": "soft"}


def tree(journal: Journal, first: int) -> str:
    """The tree of a run, from an iteration on."""
    return f'<ul class="tree">{_drawn(tree_of(journal, first=first))}</ul>\n'


def branches(journal: Journal, first: int, last: int) -> str:
    """The part of the tree that belongs to some iterations."""
    inner = "".join(map(_drawn, tree_of(journal, first=first, last=last, ends=False).below))
    return f'<ul class="tree">{inner}</ul>\n'


def _drawn(branch: Branch) -> str:
    kind = _COLOURS.get(branch.colour, "")
    mark = f'<span class="mark">{escaped(branch.mark)}</span> ' if branch.mark else ""
    text = f'<span class="{kind}">{mark}{escaped(branch.text)}</span>'
    if branch.colour == "bold":
        text = f"<b>{text}</b>"
    if not branch.below:
        return f"<li>{text}</li>"
    return f"<li><details open><summary>{text}</summary><ul>{''.join(map(_drawn, branch.below))}</ul></details></li>"
