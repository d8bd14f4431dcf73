"""Subagents of a resumed run: each continues from its records in the parent run's journal (behaviour J4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import time
from typing import TYPE_CHECKING

from react_run.engine.state import EngineState
from react_run.errors import ReplayMismatch
from react_run.hooks import inline
from react_run.hookspecs import hookimpl
from react_run.journal.iterations import ModelCall
from react_run.journal.lines import encoded
from react_run.journal.reading import Journal
from react_run.journal.replay.player import Proceed
from react_run.journal.replay.resume_calls import ResumedTools
from react_run.journal.replay.resume_sink import ContinuingSink
from react_run.journal.values import Record

if TYPE_CHECKING:
    from react_run.messages import ModelResponse
    from react_run.outcome import Observation
    from react_run.questions import Answer, Question
    from react_run.run import Iteration, Run, ToolCall


class _Followed:
    """The player of one run; ``None`` if the run was not recorded."""

    def __init__(self) -> None:
        self.player: ResumedTools | None = None


class ResumedSubagents:
    """Repeats subagent runs that were interrupted together with their parent run.

    Args:
        top: The player of the outermost run.
        sink: The sink of the resumed journal.
        compare: Whether requests must match the recorded ones.
    """

    inherited_by_subagents = True

    def __init__(self, top: ResumedTools, sink: ContinuingSink, *, compare: bool) -> None:
        self._top, self._sink, self._compare = top, sink, compare

    @hookimpl(tryfirst=True)
    @inline
    def react_guide(self, run: Run) -> None:
        """Look up the run's recording, and answer its model calls from it: this hook comes first in a run."""
        from react_run.journal.replay.model import ReplayModel

        driven = run.state(_Followed)
        if run.parent is None:
            driven.player = self._top
            return
        journal = self._recorded(run)
        if journal is None:
            return
        above, parent = run.parent.state(_Followed).player, run.parent
        assert above is not None  # the recording came from it
        answers = recorded_answers(journal)
        driven.player = ResumedTools(journal, answers, lambda: above.go_on(parent))
        driven.player.react_guide(run)
        self._sink.follow(journal, *encoded(resumed_record(journal), run.agent.config.masker))
        model = ReplayModel.of(journal, answers, compare=self._compare, then=run.agent.model)
        run.agent = run.agent.replace(model=model)

    def _recorded(self, run: Run) -> Journal | None:
        """The recording of a subagent's run, if any."""
        above = None if run.parent is None else run.parent.state(_Followed).player
        call = run.state(EngineState).parent_call
        if above is None or call is None:
            return None
        journal = above.below_again.get(call)
        if journal is None or journal.header["prompt"] != run.agent.config.masker.mask(run.prompt):
            return None
        return above.below_again.pop(call)

    @hookimpl(tryfirst=True)
    def react_run(self, run: Run) -> None:
        """Start as the recorded run started."""
        if (player := _below(run)) is not None:
            player.react_run(run)

    @hookimpl(tryfirst=True)
    async def react_ask(self, run: Run, question: Question) -> Answer | None:
        """Answer with the recorded decision."""
        player = _below(run)
        return None if player is None else await player.react_ask(run, question)

    @hookimpl(trylast=True)
    async def react_model_call(self, run: Run, iteration: Iteration) -> ModelResponse | None:
        player = _below(run)
        return None if player is None else await player.react_model_call(run, iteration)

    @hookimpl(trylast=True)
    async def react_tool_call(self, run: Run, call: ToolCall, proceed: Proceed) -> Observation:
        player = _below(run)
        return await proceed() if player is None else await player.react_tool_call(run, call, proceed)

    @hookimpl
    def react_run_failed(self, run: Run, error: BaseException) -> None:
        """Tell the parent run that its subagent diverged, so that the call's outcome is unknown."""
        call = run.state(EngineState).parent_call
        if isinstance(error, ReplayMismatch) and run.parent is not None and call is not None:
            above = run.parent.state(_Followed).player
            if above is not None:
                above.different.add(call)


def _below(run: Run) -> ResumedTools | None:
    return None if run.parent is None else run.state(_Followed).player


def recorded_answers(journal: Journal) -> Mapping[int, ModelCall]:
    """The model calls that a resumed run does not repeat."""
    first = journal.first_unanswered
    return {number: call for number, call in journal.answers.items() if number < first}


def resumed_record(journal: Journal, changes: Sequence[str] = ()) -> Record:
    """The record that marks a run as resumed."""
    from react_run import __version__

    above = {"parent": journal.header["parent"]} if "parent" in journal.header else {}
    return {
        "type": "resumed",
        "run": journal.run_id,
        **above,
        "time": round(time(), 6),
        "react_run": __version__,
        "first_call": journal.first_unanswered,
        "changes": list(changes),
    }
