"""What models do wrong: each function changes a reply, as long as its persona has not been reminded often enough."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import wraps

from benchmarks.guards.model import Mischief, Moment, Reply, Wanted
from react_run import ModelError

Change = Callable[[Reply, Moment], None]


def while_active(change: Change) -> Mischief:
    """A mischief that ends when the persona gives in."""

    @wraps(change)
    def mischief(reply: Reply, moment: Moment) -> None:
        if moment.active:
            change(reply, moment)

    return mischief


def argument(name: str, value: object) -> Mischief:
    """Gives an argument of every call a value, or takes it away when the value is ``...``."""

    def change(reply: Reply, moment: Moment) -> None:
        for wanted in reply.calls:
            if isinstance(wanted.arguments, dict) and wanted.name in ("fetch", "add", "convert", "search"):
                if value is ...:
                    wanted.arguments.pop(name, None)
                elif name in wanted.arguments or name in ("upper", "verbose"):
                    wanted.arguments[name] = value

    return while_active(change)


def reshaped(name: str, shape: Callable[[object], object]) -> Mischief:
    """Changes the form of an argument."""

    def change(reply: Reply, moment: Moment) -> None:
        for wanted in reply.calls:
            if isinstance(wanted.arguments, dict) and name in wanted.arguments:
                wanted.arguments[name] = shape(wanted.arguments[name])

    return while_active(change)


def raw(form: str) -> Mischief:
    """Sends arguments as text; ``%s`` is their JSON."""

    def change(reply: Reply, moment: Moment) -> None:
        for wanted in reply.calls:
            wanted.arguments = form.replace("%s", json.dumps(wanted.arguments))

    return while_active(change)


@while_active
def cut_json(reply: Reply, moment: Moment) -> None:
    """Arguments that stop in the middle."""
    for wanted in reply.calls:
        wanted.arguments = json.dumps(wanted.arguments)[:-1]


@while_active
def encoded_twice(reply: Reply, moment: Moment) -> None:
    """JSON in JSON."""
    for wanted in reply.calls:
        wanted.arguments = json.dumps(json.dumps(wanted.arguments))


def ids(make: Callable[[int], str]) -> Mischief:
    """Ids of its own."""

    def change(reply: Reply, moment: Moment) -> None:
        for number, wanted in enumerate(reply.calls):
            wanted.id = make(number)

    return while_active(change)


def renamed(name: str) -> Mischief:
    """Calls by another name."""

    def change(reply: Reply, moment: Moment) -> None:
        for wanted in reply.calls:
            wanted.name = name

    return while_active(change)


@while_active
def past_the_skill(reply: Reply, moment: Moment) -> None:
    """A tool that has not been offered."""
    for wanted in reply.calls:
        if wanted.name == "activate_tool_skill":
            wanted.name, wanted.arguments = "fetch", {"page": 1}


def _latest(moment: Moment) -> list[Wanted]:
    return [
        Wanted(result.tool, dict(result.arguments), f"call_{moment.request.call}_{number}")
        for number, result in enumerate(moment.view.last_iteration)
    ]


@while_active
def same_again(reply: Reply, moment: Moment) -> None:
    """What it just called, again."""
    if moment.view.last_iteration and moment.view.tools:
        reply.calls, reply.text = _latest(moment), ""


@while_active
def to_and_fro(reply: Reply, moment: Moment) -> None:
    """Two calls in turn."""
    if moment.view.tools:
        name = ("read_note", "archive")[moment.view.replies % 2]
        arguments: dict[str, object] = {"name": "n"} if name == "read_note" else {}
        reply.calls, reply.text = [Wanted(name, arguments, f"call_{moment.request.call}_0")], ""


@while_active
def every_call_twice(reply: Reply, moment: Moment) -> None:
    """Each call of a reply doubled."""
    reply.calls += [
        Wanted(w.name, dict(w.arguments), f"{w.id}_b") for w in reply.calls if isinstance(w.arguments, dict)
    ]


@while_active
def words_shuffled(reply: Reply, moment: Moment) -> None:
    """The same search in other words that are the same."""
    forms = ["red kite weight", "Weight: red KITE", "kite, red (weight)"]
    for wanted in reply.calls:
        wanted.arguments = {"query": forms[min(moment.view.replies, 2)]}


@while_active
def words_without_end(reply: Reply, moment: Moment) -> None:
    """Another search each time, none of which finds anything."""
    for wanted in reply.calls:
        wanted.arguments = {"query": f"bird of prey {moment.view.replies}"}


def guesses(reply: Reply, moment: Moment) -> None:
    """A claim instead of a correction."""
    for wanted in reply.calls:
        if isinstance(wanted.arguments, dict) and "unit" in wanted.arguments:
            wanted.arguments["unit"] = "fathom of Ann"
    if any('"error"' in result.text for result in moment.view.results):
        reply.calls, reply.text = [], moment.task.wrong


def said(text: str, finish: str = "", *, only: int = 10**9, **extra: object) -> Mischief:
    """A fixed reply to the first calls."""

    def change(reply: Reply, moment: Moment) -> None:
        if moment.request.call <= only:
            reply.text, reply.calls, reply.finish = text, [], finish
            reply.extra.update(extra)

    return while_active(change)


def refused(finish: str) -> Mischief:
    """A refusal, with a call beside it that must not run."""

    def change(reply: Reply, moment: Moment) -> None:
        reply.text, reply.finish = "I will not do that.", finish

    return while_active(change)


def cut_answer(times: int) -> Mischief:
    """An answer that the token limit cuts, and that goes on where it stopped when asked to."""

    def change(reply: Reply, moment: Moment) -> None:
        if reply.calls:
            return
        earlier, last = moment.request.messages[-2:]
        before = earlier.text if (earlier.role, last.role) == ("assistant", "user") else ""
        rest = reply.text[len(before) :]
        if (2 if before else 1) <= times:
            rest, reply.finish = rest[: len(rest) // 2], "length"
        reply.text = rest

    return change


@while_active
def cut_calls(reply: Reply, moment: Moment) -> None:
    """Calls that the token limit cuts."""
    for wanted in reply.calls:
        wanted.arguments, reply.finish = json.dumps(wanted.arguments)[:-2], "length"


@while_active
def insists(reply: Reply, moment: Moment) -> None:
    """Calls although no tools are offered."""
    if not moment.view.tools:
        reply.calls, reply.text = [Wanted("fetch", {"page": 60}, f"call_{moment.request.call}_0")], ""


@while_active
def silent_at_the_end(reply: Reply, moment: Moment) -> None:
    """Nothing, when no tools are offered."""
    if not moment.view.tools:
        reply.calls, reply.text = [], ""


@while_active
def curt(reply: Reply, moment: Moment) -> None:
    """An answer that no check accepts."""
    if not reply.calls:
        reply.text = "Hi."


def fails(*at: int, **error: object) -> Mischief:
    """A provider that fails some of the calls, by number; without numbers, all."""

    def change(reply: Reply, moment: Moment) -> None:
        if not at or moment.request.call in at:
            raise ModelError("the provider failed", provider="policy", **error)  # type: ignore[arg-type]  # its keywords

    return change
