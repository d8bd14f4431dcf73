"""The check ``command``: an answer is accepted if a command succeeds."""

from __future__ import annotations

from typing import ClassVar

from react_plugins.commands import RunsCommand
from react_run import Check, Run, Verdict


class CommandCheck(RunsCommand, Check):
    """A command, such as a test suite, must exit with status 0."""

    kind: ClassVar[str] = "command"
    costly: ClassVar[bool] = True

    feedback: str = ""
    """The feedback for the model if the command fails; its output follows."""

    async def check(self, run: Run, answer: str) -> Verdict:
        complaint = self.complaint(await self.carry_out(run))
        if not complaint:
            return Verdict(accepted=True)
        return Verdict(accepted=False, feedback="\n".join(filter(None, (self.feedback, complaint))))
