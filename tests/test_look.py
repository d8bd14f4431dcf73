"""Looking at the world outside of a run: recorded, and answered from a recording (behaviours J3, J4)."""

from __future__ import annotations

from react_run import Run, hookimpl
from react_run.engine.state import EngineState
from react_run.testing import agent_with, says


class Weather:
    """Looks out of the window for its guide, twice; ``known`` is what a recording would answer."""

    def __init__(self, known: list[object] | None = None) -> None:
        self.known, self.looked, self.remembered = known, 0, list[tuple[str, object]]()

    async def outside(self) -> str:
        self.looked += 1
        return f"rain {self.looked}"

    @hookimpl
    async def react_guide(self, run: Run) -> str:
        state = run.state(EngineState)
        state.remember = lambda what, value: self.remembered.append((what, value))
        if (known := self.known) is not None:
            state.recall = lambda what: (known.pop(0),) if known else None
        return f"{await run.recorded('the weather', self.outside)}, {await run.recorded('the weather', self.outside)}"


def prompt(weather: Weather) -> str:
    return agent_with([says("ok")], plugins=[weather]).run_sync("go").messages[0].text


def test_what_is_looked_at_is_remembered() -> None:
    weather = Weather()
    assert prompt(weather).endswith("rain 1, rain 2")
    assert weather.remembered == [("the weather", "rain 1"), ("the weather", "rain 2")]


def test_what_a_recording_knows_is_not_looked_at_again_but_remembered_again() -> None:
    weather = Weather(known=["sun", None])
    assert prompt(weather).endswith("sun, None")
    assert (weather.looked, weather.remembered) == (0, [("the weather", "sun"), ("the weather", None)])


def test_where_a_recording_ends_the_world_answers() -> None:
    weather = Weather(known=["sun"])
    assert prompt(weather).endswith("sun, rain 1")
    assert weather.remembered == [("the weather", "sun"), ("the weather", "rain 1")]
