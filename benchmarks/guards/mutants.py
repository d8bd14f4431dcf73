"""``python -m benchmarks.guards.mutants``: weakens the runtime in many small ways; each has to be noticed by its probe.

A probe is a short scripted run and what must come of it. It passes as things are, and must fail under the mutant, which
is patched in for as long as the probe runs. So a guard that is emitted but does nothing, or does less, is found out.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks.guards.probes import (
    DONE,
    USED,
    Block,
    Check,
    Deny,
    Probe,
    at_once,
    children_cost,
    ends,
    fresh_ids,
    go,
    guided,
    iteration_ceiling,
    look,
    looked,
    moved_out,
    no_claim,
    not_offered,
    one_piece,
    own_results,
    paid,
    partial_answer,
    pay,
    pays_twice,
    remembered,
    retried,
    retry_after,
    safely,
    said,
    save,
    stale_read,
    succeeds,
    toolless_end,
    unknown_cost_goes_on,
    whole_spill,
    wipes_nothing,
)
from react_run import Verdict
from react_run.messages import NO_USAGE
from react_run.testing import calls, says


@dataclass(frozen=True)
class Mutant:
    """One weakening: what is replaced, by what, and the probe that must notice."""

    name: str
    target: str
    value: object
    probe: Probe


async def _false(*_: object) -> bool:
    return False


async def _none(*_: object) -> None:
    return None


async def _nothing(*_: object) -> dict[Any, str]:
    return {}


async def _no_texts(*_: object) -> list[str]:
    return []


async def _passes(*_: object) -> Verdict:
    return Verdict(accepted=True)


def _rotated(record: Callable[..., None]) -> Callable[..., None]:
    def mutated(self: Any, iteration: Any) -> None:
        seen = [call.observation for call in iteration.calls]
        for call, observation in zip(iteration.calls, seen[1:] + seen[:1], strict=True):
            call.observation = observation
        record(self, iteration)

    return mutated


def _original(target: str) -> Any:
    module, _, path = target.partition(":")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


P, E = "react_run.policies.", "react_run.engine."
S = f"{E}standing:"
TWICE = calls(("look", {"x": "two kites"}), ("look", {"x": "kites"}))
LONG_WAY = [look(f"bad{n} x") for n in range(9)]
FETCHES = [calls(("fetch", {"x": n})) for n in range(6)]


def mutants() -> list[Mutant]:
    """All of them."""
    return [
        # what stands
        Mutant("nothing ever stands", f"{S}Standing.settle", lambda *_: None, succeeds(False, look("bad unit"))),
        Mutant(
            "any success clears everything",
            f"{S}_is_cleared",
            lambda f, s, **_: bool(s),
            succeeds(False, pay(), look("bad a"), calls(("poll", {}))),
        ),
        Mutant(
            "no success clears anything",
            f"{S}_is_cleared",
            lambda *_, **__: False,
            succeeds(True, look("bad a"), look("a")),
        ),
        Mutant(
            "every run with an answer is a success",
            f"{S}Standing.sound",
            True,
            succeeds(False, pay(), plugins=lambda: [Deny()]),
        ),
        Mutant(
            "a denial does not matter",
            f"{S}Failure.serious",
            property(lambda f: not f.call.opaque),
            succeeds(False, pay(), look("a"), plugins=lambda: [Deny()]),
        ),
        Mutant(
            "all calls in vain do not matter",
            f"{S}Standing.sound",
            property(lambda s: not any(f.serious for f in s.failures)),
            succeeds(False, calls(("nowhere", {}))),
        ),
        Mutant(
            "looking mends what a sensor blocked",
            f"{S}_same_place",
            lambda *_: True,
            succeeds(False, save("a.py"), save("b.py"), plugins=lambda: [Block()]),
        ),
        Mutant(
            "nothing mends what a sensor blocked",
            f"{S}_is_passed",
            lambda *_: False,
            succeeds(True, save("a.py"), save("a.py"), plugins=lambda: [Block()]),
        ),
        Mutant(
            "another payment mends a payment",
            f"{S}_does_again",
            lambda *_: True,
            lambda: pays_twice("bob", "ann") is False,
        ),
        Mutant(
            "no payment mends a payment", f"{S}_does_again", lambda *_: False, lambda: pays_twice("bob", "bob") is True
        ),
        Mutant(
            "no words are shared",
            f"{S}words",
            lambda *_, **__: frozenset(),
            succeeds(True, calls(("look", {"x": "none kites"}), ("weigh", {"x": "kites"}))),
        ),
        Mutant(
            "all words are shared",
            f"{S}words",
            lambda *_, **__: frozenset("x"),
            succeeds(False, calls(("look", {"x": "none kites"}), ("look", {"x": "storks"}))),
        ),
        Mutant(
            "all tools are of one group",
            f"{S}_of_one_group",
            lambda *_: True,
            succeeds(False, look("none kites"), calls(("weigh", {"x": "storks"}))),
        ),
        Mutant(
            "an earlier result is a success of its own",
            "react_run.run:ToolCall.succeeded",
            property(lambda c: c.observation is not None and not c.observation.failed),
            lambda: go(look("a b"), look("bad b a"), look("a b"), DONE).success is False,
        ),
        # duplicate calls
        Mutant(
            "nothing is remembered",
            f"{P}duplicate_calls:DuplicateCalls._remember",
            lambda *_: None,
            paid(1, pay(), pay()),
        ),
        Mutant("reads never go stale", f"{P}duplicate_calls:goes_stale", lambda *_, **__: False, stale_read),
        Mutant(
            "payments go stale",
            f"{P}duplicate_calls:goes_stale",
            lambda *_, **__: True,
            paid(1, pay(), save("a"), pay()),
        ),
        Mutant(
            "lost connections are ordinary errors",
            f"{E}execution:is_lost",
            lambda *_: False,
            paid(1, pay(), pay(), error=ConnectionResetError("gone")),
        ),
        Mutant(
            "every error is a lost connection",
            f"{E}execution:is_lost",
            lambda *_: True,
            paid(2, pay(), pay(), error=ValueError("no")),
        ),
        Mutant(
            "identical means identical text",
            "react_run.run:identity",
            lambda given: repr(list(given.items())),
            looked(1, look("a", n=2), calls(("look", {"n": 2, "x": "a"}))),
        ),
        Mutant(
            "defaults make another call", "react_run.tools.tool:Tool.defaults", {}, looked(1, look("a"), look("a", n=1))
        ),
        Mutant(
            "searches are compared literally",
            f"{P}duplicate_calls:loose",
            lambda given: repr(given),
            looked(1, look("none red kite"), look("none KITE, red")),
        ),
        Mutant(
            "calls of one reply are not compared",
            f"{P}duplicate_calls:Memory.first",
            lambda self, key, call: self.current.setdefault((key, id(call)), call),
            remembered(1),
        ),
        Mutant(
            "nobody is told that a call ran once",
            f"{P}duplicate_calls:ONCE",
            "",
            said("It ran once", calls(("look", {"x": "a"}), ("look", {"x": "a"})), DONE, step=1),
        ),
        Mutant(
            "the notice of a repeat says nothing",
            f"{P}duplicate_calls:SAME",
            "Again.",
            said("You already ran this exact call", look("a"), look("a"), DONE, step=1),
        ),
        Mutant("compaction is not remembered", "react_run.engine.context:MovedOut.compare", lambda *_: None, moved_out),
        # failures
        Mutant(
            "corrections without end",
            f"{P}failures:Ledger.add",
            lambda *_: 0,
            ends("tool_retry_exhausted", look("bad a"), look("bad b"), DONE),
        ),
        Mutant(
            "failures end nothing",
            f"{P}failures:Failures._end",
            lambda *_: None,
            ends("clarification_required", look("ask"), DONE),
        ),
        Mutant(
            "opaque failures count by tool",
            f"{P}failures:key_of",
            lambda call, outcome: (call.name, "x"),
            ends("completed", *FETCHES[:2], DONE),
        ),
        Mutant(
            "every failure ends the run",
            f"{P}failures:Ledger.add",
            lambda *_: 9,
            ends("completed", look("bad a"), look("a"), DONE),
        ),
        Mutant(
            "a success corrects nothing",
            f"{P}failures:Ledger.clear",
            lambda *_: None,
            ends("completed", look("bad a"), look("a"), look("bad b"), look("b"), DONE),
        ),
        # what stands
        Mutant(
            "any later search answers one that found nothing",
            "react_run.engine.standing:_is_reworded",
            lambda *_: True,
            ends("unresolved_tool_failure", look("none kites"), look("storks"), DONE),
        ),
        Mutant(
            "a search in other words answers nothing",
            "react_run.engine.standing:_is_reworded",
            lambda *_: False,
            ends("completed", look("none go"), look("milvus"), DONE),
        ),
        # getting stuck
        Mutant("no nudge", f"{P}stuck:NUDGE", "", said("repeating yourself", *[look("a")] * 3, DONE, step=2)),
        Mutant("stuck runs go on", f"{P}stuck:Stuck._react", lambda *_: None, ends("stuck", *[look("a")] * 5, DONE)),
        Mutant(
            "polling is a loop at once",
            f"{P}stuck:Answers.is_old",
            _impatient(),
            ends("completed", *[calls(("poll", {}))] * 5, DONE),
        ),
        Mutant(
            "polling is never a loop",
            f"{P}stuck:Answers.is_old",
            lambda *_: False,
            ends("stuck", *[calls(("poll", {}))] * 9, DONE),
        ),
        Mutant(
            "failing for ever is no loop",
            f"{P}stuck:Stuck._look_for_failing",
            lambda *_: None,
            ends("stuck", *FETCHES, DONE),
        ),
        Mutant(
            "all stale iterations are the same",
            f"{P}stuck:_key",
            lambda *_: ("x", "x"),
            ends("completed", *[look(x) for x in "abcabc"], DONE),
        ),
        # grounding
        Mutant("claims are answers", f"{P}grounding:said_by_the_model", lambda *_: None, no_claim),
        Mutant(
            "verified facts are left out",
            f"{P}grounding:grounded",
            lambda *_: "Unresolved",
            said("kites weighs 3", calls(("weigh", {"x": "kites"})), look("bad a"), says("42")),
        ),
        Mutant("nothing is told when the provider fails", f"{P}grounding:grounded", lambda *_: "", partial_answer),
        # replies
        Mutant(
            "an empty reply is an answer",
            f"{P}reply_checks:is_empty",
            lambda *_: False,
            said("hi", says(""), says("hi")),
        ),
        Mutant(
            "markup is an answer",
            f"{P}reply_checks:called_in_text",
            _false,
            said("hi", says('{"name": "look", "arguments": {"x": "a"}}'), says("hi")),
        ),
        Mutant(
            "a continuation takes the place of the answer",
            "react_run.messages:Message.text",
            property(lambda m: str(m.content)[-3:]),
            one_piece,
        ),
        Mutant(
            "refusals are answers",
            f"{P}reply_checks:REFUSALS",
            frozenset(),
            ends("refused", says("no", finish_reason="refusal")),
        ),
        # limits
        Mutant(
            "no limit holds",
            f"{P}limits:RunLimits._exceeded",
            lambda *_: None,
            ends("token_limit", calls(("look", {"x": "a"}), **USED), DONE, max_total_tokens=10),
        ),
        Mutant("failed attempts cost nothing", f"{E}worst_case:worst_case", lambda *_: NO_USAGE, unknown_cost_goes_on),
        Mutant(
            "the usage of subagents is dropped",
            f"{E}usage:spend",
            lambda run, usage, at_most=None: setattr(run, "usage", run.usage + usage),
            children_cost,
        ),
        Mutant("the forced turn offers tools", f"{P}last_answer:new_request", _offering(), toolless_end),
        Mutant(
            "no warning before a limit",
            f"{P}budget_warnings:budgets",
            lambda *_: iter(()),
            said("50% of the", *[look(f"a{n}") for n in range(4)], DONE, step=3, max_iterations=8),
        ),
        # the provider
        Mutant(
            "Retry-After is ignored",
            f"{P}model_retries:ModelRetries.wait",
            lambda self, failed, error: 0.001 if failed < 4 else None,
            retry_after,
        ),
        Mutant(
            "fifty retries instead of four",
            f"{P}model_retries:ModelRetries.wait",
            lambda self, failed, error: error.retry_after or 0.0,
            retry_after,
        ),
        Mutant("no retries", f"{P}model_retries:ModelRetries.wait", lambda *_: None, safely(retried)),
        # the engine
        Mutant(
            "results are rotated among their calls",
            "react_run.loop:record",
            _rotated(_original("react_run.loop:record")),
            own_results,
        ),
        Mutant(
            "calls run one after the other",
            f"{E}iteration:gather_ordered",
            _one_by_one(_original(f"{E}concurrency:gather_ordered")),
            at_once,
        ),
        Mutant(
            "permission is never asked",
            f"{E}execution:_permission",
            _none,
            lambda: go(pay(), DONE, plugins=[Deny()]).steps[0].executed is False,
        ),
        Mutant(
            "sensors are never asked",
            f"{E}iteration:sense",
            _nothing,
            succeeds(False, save("a.py"), plugins=lambda: [Block()]),
        ),
        Mutant("guides are dropped", "react_run.agent:guide_texts", _no_texts, guided),
        Mutant(
            "error texts are unbounded",
            f"{E}execution:MAX_ERROR",
            10**6,
            lambda: len(go(FETCHES[0], DONE).steps[0].observation) < 500,
        ),
        Mutant("what was not offered runs", "react_run.loop:names_of", lambda *_: None, not_offered),
        Mutant(
            "repeated ids are kept", f"{E}iteration:_with_own_ids", lambda run, requests: requests, safely(fresh_ids)
        ),
        Mutant(
            "a deadline is ten times as long",
            f"{E}supervision:Timer",
            _slow_timer(),
            lambda: go(calls(("hang", {})), DONE).steps[0].error_code == "timeout",
        ),
        # arguments
        Mutant(
            "misnamed arguments are dropped",
            "react_run.tools.arguments.preparation:misnamed",
            lambda *_: "",
            wipes_nothing,
        ),
        Mutant(
            "wrapped arguments are not unwrapped",
            "react_run.tools.arguments.preparation:_wrapped",
            lambda *_: None,
            lambda: go(calls(("look", {"arguments": {"x": "a"}})), DONE).steps[0].observation.startswith("a seen"),
        ),
        Mutant(
            "arguments are not repaired",
            "react_run.tools.arguments.preparation:repair_properties",
            lambda *_, **__: [],
            lambda: go(calls(("nap", {"x": "1"})), DONE).steps[0].failed is False,
        ),
        # results
        Mutant(
            "no ceiling",
            f"{P}result_limit:size_of",
            lambda text: 0,
            lambda: len(go(calls(("long", {})), DONE).steps[0].observation) < 25_000,
        ),
        Mutant("no ceiling for an iteration", f"{P}result_limit:ROUND", 10**6, iteration_ceiling),
        Mutant(
            "half of a result is saved", f"{P}spill:write_new", _half(_original(f"{P}spill:write_new")), whole_spill
        ),
        # checks
        Mutant(
            "checks are not asked",
            "react_run.loop:ask_one",
            _none,
            lambda: go(says("bad"), says("good"), plugins=[Check()]).answer == "good",
        ),
        Mutant(
            "a refusal of a check is forgotten",
            "react_run.loop:_verdict",
            _passes,
            lambda: go(says("bad"), says("good"), plugins=[Check()]).answer == "good",
        ),
    ]


def _impatient() -> Callable[..., bool]:
    original = _original("react_run.policies.stuck:Answers.is_old")

    def mutated(self: Any, key: Any, call: Any, patience: int) -> bool:
        return bool(original(self, key, call, 2))

    return mutated


def _offering() -> Callable[..., Any]:
    original = _original(f"{E}iteration:new_request")
    return lambda run, *, tools=None, tool_choice=None: original(run, tool_choice=tool_choice)


def _one_by_one(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda jobs, limit: original(jobs, 1)


def _slow_timer() -> Callable[..., Any]:
    original = _original("react_run.engine.supervision:Timer")
    return lambda paused, seconds, expire: original(paused, 20 * seconds, expire)


def _half(original: Callable[..., None]) -> Callable[..., None]:
    return lambda root, folders, name, text: original(root, folders, name, text[: len(text) // 2])


@contextmanager
def patched(target: str, value: object) -> Iterator[None]:
    """The attribute that ``target`` names, such as ``module:Class.method``, replaced while inside."""
    module, _, path = target.partition(":")
    *owners, name = path.split(".")
    owner: Any = importlib.import_module(module)
    for part in owners:
        owner = getattr(owner, part)
    before = owner.__dict__[name]
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def noticed(mutant: Mutant) -> bool:
    """Whether the probe of ``mutant`` fails under it."""
    with patched(mutant.target, mutant.value):
        try:
            return not mutant.probe()
        except Exception:  # a run that breaks is noticed, too
            return True


def survey() -> tuple[list[str], list[str]]:
    """The names of the mutants that nobody noticed, and of those whose probe fails as things are."""
    listed = mutants()
    missed = [mutant.name for mutant in listed if not noticed(mutant)]
    wrong = [mutant.name for mutant in listed if not mutant.probe()]
    return missed, wrong


def main() -> int:
    """Run all mutants; the exit status says whether each was noticed."""
    logging.disable(logging.CRITICAL)
    started, here = time.perf_counter(), os.getcwd()
    with tempfile.TemporaryDirectory(prefix="guard-mutants-") as directory:
        os.chdir(directory)
        try:
            missed, wrong = survey()
        finally:
            os.chdir(here)
    for name in missed:
        print(f"not noticed: {name}")
    for name in wrong:
        print(f"fails without the mutant: {name}")
    count = len(mutants())
    print(f"{count - len(missed)} of {count} mutants noticed, {time.perf_counter() - started:.0f} s")
    return 1 if missed or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
