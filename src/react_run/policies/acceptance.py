"""Decides whether an answer is accepted, and how often answers may be refused (behaviour G3)."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import Field

from react_run.checks import Check
from react_run.engine.execution import describe_error
from react_run.hooks import inline
from react_run.hookspecs import hookimpl
from react_run.outcome import Verdict
from react_run.policies.order import Policy
from react_run.results import StopReason
from react_run.support.logs import log_failure
from react_run.support.threads import in_thread

if TYPE_CHECKING:
    from react_run.config import ReActAgentConfig
    from react_run.run import Iteration, Run

logger = logging.getLogger(__name__)

SEAL_BROKEN = "A file that the check {check} depends on was tampered with: {what}. No answer is accepted any more."
NOT_RUN = "The check {check} could not be carried out, so nothing is accepted: {why}"


class Seals(dict[Check, dict[str, str]]):
    """The digests of the sealed files of a run at its start, by check."""


class Acceptance(Policy):
    """Runs the agent's checks on each proposed answer, and ends a run whose answers are refused too often.

    A refusal that no other answer could avoid ends the run at once: a check that cannot be carried out, or a sealed
    file that was changed.
    """

    kind: ClassVar[str] = "acceptance"
    inside: ClassVar[Mapping[str, str]] = {
        "last_answer": "a last answer is not checked: there is no iteration left to improve it",
    }

    checks: list[Check] = Field(default_factory=list)
    """The checks that an answer must pass, in order."""
    iterations: int = Field(default=2, ge=0)
    """How often these checks and plugins may refuse an answer before it is kept as unaccepted."""

    @classmethod
    def for_agent(cls, config: ReActAgentConfig, plugins: Sequence[object]) -> Self | None:
        if config.checks or any(hasattr(plugin, "react_check_answer") for plugin in plugins):
            return cls(checks=config.checks, iterations=config.limits.max_check_attempts)
        return None

    @hookimpl
    @inline
    def react_guide(self, run: Run) -> str | None:
        return "\n\n".join(filter(None, (check.guide() for check in self.checks))) or None

    @hookimpl
    async def react_run(self, run: Run) -> None:
        for check in self.checks:
            if check.sealed:
                from react_run.support.files import Folder
                from react_run.workspace.seals import digests

                seal = partial(in_thread, partial(digests, Folder(run.workspace), check.sealed))
                run.state(Seals)[check] = await run.recorded(f"files sealed for {check_label(check)}", seal)

    @hookimpl
    async def react_check_answer(self, run: Run, answer: str) -> Verdict | None:
        refusals = await self._breaches(run)
        for check in sorted(self.checks, key=lambda check: check.costly):
            if refusals and check.costly:
                break  # do not run a test suite for an answer that is refused anyway
            verdict = await self._verdict(check, run, answer)
            if not verdict.accepted:
                refusals.append(verdict)
        if not refusals:
            return None
        feedback = "\n\n".join(verdict.feedback for verdict in refusals)
        return Verdict(accepted=False, feedback=feedback, final=any(verdict.final for verdict in refusals))

    async def _breaches(self, run: Run) -> list[Verdict]:
        """A refusal for every check whose sealed files were changed, whether or not the check runs."""
        found = [(check, await _breach(check, run)) for check in self.checks]
        return [self._broken(run, check, what) for check, what in found if what]

    def _broken(self, run: Run, check: Check, what: str) -> Verdict:
        return self._refused(run, "seal_broken", SEAL_BROKEN.format(check=check_label(check), what=what))

    async def _verdict(self, check: Check, run: Run, answer: str) -> Verdict:
        try:
            verdict = await check.check(run, answer)
        except Exception as error:  # any failure of a check counts as not passed
            mask = run.agent.config.masker.mask
            log_failure(logger, logging.ERROR, f"check {check_label(check)} failed", error, mask)
            return self._refused(
                run, "check_failed", NOT_RUN.format(check=check_label(check), why=describe_error(error))
            )
        if what := await _breach(check, run):  # the check's own command may have changed them
            return self._broken(run, check, what)
        return verdict

    def _refused(self, run: Run, guard: str, text: str) -> Verdict:
        run.note(guard, text)
        return Verdict(accepted=False, feedback=text, final=True)

    @hookimpl
    def react_iteration_finished(self, run: Run, iteration: Iteration) -> None:
        if iteration.response is None:
            return
        if run.outcome.stop_reason is not None:
            if run.outcome.answer == iteration.response.text and not iteration.calls:
                for check in self.checks:
                    run.outcome.answer = check.presented(run.outcome.answer)
            return
        if iteration.feedback is None:
            return
        refused = sum(earlier.feedback is not None for earlier in run.iterations)
        run.note(self.guard, f"answer refused ({refused} of {self.iterations + 1}): {iteration.feedback}")
        if iteration.final or refused > self.iterations:
            run.stop(StopReason.UNACCEPTED, iteration.response.text)


async def _breach(check: Check, run: Run) -> str:
    sealed = run.state(Seals).get(check)
    if sealed is None:
        return ""
    from react_run.support.files import Folder
    from react_run.workspace.seals import broken

    look = partial(in_thread, partial(broken, Folder(run.workspace), check.sealed, sealed))
    return await run.recorded(f"seal of {check_label(check)}", look)


def check_label(check: Check) -> str:
    """The name of a check in messages."""
    return check.kind or type(check).__name__
