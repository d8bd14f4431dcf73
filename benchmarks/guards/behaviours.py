"""The behaviours: one fault each, with the persona that commits it, and how the run must end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.guards import mischief as m
from benchmarks.guards import tasks as t
from benchmarks.guards import world as w
from benchmarks.guards.model import Mischief, behaves
from react_run import Check, Run, Verdict

Make = Callable[[w.World], t.Task]


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """One way in which things go wrong.

    ``ends`` is the stop reason that must come of it; ``solved`` whether the answer must be right. ``iterations`` bounds
    the iterations beyond those that the same task takes without the fault. ``quiet`` behaviours are not faults: no
    guard fires.
    """

    name: str
    task: Make
    persona: str = "obedient"
    mischief: Mischief = behaves
    faults: Mapping[str, Callable[[w.World], object]] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    model: Mapping[str, Any] = field(default_factory=dict)
    world: Mapping[str, Any] = field(default_factory=dict)
    ends: str = "completed"
    solved: bool | None = None
    iterations: int = 3
    quiet: bool = False
    set_up: str = ""
    says: str = ""
    """A pattern that must be found in the answer."""

    @property
    def timed(self) -> bool:
        """Whether it is about time."""
        return bool({"tool_timeout", "run_timeout"} & self.config.keys())

    @property
    def must_solve(self) -> bool:
        """Whether the answer must be right."""
        return self.ends == "completed" if self.solved is None else self.solved


class Polite(Check):
    """The answer must be polite."""

    async def check(self, run: Run, answer: str) -> Verdict:
        return Verdict(accepted="pleasure" in answer, feedback="Answer politely: say that it is a pleasure.")


def one_by_one(pages: int) -> Make:
    """A sum that takes one iteration per page."""
    return lambda world: t.Sum(world, pages, batch=1)


def case(
    name: str, task: Make = t.Sum, persona: str = "obedient", mischief: Mischief = behaves, **more: Any
) -> Behaviour:
    """A row of the table."""
    return Behaviour(name=name, task=task, persona=persona, mischief=mischief, **more)


def alone(world: w.World) -> t.Task:
    """A sum of one page."""
    return t.Sum(world, 1)


def slowly(world: w.World) -> t.Task:
    """A sum over pages from a plain, slow tool."""
    return t.Sum(world, 3, tool="load")


EXHAUSTED = "tool_retry_exhausted"
SECONDS = {"tool_timeout": 0.3}
PARTLY = r"CARROT: \d+ without pages"

BEHAVIOURS = [
    # -- nothing is wrong: no guard may fire --------------------------------------------------------------------------
    case("sum, clean", quiet=True, iterations=0),
    case("sum, page by page, clean", one_by_one(5), quiet=True, iterations=0),
    case("convert, clean", t.Convert, quiet=True, iterations=0),
    case("pay, clean", t.Pay, quiet=True, iterations=0),
    case("honest polling", t.Poll, quiet=True, iterations=0),
    case("reading again after a write", t.Note, quiet=True, iterations=0),
    case("no tool needed", t.Greet, quiet=True, iterations=0),
    # -- arguments ----------------------------------------------------------------------------------------------------
    case("schema echoed for an optional value", persona="stubborn", mischief=m.argument("upper", {"type": "boolean"})),
    case("schema echoed for a required value", mischief=m.argument("page", {"type": "integer"})),
    case("numbers as text", persona="stubborn", mischief=m.reshaped("page", str)),
    case("whole numbers as floats", persona="stubborn", mischief=m.reshaped("page", float)),  # type: ignore[arg-type]  # they are numbers
    case("booleans as text", persona="stubborn", mischief=m.argument("upper", "false")),
    case("an invented parameter", persona="stubborn", mischief=m.argument("verbose", True)),
    case("a required parameter missing", mischief=m.argument("page", ...)),
    case(
        "a required parameter missing for ever",
        persona="stubborn",
        mischief=m.argument("amount", ...),
        task=t.Convert,
        ends=EXHAUSTED,
    ),
    case("cut-off JSON", mischief=m.cut_json),
    case("arguments as an array", mischief=m.raw("[%s]")),
    case("arguments encoded twice", persona="stubborn", mischief=m.encoded_twice),
    case("a lone value for an array", alone, "stubborn", m.reshaped("numbers", lambda value: value[0])),  # type: ignore[index]  # a list
    case("an array as text", persona="stubborn", mischief=m.reshaped("numbers", str)),
    case("arguments that are null", t.Poll, "stubborn", m.raw("null")),
    case("arguments that are nothing", t.Poll, "stubborn", m.raw(" ")),
    case("NaN for a number", mischief=m.raw('{"page": NaN}')),
    case("the same key twice", mischief=m.raw('{"page": 1, "page": 2}')),
    case("repeated ids", persona="stubborn", mischief=m.ids(lambda number: "call_1")),
    case("missing ids", persona="stubborn", mischief=m.ids(lambda number: "")),
    # -- the wrong tool -----------------------------------------------------------------------------------------------
    case("an unknown tool with a near name", mischief=m.renamed("fetsh")),
    case("an unknown tool with a far name", mischief=m.renamed("browse_the_web")),
    case("an unknown tool for ever", persona="stubborn", mischief=m.renamed("browse_the_web"), ends=EXHAUSTED),
    case("skills, used as meant", config={"tool_disclosure": "skills"}),
    case("a tool before it is disclosed", mischief=m.past_the_skill, config={"tool_disclosure": "skills"}),
    case(
        "an undisclosed tool for ever",
        persona="stubborn",
        mischief=m.past_the_skill,
        config={"tool_disclosure": "skills"},
        ends=EXHAUSTED,
    ),
    # -- again and again ----------------------------------------------------------------------------------------------
    case("the same call again", mischief=m.same_again),
    case("the same call again, slow to listen", persona="slow", mischief=m.same_again),
    case("the same call for ever", persona="stubborn", mischief=m.same_again, ends="stuck", iterations=4),
    case("paying again", t.Pay, mischief=m.same_again),
    case("paying again, slow to listen", t.Pay, "slow", m.same_again),
    case("paying for ever", t.Pay, "stubborn", m.same_again, ends="stuck", solved=True, iterations=4),
    case("paying twice in one reply", t.Pay, "stubborn", m.every_call_twice),
    case("every call twice", persona="stubborn", mischief=m.every_call_twice),
    case(
        "to and fro",
        persona="stubborn",
        mischief=m.to_and_fro,
        world={"archive": lambda world: "closed"},
        ends="stuck",
        iterations=8,
    ),
    case(
        "a job that never gets on", t.Poll, faults={"job_status": lambda world: "0 % done"}, ends="stuck", iterations=4
    ),
    case("the same search in shuffled words", t.Look, "slow", m.words_shuffled, iterations=2),
    case("searching without end", t.Look, "stubborn", m.words_without_end, ends=EXHAUSTED),
    # -- failures -----------------------------------------------------------------------------------------------------
    case("a wrong unit, corrected", t.Convert, mischief=m.argument("unit", "furlongs")),
    case("a wrong unit for ever", t.Convert, "stubborn", m.argument("unit", "furlongs"), ends=EXHAUSTED),
    case("a guess instead of a correction", t.Convert, "stubborn", m.guesses, ends="unresolved_tool_failure"),
    case("a question only the user can answer", t.Ambiguous, ends="clarification_required"),
    case("something nobody can do", t.Impossible, ends="tool_failure"),
    case("one of three parallel calls raises", faults={"fetch": w.first(w.raises(lambda: OSError("gone")), "fetch")}),
    case("a tool that always raises", faults={"fetch": w.raises(lambda: OSError("gone"))}, ends=EXHAUSTED),
    case("a tool that exits", faults={"fetch": w.first(w.exits, "fetch")}),
    case("a tool that recurses for ever", faults={"fetch": w.first(w.deep, "fetch")}),
    case("a tool that cancels itself", faults={"fetch": w.first(w.raises(asyncio.CancelledError), "fetch")}),
    case(
        "a tool with an endless message", faults={"fetch": w.first(w.raises(lambda: ValueError("x" * 10**6)), "fetch")}
    ),
    case("odd return types", alone, faults={"fetch": w.odd_page}),
    # -- results that are too long ------------------------------------------------------------------------------------
    case("10 MB of text", t.Archive, iterations=1),
    case("200 000 elements", t.Archive, world={"archive": w.listed_archive}, iterations=1),
    case("long characters at every cut", t.Archive, world={"archive": w.wide_archive}, iterations=1),
    case("bytes that are not text", t.Archive, world={"archive": w.broken_archive}, ends="completed", solved=False),
    case("surrogates and control characters", t.Archive, world={"archive": w.decoded_badly}, iterations=1),
    case(
        "forty results of 20 KB in a reply", lambda world: t.Sum(world, 40), world={"page_size": 20_000}, iterations=2
    ),
    case("a run id that is a path", t.Archive, set_up="hostile id", iterations=1),
    case("a link where results are saved", t.Archive, set_up="link", solved=False, iterations=1),
    case("results that may not be saved", t.Archive, config={"spill": False}, solved=False, iterations=1),
    # -- time ---------------------------------------------------------------------------------------------------------
    case("an async tool that hangs", faults={"fetch": w.first(w.hang, "fetch")}, config=SECONDS),
    case("a blocking tool that hangs", slowly, faults={"load": w.first(w.block, "load")}, config=SECONDS),
    case("a program that hangs", faults={"fetch": w.first(w.hanging_program, "fetch")}, config=SECONDS),
    case("a tool that always hangs", faults={"fetch": w.hang}, config=SECONDS, ends=EXHAUSTED),
    case("a run that takes too long", faults={"fetch": w.hang}, config={"run_timeout": 0.4}, ends="timeout"),
    # -- replies that are not answers ----------------------------------------------------------------------------------
    case("an empty reply", mischief=m.said("", only=1)),
    case("blanks only", mischief=m.said(" \n ", only=1)),
    case("an empty reply, slow to listen", persona="slow", mischief=m.said("", only=2), solved=False, iterations=0),
    case("empty replies for ever", persona="stubborn", mischief=m.said(""), ends="empty_reply"),
    case(
        "reasoning without an answer",
        persona="stubborn",
        mischief=m.said("", reasoning_content="Hm."),
        ends="empty_reply",
    ),
    case("reasoning up to the limit", persona="stubborn", mischief=m.said("", "length"), ends="output_limit"),
    case("a refusal", persona="stubborn", mischief=m.refused("refusal"), ends="refused"),
    case("a content filter", persona="stubborn", mischief=m.refused("content_filter"), ends="refused"),
    case("a cut answer", t.Greet, "stubborn", m.cut_answer(1), iterations=0),
    case("an answer cut twice", t.Greet, "stubborn", m.cut_answer(2), ends="output_limit", iterations=0),
    case("cut calls", mischief=m.cut_calls),
    case("cut calls for ever", persona="stubborn", mischief=m.cut_calls, ends="output_limit", iterations=3),
    # -- the budget of iterations -------------------------------------------------------------------------------------
    case("a budget of one", one_by_one(5), config={"max_iterations": 1}, ends="max_iterations", says=PARTLY),
    case("a budget that is too small", one_by_one(5), config={"max_iterations": 3}, ends="max_iterations", says=PARTLY),
    case(
        "a call in the forced turn",
        one_by_one(5),
        "slow",
        m.insists,
        config={"max_iterations": 3},
        ends="max_iterations",
        says=PARTLY,
    ),
    case(
        "calls in the forced turn for ever",
        one_by_one(5),
        "stubborn",
        m.insists,
        config={"max_iterations": 3},
        ends="max_iterations",
    ),
    case(
        "silence in the forced turn",
        one_by_one(5),
        "stubborn",
        m.silent_at_the_end,
        config={"max_iterations": 3},
        ends="max_iterations",
    ),
    case(
        "a budget that is heeded",
        lambda world: t.Hurried(world, 20, batch=1),
        config={"max_iterations": 8},
        ends="completed",
        solved=False,
        says=PARTLY,
    ),
    # -- the provider -------------------------------------------------------------------------------------------------
    case("too many requests", mischief=m.fails(2, status=429, retryable=True, retry_after=0.01)),
    case("a server that is down twice", mischief=m.fails(1, 2, status=503, retryable=True)),
    case("a lost connection", mischief=m.fails(2, retryable=True)),
    case("a broken body", mischief=m.fails(2, code="incomplete", retryable=True)),
    case("too many requests for ever", mischief=m.fails(status=429, retryable=True), ends="model_error"),
    case("a permanent error on the fifth call", one_by_one(5), mischief=m.fails(5, status=401), ends="model_error"),
    case(
        "a window that is known",
        one_by_one(40),
        world={"page_size": 2_000},
        model={"hard_window": 8_000, "window": 8_000},
        config={"max_iterations": 60},
    ),
    case(
        "a window that nobody knows",
        one_by_one(40),
        world={"page_size": 2_000},
        model={"hard_window": 8_000},
        config={"max_iterations": 60},
    ),
    # -- money and tokens ---------------------------------------------------------------------------------------------
    case("money that runs out", one_by_one(9), config={"max_cost": 0.003}, ends="cost_limit"),
    case(
        "a price that is unknown", one_by_one(9), config={"max_cost": 5.0}, model={"priced": False}, ends="cost_limit"
    ),
    case("tokens that run out", one_by_one(9), config={"max_total_tokens": 3_000}, ends="token_limit"),
    # -- answers that are not accepted --------------------------------------------------------------------------------
    case("an answer that a check refuses", t.Greet, mischief=m.curt, config={"checks": [Polite()]}, iterations=1),
    case(
        "an answer that a check always refuses",
        t.Greet,
        "stubborn",
        m.curt,
        config={"checks": [Polite()]},
        ends="unaccepted",
    ),
]
