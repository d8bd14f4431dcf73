"""Building an agent from Python: objects, or what an agent file would say; mistakes are ours to explain."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from react_offline import OfflineModel
from react_run import ConfigError, PluginError, ReActAgent, ReactError, Run, ScriptedModel, Tool, hookimpl, tool
from react_run.testing import agent_with, calls, says
from react_toolsets.math import MathToolset


def double(x: int) -> int:
    """Double a number."""
    return 2 * x


class Bare:
    """No plugin."""


class Listens:
    """A plugin without a base."""

    @hookimpl
    def react_run_started(self, run: Run) -> None:
        """Hear it."""


@pytest.mark.parametrize("given", [double, tool(double), Tool.from_function(double)])
def test_a_function_is_a_tool_marked_or_not(given: Any) -> None:
    model = ScriptedModel(replies=[calls(("double", {"x": 4})), says("8")])
    (step,) = ReActAgent(model=model, toolsets=[given]).run_sync("go").steps
    assert step.observation == "8"


def test_names_and_mappings_stand_for_what_they_do_in_an_agent_file() -> None:
    agent = ReActAgent(
        model="offline", toolsets=["math", {"kind": "temporal", "timezone": "UTC"}, double], plugins=["metrics"]
    )
    assert isinstance(agent.model, OfflineModel)
    assert [tool.name for tool in agent.tools][:2] == ["calculate", "convert_units"]
    assert agent.tools[-1].name == "double"
    assert "Metrics" in {type(plugin).__name__ for plugin in agent.hooks.plugins}


def test_objects_are_taken_as_they_are() -> None:
    model, toolset, plugin = ScriptedModel(replies=["x"]), MathToolset(), Listens()
    agent = ReActAgent(model=model, toolsets=[toolset], plugins=[plugin])
    assert agent.model is model
    assert agent.toolset.toolsets == [toolset]
    assert agent.toolset.toolsets[0] is toolset
    assert plugin in agent.hooks.plugins


def test_a_secret_among_options_is_masked() -> None:
    agent = ReActAgent(model={"kind": "openai", "model": "m", "api_key": "hunter2hunter2"})
    assert agent.config.masker.mask("hunter2hunter2") == "***"


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"plugins": [5]}, ConfigError, r"plugins\[0\]: must be the name of a plugin"),
        ({"plugins": 5}, ConfigError, "plugins: must be a list"),
        ({"plugins": "cache"}, ConfigError, "plugins: must be a list"),
        ({"plugins": ["cahce"]}, ConfigError, "Did you mean 'cache'"),
        ({"plugins": [Bare()]}, PluginError, "no method marked @hookimpl"),
        ({"plugins": [Listens]}, PluginError, "pass an instance of that class"),
        ({"toolsets": "math"}, ConfigError, "toolsets: must be a list"),
        ({"toolsets": double}, ConfigError, "toolsets: must be a list"),
        ({"toolsets": [5]}, ConfigError, r"toolsets\[0\]: must be the name of a toolset"),
        ({"model": 5}, ConfigError, "model: must be the name of a model"),
        ({"config": "agents/calculator.yaml"}, ConfigError, r"a mapping, not str; from_yaml\(\) reads"),
        ({"config": 5}, ConfigError, "a mapping, not int"),
    ],
)
def test_what_cannot_be_part_of_an_agent_is_said_to_be_none(
    given: dict[str, Any], error: type[ReactError], said: str
) -> None:
    with pytest.raises(error, match=said):
        ReActAgent(**given)


def test_a_run_takes_the_id_settings_and_workspace_that_its_caller_gives(tmp_path: Path) -> None:
    seen: list[tuple[str, Path]] = []

    class Looks:
        @hookimpl
        def react_run_started(self, run: Run) -> None:
            seen.append((run.id, run.workspace))

    wanted = "0123456789abcdef" * 2
    agent = agent_with([says("one")], plugins=[Looks()])

    async def both() -> None:
        result = await agent.run("go", run_id=wanted, settings={"temperature": 0}, workspace=tmp_path)
        assert result.run_id == wanted
        async for _ in agent.stream("go", run_id=wanted, settings={"temperature": 1}, workspace=str(tmp_path)):
            pass

    asyncio.run(both())
    assert seen == [(wanted, tmp_path)] * 2
    assert isinstance(agent.model, ScriptedModel)
    assert [request.settings for request in agent.model.requests] == [{"temperature": 0}, {"temperature": 1}]


@pytest.mark.parametrize("wrong", ["", "ab", "../../etc/passwd", "G" * 32, "A" * 32])
def test_an_id_that_could_be_a_path_is_refused(wrong: str) -> None:
    with pytest.raises(ConfigError, match="32 hexadecimal digits"):
        asyncio.run(agent_with([says("one")]).run("go", run_id=wrong))
