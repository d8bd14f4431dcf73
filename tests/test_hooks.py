"""Layers nest strictly in plugin order, whatever their form; questions and layers fail closed, events fail soft."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Generator

import pytest

from react_run.errors import PluginError
from react_run.hooks import ask, ask_all, notify
from react_run.hookspecs import hookimpl
from react_run.outcome import Observation
from react_run.plugins import hook_table

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


def answer(*plugins: object) -> Observation:
    table = hook_table([*plugins, Last()])
    result: Observation = asyncio.run(ask(table.react_tool_call, None, None))
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
    assert asyncio.run(ask(table.react_tool_call, None, None)).content == "cached"
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
    assert asyncio.run(ask_all(table.react_guide, None)) == ["a", "b"]
    with pytest.raises(ValueError, match="no") as caught:
        asyncio.run(ask_all(hook_table([Broken()]).react_guide, None))
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


@pytest.mark.parametrize("name", ["unknown hook", "wrong argument", "old wrapper", "bare generator", "wrapped event"])
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

    plugin = {
        "unknown hook": Unknown,
        "wrong argument": Wrong,
        "old wrapper": Old,
        "bare generator": Bare,
        "wrapped event": Event,
    }[name]
    with pytest.raises(PluginError, match=plugin.__name__):
        hook_table([plugin()])


def test_two_plugins_of_one_class_are_two_plugins() -> None:
    log: list[str] = []
    answer(Around("a", log), Around("b", log))
    assert log == ["a in", "b in", "b out", "a out"]
