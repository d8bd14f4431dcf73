"""Right agents that look things up and answer: what looks like a failure, a loop or no answer, and is none."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.guards.driving import Call, Driven, Move, Plan, State
from benchmarks.guards.right_changes import FILES, Refuses
from react_run import Check, NoResult, ReActSkillSpec, ReActToolset, Run, ToolError, Verdict, tool

Made = tuple[Plan, Callable[[], bool]]
LOOK: dict[str, Any] = {"read_only": True}


def moves(*given: Move) -> Plan:
    """Make some moves, whatever comes of them."""
    for move in given:  # noqa: UP028  # a tuple takes nothing that is sent
        yield move


def plain(*given: Move) -> Callable[[State], Made]:
    """An agent that makes some moves with the tools of :func:`offer_sources`."""

    def make(state: State) -> Made:
        offer_sources(state)
        return moves(*given), lambda: True

    return make


def offer_sources(state: State) -> None:
    """Tools that know a little."""
    facts = {"kite": "a bird of prey", "milvus": "a bird of prey", "chomolungma": "8849 metres", "stork": "a wader"}
    faults: dict[str, list[BaseException]] = {
        "slow": [TimeoutError("late")],
        "down": [ConnectionError("down")],
        "odd": [ValueError("odd")],
    }

    def find(source: str) -> Callable[[str], str]:
        def look(q: str) -> str:
            if faults.get(q):
                raise faults[q].pop()
            if q.startswith("?"):
                raise ToolError(f"{q} is not a question", code="form")
            known = [text for name, text in facts.items() if name in q.lower()]
            if not known or (source == "small" and "kite" in q.lower()):
                raise NoResult(f"nothing about {q}")
            return f"{source}: {known[0]}"

        return look

    for source in ("big", "small"):
        state.offer(source, find(source), **LOOK)
    state.offer("clock", lambda: "12:00", read_only=True, repeatable=True)

    def page(number: int) -> str:
        return f"page {number}: " + "lorem ipsum " * 150

    state.offer("page", page, **LOOK)
    state.offer("archive", lambda: "x\n" * 30_000 + "NEEDLE (42)\n" + "y\n" * 9_000, **LOOK)


def big(q: str) -> Call:
    """Ask the encyclopaedia that knows more."""
    return "big", {"q": q}


def small(q: str) -> Call:
    """Ask the one that knows less."""
    return "small", {"q": q}


def pages(*numbers: int) -> list[Move]:
    """Read pages, one by one."""
    return [[("page", {"number": number})] for number in numbers]


SUMS: list[Call] = [("calculate", {"expression": text}) for text in ("2 +", "2+2")]
ARCHIVE: Move = [("archive", {})]
NEEDLE: Call = ("search_result", {"name": "1-archive.txt", "pattern": "NEEDLE"})


def looking_up() -> Iterator[Driven]:
    """Looking things up: hedging, asking again, asking somewhere else."""
    mount, bird = "How high is Mount Everest?", "What is a kite?"
    yield Driven(name="a wrong and a right sum in one reply", make=plain(SUMS, "It is 4."), config={"toolset": "math"})
    yield Driven(
        name="a right and a wrong sum in one reply", make=plain(SUMS[::-1], "It is 4."), config={"toolset": "math"}
    )
    yield Driven(
        name="a wrong sum, then a right one", make=plain([SUMS[0]], [SUMS[1]], "It is 4."), config={"toolset": "math"}
    )
    for name, asked in {
        "two sources, one empty": [[small("kite"), big("kite")]],
        "two sources, the other order": [[big("kite"), small("kite")]],
        "two sources, one after the other": [[small("kite")], [big("kite")]],
        "the same thing in more words": [[small("red kite")], [big("the red kite, a bird")]],
        "two things, one source": [[big("kite"), big("stork")]],
        "a form that was wrong": [[big("?kite")], [big("kite")]],
        "a form that was wrong, elsewhere": [[big("? kite")], [small("stork or kite"), big("a kite")]],
    }.items():
        yield Driven(name=name, make=plain(*asked, "It is a bird."), prompt=bird)
    yield Driven(
        name="a search in other words",
        make=plain([big("Mount Everest")], [big("Chomolungma")], "8849 m."),
        prompt=mount,
    )
    yield Driven(
        name="a search in other words, with the clock beside",
        make=plain([big("Mount Everest"), ("clock", {})], [big("Chomolungma"), ("clock", {})], "8849 m."),
        prompt=mount,
    )
    for fault in ("slow", "down", "odd"):
        asked_again: list[Move] = [[big(fault)], [big(f"{fault} stork")], "It is a wader."]
        yield Driven(name=f"asking again after a fault ({fault})", make=plain(*asked_again))
    yield Driven(name="a tool that is not there", make=plain([("google", {"q": "kite"})], [big("kite")], "A bird."))
    yield Driven(name="a near name of a tool", make=plain([("bigg", {"q": "kite"})], [big("kite")], "A bird."))
    yield Driven(name="a misnamed argument", make=plain([("big", {"query": "kite"})], [big("kite")], "A bird."))
    yield Driven(name="wrapped arguments", make=plain([("big", {"arguments": {"q": "kite"}})], "A bird."))
    yield Driven(name="refused here, found there", make=plain([small("stork")], [big("stork")], "A wader."),
                 plugins=lambda: [Refuses("small")])  # fmt: skip
    for name, call in {
        "a search": ("search_files", {"pattern": "TODO"}),
        "a glob": ("find_files", {"pattern": "**/*.rs"}),
        "a list": ("list_directory", {}),
    }.items():
        yield Driven(
            name=f"nothing is there, by {name}", make=plain([call], "There is none."), config={"toolsets": FILES}
        )
    yield Driven(name="the clock, again and again", make=plain(*[[("clock", {})]] * 5, "It is noon."))
    yield Driven(name="one question twice in a reply", make=plain([big("kite"), big("kite")], "A bird."))
    yield Driven(name="looking once more at three pages", make=plain(*pages(1, 2, 3, 1, 2, 3), "It says lorem."))
    yield Driven(name="to a page and back", make=plain(*pages(1, 2, 1), "It says lorem."))
    yield Driven(
        name="pages that compaction took away",
        make=plain(*pages(*range(12), 1, 2, 3), "It says lorem."),
        model={"window": 6000},
        config={"max_iterations": 40},
    )
    for wrong in (
        ("search_result", {"name": "1-archive.txt", "pattern": "NEEDLE ("}),
        ("search_result", {"name": "archive", "pattern": "NEEDLE"}),
        ("read_result", {"name": "1-archive.txt", "offset": 10**9}),
    ):
        yield Driven(
            name=f"reading on, wrongly ({', '.join(map(str, wrong[1].values()))})",
            make=plain(ARCHIVE, [wrong], [NEEDLE], "It is 42."),
        )
    yield Driven(
        name="reading on in parts",
        make=plain(
            ARCHIVE, *[[("read_result", {"name": "1-archive.txt", "offset": 9_000 * n})] for n in range(5)], "42."
        ),
    )


# -- answers ----------------------------------------------------------------------------------------------------------


class Signed(Check):
    """The answer must be signed."""

    async def check(self, run: Run, answer: str) -> Verdict:
        return Verdict(accepted=answer.endswith("Yours, A."), feedback="Sign it: Yours, A.")


CUT = {"text": "It is a bird of ", "finish_reason": "length"}


def continued(state: State) -> Made:
    """An answer that the limit cuts, and that goes on when asked to."""

    def plan() -> Plan:
        yield CUT
        yield "prey."

    return plan(), lambda: True


def answering() -> Iterator[Driven]:
    """Answers of odd forms."""
    for name, answer in {
        "no": "No.",
        "a nought": "0",
        "Error as a word": "Error: that is what the log says.",
        "a list": "[1, 2, 3]",
        "JSON": '{"bird": "kite"}',
        "JSON in a fence": '```json\n{"bird": "kite", "arguments": {"q": "kite"}}\n```',
        "JSON with the name of a tool": '{"tool": "big"} is how to ask.',
        "a call as an example": 'Write <tool_call>{"name": "big"}</tool_call> to ask.',
        "code": "```python\nbig('kite')\n```",
        "a tag": "<b>A bird.</b>",
        "what is unresolved": "Unresolved: whether kites swim.",
        "a language without spaces": "鳶は鳥です。",
    }.items():
        yield Driven(name=f"an answer that is {name}", make=plain([big("kite")], answer))
    yield Driven(
        name="an answer that the schema asks for, and that looks like a call",
        make=plain([big("kite")], json.dumps({"name": "big", "arguments": {"q": "x"}})),
        config={"output_schema": {"type": "object", "required": ["name"]}},
    )
    yield Driven(name="an answer that was cut and continued", make=continued, answer="It is a bird of prey.")
    yield Driven(
        name="an answer behind a thought",
        make=plain([big("kite")], {"text": "<think>It is a bird.</think>A bird."}),
        answer="A bird.",
    )
    yield Driven(name="an answer without tools", make=plain("Hello."))
    yield Driven(
        name="an answer that is signed when asked to",
        make=plain([big("kite")], "A bird.", "A bird. Yours, A."),
        config={"checks": [Signed()]},
    )
    yield Driven(
        name="an answer that had to use a tool",
        make=plain("A bird.", [big("kite")], "A bird, I looked it up."),
        config={"checks": ["tool_used"]},
    )
    yield Driven(
        name="an answer about a file that is there",
        make=plain([("write_file", {"path": "a.txt", "content": "x"})], "It is written."),
        config={"checks": [{"kind": "files_exist", "files": ["a.txt"]}], "toolsets": FILES},
    )


# -- limits and skills ------------------------------------------------------------------------------------------------


class Trade(ReActToolset):
    """Two skills."""

    @tool(read_only=True)
    def price(self, item: str) -> str:
        """The price."""
        return f"{item} costs 5"

    @tool(read_only=False)
    def order(self, item: str) -> str:
        """Order."""
        return f"ordered {item}"

    def get_skill_specs(self) -> list[ReActSkillSpec]:
        return [
            ReActSkillSpec(name="prices", description="What things cost.", tool_names=("price",)),
            ReActSkillSpec(name="orders", description="Ordering things.", tool_names=("order",)),
        ]


def activate(*skills: str) -> Move:
    """Activate skills."""
    return [("activate_tool_skill", {"skill": skill}) for skill in skills]


def within_limits() -> Iterator[Driven]:
    """Runs that use what they may use, and skills."""
    yield Driven(name="the last iteration allowed", make=plain(*pages(1, 2, 3), "Lorem."), config={"max_iterations": 4})
    yield Driven(name="most of the money", make=plain(*pages(1, 2, 3), "Lorem."), config={"max_cost": 0.0049})
    yield Driven(name="most of the tokens", make=plain(*pages(1, 2, 3), "Lorem."), config={"max_total_tokens": 70})
    yield Driven(name="thirty different pages", make=plain(*pages(*range(30)), "Lorem."), config={"max_iterations": 40})
    price, order = ("price", {"item": "tea"}), ("order", {"item": "tea"})
    for name, asked in {
        "one skill after the other": [activate("prices"), [price], activate("orders"), [order]],
        "two skills in a reply": [activate("prices", "orders"), [price, order]],
        "a tool before its skill": [[price], activate("prices"), [price]],
        "a skill twice": [activate("prices"), activate("prices"), [price]],
        "a skill that is misspelt": [activate("price"), activate("prices"), [price]],
    }.items():
        yield Driven(
            name=name,
            make=lambda state, asked=asked: (moves(*asked, "It costs 5."), lambda: True),  # type: ignore[misc]
            toolsets=lambda: [Trade()],
            config={"tool_disclosure": "skills"},
        )
