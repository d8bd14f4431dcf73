"""Asks people: the first plugin with an answer decides, and the journal records question and decision."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from react_run.engine.current import current_call
from react_run.engine.state import EngineState
from react_run.errors import PluginError
from react_run.hooks import Implementation, ask_all, notify
from react_run.questions import Answer, Question, Unfit

if TYPE_CHECKING:
    from react_run.run import Run


class Asked:
    """How often a run has asked each question."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[int, int | None, str]] = Counter()

    def named(self, run: Run, question: Question) -> Question:
        """Return ``question`` with an id for the place where it was asked; a replayed run gives it the same id."""
        iteration, call = len(run.iterations), current_call(run)
        place = iteration, None if call is None else call.position, question.digest
        self._counts[place] += 1
        where = f"{iteration}" if call is None else f"{iteration}.{call.position}"
        return replace(question, id=f"{where}.{question.digest[:12]}.{self._counts[place]}")


async def put(run: Run, question: Question) -> Answer | None:
    """Ask ``question``; see :meth:`react_run.run.Run.ask`."""
    hooks = run.state(EngineState).hooks
    question = run.state(Asked).named(run, question.masked(run.agent.config.masker))
    if hooks.react_asked:
        await notify(hooks.react_asked, run, question)
    answer = None
    with run.paused_for_user():
        for impl in hooks.react_ask:
            said = await ask_all((impl,), run, question)
            if said:
                answer = _answer(impl, question, said[0])
                break
    if hooks.react_decided:
        await notify(hooks.react_decided, run, question, answer)
    return answer


def _answer(impl: Implementation, question: Question, said: object) -> Answer | None:
    answer = said if isinstance(said, Answer) else Answer(said)
    if answer.value is None:
        return None
    try:
        return replace(answer, value=question.read(answer.value))
    except Unfit as error:
        raise PluginError(f"plugin {impl.plugin_name!r} answered react_ask, and {error}") from None
