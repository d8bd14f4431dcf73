"""A run as a tree: thought, action, observation heads, with times, tokens, cost and guards (behaviour J5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from react_run.journal.view import formatting
from react_run.journal.view.reasons import spoken
from react_run.journal.view.subagents import Subagents
from react_run.support.dataclasses import dataclass

if TYPE_CHECKING:
    from react_run.journal.iterations import Iteration, ModelCall, ToolUse
    from react_run.journal.reading import Journal


@dataclass(kw_only=True)
class Branch:
    """One line of the tree: a coloured ``mark``, a text, and the lines below it."""

    text: str
    mark: str = ""
    colour: str = ""
    below: list[Branch] = field(default_factory=list)


def tree_of(
    journal: Journal,
    *,
    first: int = 0,
    last: int | None = None,
    ends: bool = True,
    subagents: Subagents | None = None,
) -> Branch:
    """Build the tree of a run. Each subagent is below the call that started it.

    Args:
        journal: The run.
        first: The index of the first iteration.
        last: The index after the last iteration; ``None`` means all.
        ends: Whether to include the prompt, subagents that no call started, and the end.
        subagents: The subagents of the run at the top, if that is another one.
    """
    subagents = subagents or Subagents(journal)
    iterations = [_iteration(iteration, journal, subagents) for iteration in journal.iterations[first:last]]
    header = journal.header
    about = [f"run {journal.run_id[:12]}", formatting.name(journal), header["model"], formatting.moment(header["time"])]
    root = Branch(text=" · ".join(about), colour="bold")
    if not ends:
        root.below += iterations
        return root
    root.below.append(Branch(text=formatting.one_line(header["prompt"]), mark="prompt", colour="dim"))
    if files := formatting.attached(journal):
        root.below.append(Branch(text=files, mark="attached", colour="dim"))
    root.below += iterations
    root.below += [tree_of(child, subagents=subagents) for child in subagents.others(journal)]
    root.below.append(_end(journal))
    return root


def _iteration(iteration: Iteration, journal: Journal, subagents: Subagents) -> Branch:
    about = [f"iteration {iteration.number}" if iteration.number else "before the first iteration"]
    used = formatting.usage_of(iteration)
    if used is not None:
        about += [
            formatting.tokens(used.total_tokens),
            *([formatting.cost(used.cost)] if used.cost is not None else []),
        ]
    branch = Branch(text=" · ".join(about), colour="bold")
    branch.below += map(_model_call, iteration.model_calls)
    for use in iteration.tools:
        used_tool = _tool_use(use)
        used_tool.below += [tree_of(child, subagents=subagents) for child in subagents.by(journal, use)]
        branch.below.append(used_tool)
    for record in iteration.looks:
        found = formatting.arguments(record["value"])
        branch.below.append(Branch(text=f"{record['what']}: {found}", mark="recorded", colour="dim"))
    for asked in iteration.questions:
        text = f"{formatting.one_line(asked.record['text'])} {asked.said}"
        branch.below.append(Branch(text=text, mark="asked", colour="dim"))
    for record in iteration.guards:
        branch.below.append(
            Branch(
                text=f"{record['guard']}: {formatting.one_line(spoken(record['detail']))}", mark="!", colour="yellow"
            )
        )
    if iteration.feedback is not None:
        branch.below.append(Branch(text=formatting.one_line(iteration.feedback), mark="refused", colour="yellow"))
    return branch


def _model_call(call: ModelCall) -> Branch:
    failed = call.error and not call.response
    branch = Branch(text=formatting.model_call(call), mark="✗" if failed else "", colour="red" if failed else "")
    reply = call.reply
    if reply is not None and reply.text.strip():
        mark = "thought" if reply.tool_requests else "answer"
        branch.below.append(Branch(text=formatting.one_line(reply.text), mark=mark, colour="dim"))
    return branch


def _tool_use(use: ToolUse) -> Branch:
    text = f"{use.name} {formatting.arguments(use.arguments)}"
    mark, colour = ("…", "yellow") if not use.finished else ("✗", "red") if use.failed else ("✓", "green")
    branch = Branch(text=text, mark=mark, colour=colour)
    branch.below.append(Branch(text=" · ".join(formatting.tool_use(use)), colour="dim"))
    if use.content is not None:
        branch.below.append(Branch(text=formatting.one_line(use.content), mark="→", colour="dim"))
    return branch


def _end(journal: Journal) -> Branch:
    footer = journal.footer
    branch = Branch(text=f"{formatting.status(journal)} · {formatting.totals(journal.stats)}", mark="end")
    branch.colour = "green" if formatting.succeeded(journal) else "red"
    if footer is not None and footer["answer"]:
        branch.below.append(Branch(text=formatting.one_line(footer["answer"])))
    if steps := formatting.plan(journal):
        branch.below.append(
            Branch(text="plan", colour="dim", below=[Branch(text=step, colour="dim") for step in steps])
        )
    if footer is not None and "error" in footer:
        branch.below.append(Branch(text=formatting.error(footer["error"]), colour="red"))
    return branch


def lines_of(branch: Branch, prefix: str = "", below: str = "") -> Iterator[tuple[str, Branch]]:
    """Yield each line of the tree: its frame and its branch."""
    yield prefix, branch
    for index, child in enumerate(branch.below):
        last = index == len(branch.below) - 1
        yield from lines_of(child, f"{below}{'└─ ' if last else '├─ '}", f"{below}{'   ' if last else '│  '}")
