"""Longer tasks whose outcome can be looked at afterwards: a file tree, a ledger, a calendar.

The right agents do them in several ways, with faults that they mend. Their twins claim to be done although something
failed that the runtime has seen: the state is what judges them, not the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from benchmarks.guards.driving import Call, Driven, Plan, State
from react_run import Observation, ToolCall, ToolError, hookimpl

Made = tuple[Plan, Callable[[], bool]]
STYLES: dict[str, dict[str, Any]] = {
    "marked": {"read_only": False},
    "unmarked": {},
    "idempotent": {"read_only": False, "idempotent": True},
}


class Trouble:
    """What goes wrong in a world: the first call of a kind fails, for a reason."""

    def __init__(self, *errors: BaseException) -> None:
        self.left = list(errors)

    def meet(self) -> None:
        """Raise the next of them, if one is left."""
        if self.left:
            raise self.left.pop(0)


def worked(texts: Sequence[str], word: str) -> list[bool]:
    """Which results say that it was done."""
    return [text.startswith(word) for text in texts]


def until_done(wanted: Sequence[Call], word: str, at_once: bool, after: Callable[[Call], list[Call]]) -> Plan:
    """Ask for calls until each has said ``word``; ``after`` a failure, other calls may have to come first."""
    left = list(wanted)
    while left:
        turn = left if at_once else left[:1]
        told = worked((yield turn), word)
        failed = [call for call, fine in zip(turn, told, strict=True) if not fine]
        if first := [before for call in failed for before in after(call)]:
            yield first
        left = [*failed, *left[len(turn) :]]


# -- a file tree ------------------------------------------------------------------------------------------------------

NAMES = ("a.txt", "b.txt", "c.md", "d.md", "e.csv", "f.csv")


def tree(state: State, style: str, at_once: bool, errors: Sequence[BaseException], gives_up: bool = False) -> Made:
    """Sort files into a directory for each kind."""
    trouble = Trouble(*errors)
    for name in NAMES:
        (state.folder / name).write_text(name, encoding="utf-8")

    def make_directory(name: str) -> str:
        (state.folder / name).mkdir(exist_ok=True)
        return f"made {name}"

    def move(name: str, into: str) -> str:
        if not (state.folder / into).is_dir():
            raise ToolError(f"there is no directory {into}", code="no_directory")
        trouble.meet()
        (state.folder / name).rename(state.folder / into / name)
        return f"moved {name}"

    def files() -> str:
        return ", ".join(sorted(str(path.relative_to(state.folder)) for path in state.folder.rglob("*.*")))

    state.offer("make_directory", make_directory, **{**STYLES[style], "idempotent": True, "read_only": False})
    state.offer("move", move, **STYLES[style])
    state.offer("files", files, read_only=True)
    wanted: list[Call] = [("move", {"name": name, "into": name.partition(".")[2]}) for name in NAMES]

    def plan() -> Plan:
        yield [("files", {})]
        if gives_up:
            yield [("make_directory", {"name": "txt"})]
            yield wanted[:1]
        else:
            yield from until_done(
                wanted, "moved", at_once, lambda call: [("make_directory", {"name": call[1]["into"]})]
            )
        (there,) = yield [("files", {})]
        yield f"The files are sorted: {there}."

    return plan(), lambda: all((state.folder / name.partition(".")[2] / name).exists() for name in NAMES)


# -- a ledger ---------------------------------------------------------------------------------------------------------

BOOKINGS = (
    ("cash", "rent", 40),
    ("cash", "food", 30),
    ("bank", "cash", 50),
    ("cash", "power", 40),
    ("bank", "food", 5),
)
START = {"cash": 80, "bank": 100, "rent": 0, "food": 0, "power": 0}
END = {"cash": 20, "bank": 45, "rent": 40, "food": 35, "power": 40}


def ledger(state: State, style: str, at_once: bool, errors: Sequence[BaseException], gives_up: bool = False) -> Made:
    """Book transfers between accounts, one of which needs money from another first."""
    accounts = dict(START)
    trouble = Trouble(*errors)

    def book(number: int, source: str, target: str, amount: int) -> str:
        trouble.meet()
        if accounts[source] < amount:
            raise ToolError(f"{source} has only {accounts[source]}", code="too_little")
        accounts[source] -= amount
        accounts[target] += amount
        return f"booked {number}"

    def balances() -> str:
        return ", ".join(f"{name} {amount}" for name, amount in accounts.items())

    state.offer("book", book, **{**STYLES[style], "idempotent": False}, serial=True)
    state.offer("balances", balances, read_only=True)
    wanted: list[Call] = [
        ("book", {"number": number, "source": source, "target": target, "amount": amount})
        for number, (source, target, amount) in enumerate(BOOKINGS, 1)
    ]

    def plan() -> Plan:
        yield [("balances", {})]
        if gives_up:
            yield wanted
        else:
            yield from until_done(wanted, "booked", at_once, lambda call: [])
        (there,) = yield [("balances", {})]
        yield f"All is booked: {there}."

    return plan(), lambda: accounts == END


# -- a calendar -------------------------------------------------------------------------------------------------------

MEETINGS = (("plan", 9), ("review", 9), ("lunch", 12), ("call", 14), ("demo", 14))


def calendar(state: State, style: str, at_once: bool, errors: Sequence[BaseException], gives_up: bool = False) -> Made:
    """Find a time for each meeting, cancel one, and give its time to another."""
    hours: dict[int, str] = {}
    trouble = Trouble(*errors)

    def schedule(title: str, hour: int) -> str:
        trouble.meet()
        if hour in hours and hours[hour] != title:
            raise ToolError(f"{hour} is taken by {hours[hour]}", code="taken")
        hours[hour] = title
        return f"scheduled {title}"

    def cancel(title: str) -> str:
        for hour in [hour for hour, there in hours.items() if there == title]:
            del hours[hour]
        return f"cancelled {title}"

    state.offer("schedule", schedule, **STYLES[style], serial=True)
    state.offer("cancel", cancel, **STYLES[style])
    state.offer(
        "agenda", lambda: ", ".join(f"{hour} {hours[hour]}" for hour in sorted(hours)) or "free", read_only=True
    )

    def plan() -> Plan:
        left = list(MEETINGS)
        while left:
            turn = left if at_once else left[:1]
            told = worked((yield [("schedule", {"title": title, "hour": hour}) for title, hour in turn]), "scheduled")
            failed = [meeting for meeting, fine in zip(turn, told, strict=True) if not fine]
            if failed:
                yield [("agenda", {})]
            left = [*((title, hour + (hour in hours)) for title, hour in failed), *left[len(turn) :]]
            if gives_up:
                break
        yield [("cancel", {"title": "lunch"})]
        if not gives_up:
            yield [("cancel", {"title": "demo"})]
            yield [("schedule", {"title": "demo", "hour": 12})]
        (there,) = yield [("agenda", {})]
        yield f"The day: {there}."

    return plan(), lambda: hours == {9: "plan", 10: "review", 12: "demo", 14: "call"}


# -- all of them ------------------------------------------------------------------------------------------------------

TASKS = (tree, ledger, calendar)
MANY = {"max_iterations": 40}


def done_right() -> Iterator[Driven]:
    """The tasks done in several ways, some with faults on the way."""
    for task, style, at_once in product(TASKS, ("marked", "unmarked"), (True, False)):
        yield Driven(
            name=f"{task.__name__}, {style} tools, {'all at once' if at_once else 'one by one'}",
            make=lambda state, task=task, style=style, at_once=at_once: task(state, style, at_once, ()),  # type: ignore[misc]
            config=MANY,
        )
    for task, error in product(TASKS, (ValueError("odd"), ConnectionRefusedError("nobody there"))):
        yield Driven(
            name=f"{task.__name__}, with {type(error).__name__} on the way",
            make=lambda state, task=task, error=error: task(state, "marked", False, (error,)),  # type: ignore[misc]
            config=MANY,
        )
    for task in (tree, calendar):
        yield Driven(
            name=f"{task.__name__}, with a lost connection on the way",
            make=lambda state, task=task: task(state, "idempotent", False, (ConnectionResetError("gone"),)),  # type: ignore[misc]
            config=MANY,
        )


class Denies:
    """Permits no call of some tools."""

    @hookimpl
    def react_tool_permit(self, call: ToolCall) -> Observation | None:
        return Observation(content="Error: not allowed") if call.name in ("move", "book", "schedule") else None


def claimed() -> Iterator[Driven]:
    """Their twins, which say that all is done when it is not."""
    for task, error in product(TASKS, (ValueError("odd"), TimeoutError("late"), ConnectionResetError("gone"))):
        yield Driven(
            name=f"{task.__name__}, claimed after {type(error).__name__}",
            make=lambda state, task=task, error=error: task(state, "marked", True, (error,), gives_up=True),  # type: ignore[misc]
            right=False,
            config=MANY,
        )
    for task, style in product(TASKS, ("marked", "unmarked")):
        yield Driven(
            name=f"{task.__name__}, claimed after a denial, {style} tools",
            make=lambda state, task=task, style=style: task(state, style, True, (), gives_up=True),  # type: ignore[misc]
            right=False,
            plugins=lambda: [Denies()],
            config=MANY,
        )
