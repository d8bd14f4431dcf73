"""Agent files in Markdown: front matter with the keys, between two lines ``---``, followed by the system prompt."""

from __future__ import annotations

import re

from react_run.config.yaml.nodes import Node, Verbatim
from react_run.config.yaml.problems import Place, Report, Source

_FENCE = re.compile(r"---[ \t]*")
_EXAMPLE = "its keys, such as 'model: offline', between two lines '---'"


def split(text: str, source: Source, report: Report) -> tuple[str, Node | None] | None:
    """The YAML of a Markdown file, with its line numbers unchanged, and the body; ``None`` without front matter."""
    lines = text.splitlines(keepends=True)
    if not lines or not _FENCE.fullmatch(lines[0].rstrip("\r\n")):
        report.add("cfg.front_matter", f"an agent file in Markdown begins with {_EXAMPLE}", Place(source, 1, 1))
        return None
    ends = (n for n, line in enumerate(lines[1:], 1) if _FENCE.fullmatch(line.rstrip("\r\n")))
    end = next(ends, None)
    if end is None:
        report.add("cfg.front_matter", "the keys that begin here are not closed: add a line '---'", Place(source, 1, 1))
        return None
    front = "".join(["\n", *lines[1:end]])
    first = next((n for n in range(end + 1, len(lines)) if lines[n].strip()), None)
    if first is None:
        return front, None
    body = "".join(lines[first:]).replace("\r\n", "\n").strip("\n")
    place = Place(source, first + 1, 1)
    return front, Node(Verbatim(body), place, ("system_prompt",), place, raw=body)


def add_body(tree: Node, body: Node, report: Report) -> None:
    """Make ``body`` the system prompt of ``tree``."""
    given = tree.mapping.get("system_prompt")
    if given is not None:
        text = "'system_prompt' is given here, but the text below the keys is also the system prompt: keep one of them"
        report.add("cfg.given_twice", text, given.key_place or given.place, given.path)
        return
    tree.mapping["system_prompt"] = body
