"""The built-in way to ask people: at the terminal, if there is one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from react_run.hookspecs import hookimpl

if TYPE_CHECKING:
    from react_run.questions import Answer, Question
    from react_run.run import Run


class Terminal:
    """Asks at the controlling terminal, after every other plugin had a chance to answer."""

    kind = "terminal"

    @hookimpl(trylast=True)
    async def react_ask(self, run: Run, question: Question) -> Answer | None:
        from react_run.questions.dialogue import asked_at_terminal

        return await asked_at_terminal(question)


TERMINAL = Terminal()
"""One instance for all agents, so that a subagent's question reaches the terminal only once."""
