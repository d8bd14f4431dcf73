"""Layers nest strictly in plugin order, whatever their form; questions and layers fail closed, events fail soft."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from dataclasses import dataclass, field
from typing import Any

import pytest

from react_run.errors import PluginError
from react_run.hooks import Chain, ask_all, hook_names, late, layers, notify
from react_run.hookspecs import hookimpl
from react_run.layers import ask
from react_run.messages import ModelResponse
from react_run.outcome import Observation, Signal
from react_run.plugins import ANSWERS, hook_table

Proceed = Callable[[], Awaitable[Observation]]


class Last:
    """Stands for the loop: answers last."""

    def __init__(self) -> None:
        self.times = 0

    @hookimpl(trylast=True)
    async def react_tool_call(self) -> Observation:
        self.times += 1
        return Observation(content=f"real {self.times}")


class Around:
    def __init__(self, name: str, log: list[str]) -> None:
        self.name, self.log = name, log

    @hookimpl
    async def react_tool_call(self, proceed: Proceed) -> Observation:
        self.log.append(f"{self.name} in")
        result = await proceed()
        self.log.append(f"{self.name} out")
        return result


class Before:
    def __init__(self, name: str, log: list[str]) -> None:
        self.name, self.log = name, log

    @hookimpl
    def react_tool_call(self, run: object, call: object) -> None:
        self.log.append(self.name)


class Wrapper:
    def __init__(self, name: str, log: list[str]) -> None:
        self.name, self.log = name, log

    @hookimpl(wrapper=True)
    def react_tool_call(self) -> Generator[None, Observation, Observation]:
        self.log.append(f"{self.name} in")
        result = yield
        self.log.append(f"{self.name} out")
        return result


async def asked(chain: Chain) -> Any:
    return await ask(chain, None, None)


def answer(*plugins: object) -> Observation:
    table = hook_table([*plugins, Last()])
    result: Observation = asyncio.run(asked(table.react_tool_call))
    return result


def test_all_forms_nest_in_plugin_order() -> None:
    log: list[str] = []
    answer(Around("a", log), Wrapper("b", log), Before("c", log), Wrapper("d", log), Around("e", log))
    assert log == ["a in", "b in", "c", "d in", "e in", "e out", "d out", "b out", "a out"]


def test_tryfirst_and_trylast_move_one_implementation() -> None:
    log: list[str] = []

    class First(Before):
        @hookimpl(tryfirst=True)
        def react_tool_call(self, run: object, call: object) -> None:
            log.append("first")

    class Latest(Before):
        @hookimpl(trylast=True)
        def react_tool_call(self, run: object, call: object) -> None:
            log.append("latest")

    answer(Latest("", log), Before("middle", log), First("", log))
    assert log == ["first", "middle", "latest"]


def test_a_plain_function_that_answers_stands_in_for_the_rest() -> None:
    class Cached:
        @hookimpl
        def react_tool_call(self) -> Observation:
            return Observation(content="cached")

    last = Last()
    table = hook_table([Cached(), last])
    assert asyncio.run(asked(table.react_tool_call)).content == "cached"
    assert last.times == 0


def test_proceeding_twice_retries_and_not_at_all_skips() -> None:
    class Retry:
        @hookimpl
        async def react_tool_call(self, proceed: Proceed) -> Observation:
            await proceed()
            return await proceed()

    class Skip:
        @hookimpl
        async def react_tool_call(self, proceed: Proceed) -> Observation:
            return Observation(content="skipped")

    assert answer(Retry()).content == "real 2"
    assert answer(Skip()).content == "skipped"


def test_returning_nothing_after_proceeding_keeps_the_result() -> None:
    class Forgetful:
        @hookimpl
        async def react_tool_call(self, proceed: Proceed) -> None:
            await proceed()

    assert answer(Forgetful()).content == "real 1"


def test_skipping_without_an_answer_fails_closed() -> None:
    class Silent:
        @hookimpl
        async def react_tool_call(self, proceed: Proceed) -> None:
            return None

    with pytest.raises(PluginError, match=r"Silent.*gave no answer in react_tool_call"):
        answer(Silent())


def test_a_wrapper_may_replace_the_result_and_answer_an_exception() -> None:
    class Rescue:
        @hookimpl(wrapper=True)
        def react_tool_call(self) -> Generator[None, Observation, Observation]:
            try:
                return (yield)
            except RuntimeError as error:
                return Observation(content=f"rescued {error}")

    class Broken:
        @hookimpl
        def react_tool_call(self) -> None:
            raise RuntimeError("boom")

    assert answer(Rescue(), Broken()).content == "rescued boom"


def test_an_exception_carries_a_note_naming_the_plugin_and_hook_it_came_from() -> None:
    class Broken:
        @hookimpl
        def react_tool_call(self) -> None:
            raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom") as caught:
        answer(Around("a", []), Wrapper("b", []), Broken())
    assert caught.value.__notes__ == ["raised by plugin 'Broken' in react_tool_call"]


def test_a_cancelled_layer_stays_cancelled() -> None:
    async def scenario() -> bool:
        table = hook_table([Around("a", []), Hang()])
        task = asyncio.ensure_future(ask(table.react_tool_call, None, None))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait((task,))
        return task.cancelled()

    class Hang:
        @hookimpl(trylast=True)
        async def react_tool_call(self) -> Observation:
            await asyncio.Event().wait()
            raise AssertionError

    assert asyncio.run(scenario())


def test_questions_are_asked_of_every_plugin_in_order_and_fail_closed() -> None:
    class Guide:
        def __init__(self, text: str | None) -> None:
            self.text = text

        @hookimpl
        async def react_guide(self) -> str | None:
            return self.text

    class Broken:
        @hookimpl
        def react_guide(self) -> str:
            raise ValueError("no")

    table = hook_table([Guide("a"), Guide(None), Guide("b")])
    assert asyncio.run(ask_all(table.react_guide, None, None)) == ["a", "b"]
    with pytest.raises(ValueError, match="no") as caught:
        asyncio.run(ask_all(hook_table([Broken()]).react_guide, None, None))
    assert caught.value.__notes__ == ["raised by plugin 'Broken' in react_guide"]


def test_events_reach_every_listener_although_one_fails(caplog: pytest.LogCaptureFixture) -> None:
    heard: list[str] = []

    class Broken:
        @hookimpl
        async def react_run_started(self) -> None:
            raise ValueError("no")

    class Listener:
        @hookimpl
        def react_run_started(self, run: object) -> None:
            heard.append("yes")

    with caplog.at_level(logging.ERROR):
        asyncio.run(notify(hook_table([Broken(), Listener()]).react_run_started, None))
    assert heard == ["yes"]
    assert "Broken" in caplog.text


class Panic(BaseException):
    """As foreign code raises it that is not written in Python."""


@pytest.mark.parametrize("kind", [asyncio.CancelledError, Panic])
@pytest.mark.parametrize("is_async", [False, True])
def test_what_a_listener_raises_is_never_felt_even_when_it_is_no_ordinary_error(
    kind: type[BaseException], is_async: bool, caplog: pytest.LogCaptureFixture
) -> None:
    class Plain:
        @hookimpl
        def react_run_started(self) -> None:
            raise kind

    class Awaited:
        @hookimpl
        async def react_run_started(self) -> None:
            raise kind

    asyncio.run(notify(hook_table([Awaited() if is_async else Plain()]).react_run_started, None))
    assert kind.__name__ in caplog.text


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_the_users_interrupt_is_felt_wherever_it_strikes(kind: type[BaseException]) -> None:  # T1
    class Struck:
        @hookimpl
        def react_run_started(self) -> None:
            raise kind

    with pytest.raises(kind):
        asyncio.run(notify(hook_table([Struck()]).react_run_started, None))


def test_a_listener_that_is_cancelled_with_its_run_does_not_keep_it_alive() -> None:
    class Slow:
        @hookimpl
        async def react_run_started(self) -> None:
            await asyncio.Event().wait()

    async def scenario() -> bool:
        task = asyncio.ensure_future(notify(hook_table([Slow()]).react_run_started, None))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait((task,))
        return task.cancelled()

    assert asyncio.run(scenario())


LAYERS = ["react_run", "react_iteration", "react_model_call", "react_tool_call"]
QUESTIONS = ["react_guide", "react_tool_permit", "react_sense", "react_check_answer"]


def test_layers_and_answers_come_from_the_specification() -> None:
    assert sorted(layers()) == sorted(LAYERS)
    assert ANSWERS["react_sense"] == (Signal, list, tuple)
    assert ANSWERS["react_model_call"] == (ModelResponse,)
    assert [hook for hook, kinds in ANSWERS.items() if kinds != (object,)] == [
        hook for hook in hook_names() if hook in (*LAYERS, *QUESTIONS)
    ]


@pytest.mark.parametrize(
    ("hook", "form"),
    [(hook, form) for hook in LAYERS for form in ("plain", "awaited", "around")]
    + [(hook, form) for hook in QUESTIONS for form in ("plain", "awaited")],
)
def test_an_answer_of_another_type_fails_closed_and_names_who_gave_it(hook: str, form: str) -> None:
    def plain(self: object) -> object:
        return False

    async def awaited(self: object) -> object:
        return False

    async def around(self: object, proceed: Proceed) -> object:
        return False

    marked = {"plain": hookimpl(plain), "awaited": hookimpl(awaited), "around": hookimpl(around)}
    careless = type("Careless", (), {hook: marked[form]})()
    last = type("Last", (), {hook: hookimpl(lambda self: None)})()  # whoever is last is taken for the loop
    chain = getattr(hook_table([careless, last]), hook)
    with pytest.raises(PluginError, match=f"'Careless' answered {hook} with bool"):
        asyncio.run(asked(chain) if hook in LAYERS else ask_all(chain, None, None))


def test_proceeding_after_the_answer_was_given_runs_nothing() -> None:
    kept: list[Proceed] = []

    class Skips:
        @hookimpl
        async def react_tool_call(self, proceed: Proceed) -> Observation:
            kept.append(proceed)
            return Observation(content="skipped")

    last = Last()
    table = hook_table([Skips(), last])

    async def scenario() -> None:
        skipped: Observation = await ask(table.react_tool_call, None, None)
        assert skipped.content == "skipped"
        with pytest.raises(PluginError, match="'Skips' called proceed\\(\\) after it had answered"):
            await kept[0]()

    asyncio.run(scenario())
    assert last.times == 0


@pytest.mark.parametrize(
    "name",
    [
        "unknown hook",
        "wrong argument",
        "old wrapper",
        "bare generator",
        "wrapped event",
        "asynchronous generator",
        "class instead of object",
    ],
)
def test_an_implementation_that_cannot_be_honoured_is_refused_at_registration(name: str) -> None:
    class Unknown:
        @hookimpl
        def react_tool_cal(self) -> None: ...

    class Wrong:
        @hookimpl
        def react_tool_call(self, tool: object) -> None: ...

    class Old:
        @hookimpl(hookwrapper=True)
        def react_tool_call(self) -> Generator[None, None, None]:
            yield

    class Bare:
        @hookimpl
        def react_tool_call(self) -> Generator[None, None, None]:
            yield

    class Event:
        @hookimpl(wrapper=True)
        def react_run_started(self) -> Generator[None, None, None]:
            yield

    class Asynchronous:
        @hookimpl
        async def react_tool_call(self) -> AsyncGenerator[None, None]:
            yield

    plugin: type = {
        "unknown hook": Unknown,
        "wrong argument": Wrong,
        "old wrapper": Old,
        "bare generator": Bare,
        "wrapped event": Event,
        "asynchronous generator": Asynchronous,
        "class instead of object": Last,
    }[name]
    with pytest.raises(PluginError, match=plugin.__name__):
        hook_table([plugin if name == "class instead of object" else plugin()])


def test_a_class_whose_hooks_need_no_object_may_be_a_plugin() -> None:
    class Static:
        @staticmethod
        @hookimpl
        def react_tool_call(run: object) -> Observation:
            return Observation(content="static")

        @classmethod
        @hookimpl
        def react_run_started(cls, run: object) -> None: ...

    assert answer(Static).content == "static"


def test_two_plugins_of_one_class_are_two_plugins() -> None:
    log: list[str] = []
    answer(Around("a", log), Around("b", log))
    assert log == ["a in", "b in", "b out", "a out"]


@dataclass
class Note:
    """Two of these are equal, and neither has a hash."""

    log: list[str] = field(compare=False)

    @hookimpl
    def react_tool_call(self) -> None:
        self.log.append("noted")


class Undecided(Note):
    def __eq__(self, other: object) -> bool:
        raise ValueError("neither equal nor not")


@pytest.mark.parametrize("kind", [Note, Undecided])
def test_plugins_that_call_themselves_equal_are_two_plugins(kind: type[Note]) -> None:
    log: list[str] = []
    first, second = kind(log), kind(log)
    assert answer(first, second).content == "real 1"
    assert log == ["noted", "noted"]
    plugins = hook_table([first, second]).plugins
    assert [id(plugin) for plugin in plugins] == [id(first), id(second)]


def test_one_object_given_twice_is_refused() -> None:
    note = Note([])
    with pytest.raises(PluginError, match=r"'Note' .* is listed twice \(the same object\)"):
        hook_table([note, note])


class Late:
    """Adds its name to answers that end with ``ending``, and answers errors of the given kinds."""

    def __init__(self, name: str, log: list[str], ending: str = "", errors: type[Exception] | tuple[()] = ()) -> None:
        @hookimpl
        @late(when=lambda run, call, answer: bool(ending) and answer.content.endswith(ending), errors=errors)
        async def react_tool_call(run: object, call: object, proceed: Proceed) -> Observation:
            log.append(name)
            try:
                return Observation(content=f"{(await proceed()).content} {name}")
            except Exception as error:
                return Observation(content=f"{name} for {error}")

        self.react_tool_call = react_tool_call


class Raises:
    """Raises for the first ``times``, then answers."""

    def __init__(self, times: int = 10) -> None:
        self.left = times

    @hookimpl
    async def react_tool_call(self, run: object, call: object) -> None:
        self.left -= 1
        if self.left >= 0:
            raise ValueError("no")


def test_what_is_late_is_entered_afterwards_and_only_for_what_concerns_it() -> None:
    log: list[str] = []
    assert answer(Late("a", log, "2"), Around("b", log), Late("c", log, "1")).content == "real 1 c"
    assert log == ["b in", "c", "b out"]
    assert answer(Late("a", log, "c"), Late("b", log, "2"), Late("c", log, "1")).content == "real 1 c a"
    assert answer(Late("a", [], errors=ValueError), Late("b", [], errors=KeyError), Raises()).content == "a for no"


def test_what_is_late_may_proceed_again() -> None:
    class Retry:
        @hookimpl
        @late(errors=ValueError)
        async def react_tool_call(self, proceed: Proceed) -> Observation:
            while True:
                try:
                    return await proceed()
                except ValueError:
                    continue

    log: list[str] = []
    assert answer(Late("a", log, "1"), Retry(), Around("b", log), Raises(times=3)).content == "real 1 a"
    assert log == ["b in", "b in", "b in", "b in", "b out", "a"]


def test_an_error_of_what_is_late_is_blamed_on_it_and_concerns_what_is_further_out() -> None:
    class Breaks:
        @hookimpl
        @late(when=lambda run, call, answer: True)
        async def react_tool_call(self, proceed: Proceed) -> Observation:
            await proceed()
            raise ValueError("broken")

    assert answer(Late("a", [], errors=ValueError), Breaks()).content == "a for broken"
    with pytest.raises(ValueError, match="broken") as caught:
        answer(Around("a", []), Breaks(), Before("b", []))
    assert caught.value.__notes__ == ["raised by plugin 'Breaks' in react_tool_call"]


def test_what_is_late_fails_closed_without_an_answer_and_cannot_proceed_afterwards() -> None:
    kept: list[Proceed] = []

    class Silent:
        @hookimpl
        @late(when=lambda run, call, answer: True)
        async def react_tool_call(self, proceed: Proceed) -> None:
            kept.append(proceed)

    with pytest.raises(PluginError, match=r"Silent.*gave no answer in react_tool_call"):
        answer(Silent())

    async def afterwards() -> None:
        await kept[0]()

    with pytest.raises(PluginError, match=r"'Silent' called proceed\(\) after it had answered"):
        asyncio.run(afterwards())


def test_what_is_late_is_entered_at_once_where_its_condition_says_so() -> None:
    class Never:
        def is_for(self, run: object, call: object) -> bool:
            asked.append(call)
            return False

        @hookimpl
        @late(unless=is_for, errors=ValueError)
        async def react_tool_call(self, proceed: Proceed) -> Observation:
            raise AssertionError("entered without need")

    class Early:
        def __init__(self, name: str) -> None:
            self.name = name

        def is_for(self, run: object, call: object) -> bool:
            return self.name == "here"

        @hookimpl
        @late(unless=is_for)
        async def react_tool_call(self, proceed: Proceed) -> Observation:
            log.append(f"{self.name} in")
            return Observation(content=f"{(await proceed()).content} {self.name}")

    log: list[str] = []
    asked: list[object] = []
    assert answer(Early("here"), Never(), Early("there"), Around("b", log)).content == "real 1 here"
    assert log == ["here in", "b in", "b out"]
    assert len(asked) == 1
    log.clear()
    assert answer(Never(), Early("there"), Early("here")).content == "real 1 here"
    assert log == ["here in"]
    assert answer(Never(), Early("there")).content == "real 1"


def test_an_error_in_such_a_condition_is_blamed_on_its_plugin() -> None:
    class Breaks:
        @hookimpl
        @late(unless=lambda run, call: 1 / 0)
        async def react_tool_call(self, proceed: Proceed) -> Observation:
            return await proceed()

    with pytest.raises(ZeroDivisionError) as caught:
        answer(Breaks(), Around("b", []))
    assert caught.value.__notes__ == ["raised by plugin 'Breaks' in react_tool_call"]


def test_only_what_proceeds_can_be_late() -> None:
    class Plain:
        @hookimpl
        @late(errors=ValueError)
        def react_tool_call(self) -> None:
            pass

    with pytest.raises(PluginError, match="marked @late"):
        hook_table([Plain(), Last()])


def test_a_plain_function_may_give_something_to_await_that_comes_to_nothing() -> None:
    class Looks:
        @hookimpl
        def react_tool_call(self) -> Awaitable[None]:
            return asyncio.sleep(0)

    assert answer(Looks(), Around("a", [])).content == "real 1"
