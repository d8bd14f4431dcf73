"""Right agents that change things: what looks like a repeat or a loop, and is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from benchmarks.guards.driving import Call, Driven, Plan, State
from react_run import Observation, Signal, ToolCall, ToolError, hookimpl, inline

Made = tuple[Plan, Callable[[], bool]]

MARKS: dict[str, dict[str, object]] = {
    "unmarked": {},
    "marked": {"read_only": False},
    "idempotent": {"read_only": False, "idempotent": True},
    "read only": {"read_only": True},
    "repeatable": {"repeatable": True},
}


def one_by_one(*asked: Call) -> Plan:
    """Make calls one after the other, and say that they are made."""
    for call in asked:
        yield [call]
    yield "It is done."


# -- reading what was changed -----------------------------------------------------------------------------------------


def balance(state: State, read: str, change: str) -> Made:
    """Look, send money, look again, and say what is left."""
    left = [100]

    def transfer(amount: int) -> str:
        left[0] -= amount
        return "sent"

    state.offer("get_balance", lambda: left[0], **MARKS[read])
    state.offer("transfer", transfer, **MARKS[change])
    seen: list[str] = []

    def plan() -> Plan:
        yield [("get_balance", {})]
        yield [("transfer", {"amount": 30})]
        seen.extend((yield [("get_balance", {})]))
        yield f"There are {seen[0]} left."

    return plan(), lambda: left == [70] and seen == ["70"]


def listing(state: State, read: str, change: str) -> Made:
    """Add three items, and look at the list after each."""
    items: list[str] = []

    def add_item(name: str) -> str:
        items.append(name)
        return "added"

    state.offer("list_items", lambda: ",".join(items) or "none", **MARKS[read])
    state.offer("add_item", add_item, **MARKS[change])
    seen: list[str] = []

    def plan() -> Plan:
        seen.extend((yield [("list_items", {})]))
        for name in ("milk", "salt", "tea"):
            yield [("add_item", {"name": name})]
            seen.extend((yield [("list_items", {})]))
        yield f"On the list: {seen[-1]}."

    return plan(), lambda: seen == ["none", "milk", "milk,salt", "milk,salt,tea"]


def note(state: State, read: str, change: str) -> Made:
    """Write, read, write something else, read, and write the first text again."""
    text = [""]

    def write(to: str) -> str:
        text[0] = to
        return "written"

    state.offer("read", lambda: text[0], **MARKS[read])
    state.offer("write", write, **MARKS["idempotent" if change == "marked" else change])

    def plan() -> Plan:
        for to in ("one", "two", "one"):
            yield [("write", {"to": to})]
            (found,) = yield [("read", {})]
        yield f"It says {found}."

    return plan(), lambda: text == ["one"]


# -- doing again what was undone --------------------------------------------------------------------------------------


def setter(state: State, mark: str, values: list[int]) -> Made:
    """Set a value several times, the first one again at the end."""
    value = [-1]

    def set_value(v: int) -> str:
        value[0] = v
        return "set"

    state.offer("set_value", set_value, **MARKS[mark])
    return one_by_one(*(("set_value", {"v": v}) for v in values)), lambda: value == values[-1:]


def toggles(state: State, times: int) -> Made:
    """Press a button several times."""
    on = [False]

    def press() -> str:
        on[0] = not on[0]
        return "on" if on[0] else "off"

    state.offer("press", press, **MARKS["repeatable"])
    return one_by_one(*[("press", {})] * times), lambda: on == [times % 2 == 1]


def renaming(state: State) -> Made:
    """Rename a file, name it back, and rename it after all."""
    (state.folder / "a").write_text("x", encoding="utf-8")

    def move(old: str, new: str) -> str:
        (state.folder / old).rename(state.folder / new)
        return "moved"

    state.offer("move", move, **MARKS["idempotent"])
    there, back = ("move", {"old": "a", "new": "b"}), ("move", {"old": "b", "new": "a"})
    return one_by_one(there, back, there), lambda: (state.folder / "b").exists() and not (state.folder / "a").exists()


def editing(state: State, steps: list[tuple[str, str]]) -> Made:
    """Edit a file, with an edit that was taken back."""
    (state.folder / "a.txt").write_text("x = 1\n", encoding="utf-8")
    edits: list[Call] = [("edit_file", {"path": "a.txt", "old_text": old, "new_text": new}) for old, new in steps]
    return one_by_one(*edits), lambda: (state.folder / "a.txt").read_text(encoding="utf-8") == f"{steps[-1][1]}\n"


def same_text(state: State) -> Made:
    """Write the same text into three files, and the first one again after another change."""
    paths = ["a.txt", "b.txt", "c.txt"]
    writes: list[Call] = [("write_file", {"path": path, "content": "x"}) for path in paths]
    other: Call = ("write_file", {"path": "a.txt", "content": "y"})
    plan = one_by_one(*writes, other, writes[0])
    return plan, lambda: all((state.folder / path).read_text(encoding="utf-8") == "x" for path in paths)


# -- asking again for what changes ------------------------------------------------------------------------------------


def polling(state: State, unchanged: int, waits: bool = False, jobs: int = 1) -> Made:
    """Ask how far jobs are until they are done."""
    asked = [0] * jobs

    def status(job: int) -> str:
        asked[job] += 1
        return "running" if asked[job] <= unchanged else f"done {job}"

    state.offer("status", status, read_only=True, repeatable=True)
    state.offer("pause", lambda: "paused", read_only=True, repeatable=True, bookkeeping=True)

    def plan() -> Plan:
        told = ["running"]
        while "running" in told:
            told = yield [("status", {"job": job}) for job in range(jobs)]
            if waits:
                yield [("pause", {})]
        yield f"They are done: {', '.join(told)}."

    return plan(), lambda: all(count == unchanged + 1 for count in asked)


def progress(state: State, steps: int) -> Made:
    """Watch a number grow."""
    seen = [0]

    def percent() -> str:
        seen[0] += 1
        return f"{100 * seen[0] // steps} %"

    state.offer("percent", percent, read_only=True, repeatable=True)
    return one_by_one(*[("percent", {})] * steps), lambda: seen == [steps]


def counting(state: State, rounds: int, each: int) -> Made:
    """Count, several times in a reply."""
    count = [0]

    def increment() -> int:
        count[0] += 1
        return count[0]

    state.offer("increment", increment, **MARKS["repeatable"])

    def plan() -> Plan:
        for _ in range(rounds):
            yield [("increment", {})] * each
        yield f"The counter is at {rounds * each}."

    return plan(), lambda: count == [rounds * each]


def turning_pages(state: State, pages: int) -> Made:
    """Read on until there is no more."""
    at = [0]

    def next_page() -> str:
        at[0] += 1
        return f"page {at[0]}" if at[0] <= pages else "the end"

    state.offer("next_page", next_page, repeatable=True)

    def plan() -> Plan:
        told = [""]
        while told != ["the end"]:
            told = yield [("next_page", {})]
        yield "I have read it all."

    return plan(), lambda: at == [pages + 1]


# -- payments, permission, sensors ------------------------------------------------------------------------------------


def paying(
    state: State, asked: list[tuple[str, int]], broken: BaseException | None = None, at_once: bool = True
) -> Made:
    """Pay several people, or one several times; the first attempt may fail before anything was done."""
    paid: list[tuple[str, int]] = []
    faults = [broken] if broken is not None else []

    def pay(to: str, amount: int) -> str:
        if faults:
            raise faults.pop()
        paid.append((to, amount))
        return f"paid {amount} to {to}"

    state.offer("pay", pay, **MARKS["marked"], serial=True)
    wanted: list[Call] = [("pay", {"to": to, "amount": amount}) for to, amount in asked]

    def plan() -> Plan:
        left = wanted
        while left:
            turn = left if at_once else left[:1]
            told = yield turn
            left = [call for call, text in zip(turn, told, strict=True) if not text.startswith("paid")] + left[
                len(turn) :
            ]
        yield "All is paid."

    return plan(), lambda: sorted(paid) == sorted(asked)


class Objects:
    """A sensor that objects to files with the word "broken" in them, or only warns of them."""

    def __init__(self, severity: str) -> None:
        self.severity = severity

    @hookimpl
    @inline
    def react_sense(self, call: ToolCall) -> Signal | None:
        if "broken" not in str(call.arguments.get("content", "")):
            return None
        path = str(call.arguments["path"])
        return Signal(severity=self.severity, message="this is broken", location=f"{path}:1")  # type: ignore[arg-type]


def mending(state: State, paths: list[str], mended: bool = True) -> Made:
    """Write files that a sensor has something against, and write them anew."""
    for_now: list[Call] = [("write_file", {"path": path, "content": "broken"}) for path in paths]
    again: list[Call] = [("write_file", {"path": path, "content": "sound"}) for path in paths]
    last = "sound" if mended else "broken"
    plan = one_by_one(*for_now, *(again if mended else []))
    return plan, lambda: all((state.folder / path).read_text(encoding="utf-8") == last for path in paths)


class Refuses:
    """Permits everything but one tool."""

    def __init__(self, name: str) -> None:
        self.name = name

    @hookimpl
    def react_tool_permit(self, call: ToolCall) -> Observation | None:
        return Observation(content="Error: not allowed") if call.name == self.name else None


def another_way(state: State) -> Made:
    """Look somewhere else, after looking here was refused."""
    state.offer("look_inside", lambda: "secret", read_only=True)
    state.offer("look_outside", lambda: "it is green", read_only=True)
    return one_by_one(("look_inside", {}), ("look_outside", {})), lambda: True


def asked_wrongly(state: State, wrong: dict[str, object]) -> Made:
    """Give wrong arguments first, then right ones."""
    rooms: dict[str, str] = {}

    def paint(room: str, colour: str = "white") -> str:
        if colour not in ("white", "green"):
            raise ToolError(f"there is no {colour}", code="colour")
        rooms[room] = colour
        return "painted"

    state.offer("paint", paint, **MARKS["marked"])
    right: Call = ("paint", {"room": "hall", "colour": "green"})
    return one_by_one(("paint", wrong), right), lambda: rooms == {"hall": "green"}


FILES = [{"kind": "files", "read_only": False}]


def changing() -> Iterator[Driven]:
    """All of them."""
    for world, (read, change) in product(
        (balance, listing, note),
        (("unmarked", "unmarked"), ("read only", "marked"), ("read only", "unmarked"), ("unmarked", "marked")),
    ):
        yield Driven(
            name=f"{world.__name__}, {read} reading, {change} change",
            make=lambda state, world=world, read=read, change=change: world(state, read, change),  # type: ignore[misc]
        )
    for mark, values in (("unmarked", [1, 0, 1]), ("idempotent", [1, 0, 1]), ("unmarked", [1, 2, 3, 2, 1])):
        yield Driven(
            name=f"setting {values}, {mark}",
            make=lambda state, mark=mark, values=values: setter(state, mark, values),  # type: ignore[misc]
        )
    yield Driven(name="pressing a button seven times", make=lambda state: toggles(state, 7))
    yield Driven(name="renaming there, back and there", make=renaming)
    for steps in ([("1", "2"), ("2", "1"), ("1", "2")], [("x = 1", "x = 2"), ("x = 2", "x = 3"), ("x = 3", "x = 1")]):
        edits = [(old if "=" in old else f"x = {old}", new if "=" in new else f"x = {new}") for old, new in steps]
        yield Driven(
            name=f"editing {', '.join(new for _, new in edits)}",
            make=lambda state, edits=edits: editing(state, edits),  # type: ignore[misc]
            config={"toolsets": FILES},
        )
    yield Driven(name="the same text into several files", make=same_text, config={"toolsets": FILES})
    for unchanged in (1, 3, 4, 5):
        yield Driven(
            name=f"polling, unchanged {unchanged} times",
            make=lambda state, unchanged=unchanged: polling(state, unchanged),  # type: ignore[misc]
            config={"max_iterations": 20},
        )
    yield Driven(
        name="polling with pauses", make=lambda state: polling(state, 4, waits=True), config={"max_iterations": 20}
    )
    yield Driven(name="polling three jobs", make=lambda state: polling(state, 3, jobs=3))
    yield Driven(name="watching a number grow", make=lambda state: progress(state, 12), config={"max_iterations": 20})
    yield Driven(name="counting, one by one", make=lambda state: counting(state, 6, 1))
    yield Driven(name="counting, three in a reply", make=lambda state: counting(state, 2, 3))
    yield Driven(name="turning pages", make=lambda state: turning_pages(state, 7))
    yield Driven(name="paying two people in a reply", make=lambda state: paying(state, [("ann", 5), ("bob", 5)]))
    yield Driven(name="paying one person two sums", make=lambda state: paying(state, [("ann", 5), ("ann", 7)]))
    yield Driven(
        name="paying four people one by one",
        make=lambda state: paying(state, [(name, 5) for name in ("ann", "bob", "cleo", "dan")], at_once=False),
    )
    for fault in (ConnectionRefusedError("nobody there"), ValueError("not now"), ToolError("busy", code="busy")):
        yield Driven(
            name=f"paying again after {type(fault).__name__}",
            make=lambda state, fault=fault: paying(state, [("ann", 5)], fault),  # type: ignore[misc]
        )
    for paths in (["a.txt"], ["a.txt", "b.txt"]):
        yield Driven(
            name=f"mending {len(paths)} files that a sensor blocked",
            make=lambda state, paths=paths: mending(state, paths),  # type: ignore[misc]
            config={"toolsets": FILES},
            plugins=lambda: [Objects("block")],
        )
    yield Driven(
        name="going on after a warning",
        make=lambda state: mending(state, ["a.txt"], mended=False),
        config={"toolsets": FILES},
        plugins=lambda: [Objects("warn")],
    )
    yield Driven(name="looking elsewhere when refused", make=another_way, plugins=lambda: [Refuses("look_inside")])
    wrongs: list[dict[str, object]] = [{"room": "hall", "colour": "mauve"}, {"rom": "hall"}, {"colour": "green"}]
    for wrong in wrongs:
        yield Driven(
            name=f"painting, first with {', '.join(wrong)}",
            make=lambda state, wrong=wrong: asked_wrongly(state, wrong),  # type: ignore[misc]
        )
