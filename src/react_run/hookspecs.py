"""The hooks of react-run; this file is their reference.

A plugin is any object whose methods have the names below and are marked ``@hookimpl``. A method declares the arguments
it needs, by name. There are three kinds of hook:

*Layers* (``react_run``, ``react_iteration``, ``react_model_call``, ``react_tool_call``) surround a stage of the run and
may answer in its place. There are four forms:

* before, or instead: a plain or ``async`` function without ``proceed``. Change the arguments and return ``None`` to
continue, or return the answer.
* around: a function with ``proceed``. ``result = await proceed()`` runs everything further in; calling it twice
  retries; returning without calling it skips. Returning ``None`` after calling it keeps its result.
* around, but seldom with anything to do: marked ``@late(…)`` as well, which says for which answers and errors of what
  is further in it is entered at all, afterwards.
* around, in pluggy's own form: ``@hookimpl(wrapper=True)`` on a generator, ``result = yield`` … ``return result``.

*Questions* (``react_guide``, ``react_tool_permit``, ``react_sense``, ``react_settle``, ``react_check_answer``) are
asked of every plugin in order; so is ``react_ask``, until one has an answer.

*Events* (all others) report what happened.

Layers and questions fail closed: an exception ends the run, with a note that names plugin and hook. Events fail soft:
exceptions are logged and otherwise ignored. All forms nest strictly in plugin order, first plugin outermost;
``tryfirst`` and ``trylast`` move one implementation. Hooks run on the event-loop thread only, so plugins need no locks.
State of one run belongs in ``run.state(SomeClass)``, never on the plugin.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from react_run.messages import ModelResponse
    from react_run.outcome import Observation, Signal, Verdict
    from react_run.questions import Answer, Question
    from react_run.run import Iteration, Run, RunResult, ToolCall

hookimpl = pluggy.HookimplMarker("react_run")
hookspec = pluggy.HookspecMarker("react_run")


class Hooks:
    """All hooks, in the order in which a run calls them."""

    # -- the loop -------------------------------------------------------------------------------------------------

    @hookspec
    def react_guide(self, run: Run) -> str | None:
        """Question: text for the system prompt, once, before the loop starts (behaviour G1)."""

    @hookspec
    def react_run_started(self, run: Run) -> None:
        """Event: the run is set up, and its first layer is about to start."""

    @hookspec
    def react_run(self, run: Run, proceed: Callable[[], Awaitable[RunResult]]) -> RunResult | None:
        """Layer: the whole run. Only here may a plugin replace the result."""

    @hookspec
    def react_run_finished(self, run: Run, result: RunResult) -> None:
        """Event: the run ended with a result, whatever its stop reason."""

    @hookspec
    def react_run_failed(self, run: Run, error: BaseException) -> None:
        """Event: the run ended with an exception (a provider, a plugin, or cancellation)."""

    # -- one iteration --------------------------------------------------------------------------------------------

    @hookspec
    def react_iteration_started(self, run: Run, iteration: Iteration) -> None:
        """Event: an iteration begins; ``iteration.number`` counts from 1."""

    @hookspec
    def react_iteration(
        self, run: Run, iteration: Iteration, proceed: Callable[[], Awaitable[Iteration]]
    ) -> Iteration | None:
        """Layer: one iteration, that is one reply and all calls it requests, up to their tool messages."""

    @hookspec
    def react_iteration_finished(self, run: Run, iteration: Iteration) -> None:
        """Event: the iteration is over; ``iteration.calls`` have their observations."""

    @hookspec
    def react_model_call_started(self, run: Run, iteration: Iteration) -> None:
        """Event: ``iteration.request`` is about to be sent."""

    @hookspec
    def react_model_call(
        self, run: Run, iteration: Iteration, proceed: Callable[[], Awaitable[ModelResponse]]
    ) -> ModelResponse | None:
        """Layer: the model's answer to ``iteration.request``; a plugin may change the request first."""

    @hookspec
    def react_model_call_finished(self, run: Run, iteration: Iteration, response: ModelResponse) -> None:
        """Event: the model's reply was accepted as the reply of this iteration."""

    @hookspec
    def react_text_delta(self, run: Run, iteration: Iteration, text: str) -> None:
        """Event: a piece of the draft arrived. The model streams only if a plugin implements this hook."""

    @hookspec
    def react_text_discarded(self, run: Run, iteration: Iteration) -> None:
        """Event: the draft so far is withdrawn."""

    # -- one tool call --------------------------------------------------------------------------------------------

    @hookspec
    def react_tool_call_started(self, run: Run, call: ToolCall) -> None:
        """Event: a requested call is about to be handled (it may still be refused, or answered by a plugin)."""

    @hookspec
    def react_tool_call(
        self, run: Run, call: ToolCall, proceed: Callable[[], Awaitable[Observation]]
    ) -> Observation | None:
        """Layer: one requested call. The calls of one reply pass through this layer concurrently."""

    @hookspec
    def react_tool_permit(self, run: Run, call: ToolCall) -> Observation | None:
        """Question, asked by ``ToolCall.execute()`` with the final arguments: return an observation to refuse.

        No tool runs without it: a refusal, an exception, or arguments changed in the meantime prevent the tool from
        running.
        """

    @hookspec
    def react_tool_progress(
        self, run: Run, call: ToolCall, done: float | None, total: float | None, message: str
    ) -> None:
        """Event: a tool reported its progress with ``call.report()``; at most twenty times a second for each call."""

    @hookspec
    def react_tool_call_finished(self, run: Run, call: ToolCall, observation: Observation) -> None:
        """Event: the call has its observation (in chronological order, before the iteration is judged)."""

    # -- judgement, once all calls of an iteration have finished
    # ---------------------------------------------------------

    @hookspec
    def react_sense(
        self, run: Run, call: ToolCall, observation: Observation
    ) -> Signal | list[Signal] | tuple[Signal, ...] | None:
        """Question, for each executed call in request order: what a sensor says about it (behaviour G2)."""

    @hookspec
    def react_settle(self, run: Run, iteration: Iteration) -> None:
        """Question, once per iteration after the sensors: judge ``iteration.calls``, in request order.

        Nothing has been appended to the conversation yet: ``call.observation`` may be replaced, ``run.stop()`` called.
        """

    @hookspec
    def react_check_answer(self, run: Run, answer: str) -> Verdict | None:
        """Question: is the proposed answer accepted? Feedback goes back to the model verbatim (behaviour G3)."""

    # -- people ---------------------------------------------------------------------------------------------------

    @hookspec
    def react_asked(self, run: Run, question: Question) -> None:
        """Event: a person is about to be asked."""

    @hookspec
    def react_ask(self, run: Run, question: Question) -> object:
        """Question: a person's answer, as an ``Answer`` or a plain value; the first plugin that answers decides.

        ``None`` leaves it to the next plugin; the terminal comes last. ``Answer(None)`` says that the person cannot be
        asked.
        """

    @hookspec
    def react_decided(self, run: Run, question: Question, answer: Answer | None) -> None:
        """Event: a question was answered; ``None`` if the person cannot be asked."""

    # -- interventions ------------------------------------------------------------------------------------------

    @hookspec
    def react_guard_fired(self, run: Run, guard: str, detail: str) -> None:
        """Event: a guard, policy or plugin intervened; raised by ``run.note(guard, detail)``."""
