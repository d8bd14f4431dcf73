"""The pytest plugin: fixtures for agents; with ``react_run = true``, cases become tests, and real models are blocked.

It is loaded wherever react-run is installed, so it imports nothing but pytest, and only offers its fixtures unless a
project asks for more.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from react_run.agent import ReActAgent
    from react_run.results import RunResult

MARKER = "real_model"
REASON = f"real models are blocked in tests; mark this one with @pytest.mark.{MARKER} to allow them"
FILES = ("test_*.yaml", "*cases.yaml")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the configuration options for projects."""
    parser.addini("react_run", "Block real models in tests, and collect the cases of react-run test.", "bool", False)
    parser.addini("react_run_files", "Globs for the names of files whose cases become tests.", "args", list(FILES))


def pytest_configure(config: pytest.Config) -> None:
    """Register the rest if the project asks for it."""
    if config.getini("react_run"):
        from react_run.evals.pytest_cases import CaseCollection

        config.addinivalue_line("markers", f"{MARKER}: allow real models (react-run)")
        config.pluginmanager.register(CaseCollection(), "react_run_cases")
        config.pluginmanager.register(NoRealModels(), "react_run_no_real_models")


class NoRealModels:
    """Blocks models on other machines in tests and in processes that tests start."""

    @pytest.fixture(autouse=True)
    def _no_real_models(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        if request.node.get_closest_marker(MARKER) is None:
            monkeypatch.setenv("REACT_RUN_NO_MODELS", REASON)


@pytest.fixture
def react_agent(request: pytest.FixtureRequest) -> Callable[..., ReActAgent]:
    """Builds the agent of a file next to the test: ``react_agent("agent.yaml", model="offline")``.

    Other arguments override keys of the file. Its runs are not saved.
    """

    def built(path: str | PathLike[str], **overrides: Any) -> ReActAgent:
        from react_run.agent import ReActAgent
        from react_run.config import load_config

        return ReActAgent(load_config(request.path.parent / path, overrides=overrides, trusted=True), journal=())

    return built


@pytest.fixture
def scripted(react_agent: Callable[..., ReActAgent]) -> Callable[..., ReActAgent]:
    """An agent that answers as you say: ``scripted("345")``, ``scripted(calls(("add", {"a": 1})), "1", tools=[add])``.

    With ``agent=``, a file next to the test or an agent object, that agent answers. Other arguments are those of
    :func:`react_run.testing.agent_with`.
    """

    def made(*replies: object, agent: ReActAgent | str | PathLike[str] | None = None, **options: Any) -> ReActAgent:
        from react_run.models.scripted import ScriptedModel
        from react_run.testing import agent_with

        if not replies:
            raise TypeError('scripted() was given no replies: say what the model answers, such as scripted("345")')
        if agent is None:
            return agent_with(replies, **options)
        found = react_agent(agent, **options) if isinstance(agent, (str, PathLike)) else agent
        return found.replace(model=ScriptedModel(replies=list(replies)))

    return made


@pytest.fixture
def recorded(request: pytest.FixtureRequest, react_agent: Callable[..., ReActAgent]) -> Callable[..., RunResult]:
    """Replays a recorded run offline: ``recorded("runs/may.jsonl", "agent.yaml")`` returns its result.

    Arguments of the returned function: the journal, and the agent file or an agent; paths are relative to the test.
    ``tools="recorded"`` also answers tool calls from the journal. Any difference from the recording raises
    ``ReplayMismatch``.
    """

    def replayed(
        recording: str | PathLike[str],
        agent: ReActAgent | str | PathLike[str],
        *,
        tools: Literal["recorded", "live"] = "live",
    ) -> RunResult:
        from react_run.testing import replayed

        found = react_agent(agent) if isinstance(agent, (str, PathLike)) else agent
        return replayed(request.path.parent / recording, found, tools=tools)

    return replayed
