"""A run as a collapsible tree: what ``react-run trace`` prints, as HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from react_run.journal.view.markup import escaped
from react_run.journal.view.tree import Branch, tree_of

if TYPE_CHECKING:
    from react_run.journal.reading import Journal

_COLOURS = {"green": "good", "red": "bad", "yellow": "guard", "dim": "soft"}


def tree(journal: Journal, first: int) -> str:
    """The tree of a run, from iteration ``first`` on."""
    return f'<ul class="tree">{_draw(tree_of(journal, first=first))}</ul>\n'


def branches(journal: Journal, first: int, last: int) -> str:
    """The part of the tree from one iteration to another."""
    inner = "".join(map(_draw, tree_of(journal, first=first, last=last, ends=False).below))
    return f'<ul class="tree">{inner}</ul>\n'


def _draw(branch: Branch) -> str:
    kind = _COLOURS.get(branch.colour, "")
    mark = f'<span class="mark">{escaped(branch.mark)}</span> ' if branch.mark else ""
    text = f'<span class="{kind}">{mark}{escaped(branch.text)}</span>'
    if branch.colour == "bold":
        text = f"<b>{text}</b>"
    if not branch.below:
        return f"<li>{text}</li>"
    return f"<li><details open><summary>{text}</summary><ul>{''.join(map(_draw, branch.below))}</ul></details></li>"
