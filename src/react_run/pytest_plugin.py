"""The pytest plugin: fixtures for agents; with ``react_run = true``, cases as tests, and no real model is asked.

It is loaded wherever react-run is installed, so importing it brings nothing but pytest, and it does nothing but offer
its fixtures unless a project asks for more.
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
REASON = f"this is a test; mark it with @pytest.mark.{MARKER} to let it ask"
FILES = ("test_*.yaml", "*cases.yaml")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare what a project may say in its configuration."""
    parser.addini("react_run", "Block real models in tests, and collect the cases of react-run test.", "bool", False)
    parser.addini("react_run_files", "Names of files whose cases are tests, as globs.", "args", list(FILES))


def pytest_configure(config: pytest.Config) -> None:
    """Register the rest where it is asked for."""
    if config.getini("react_run"):
        from react_run.evals.pytest_cases import CaseCollection

        config.addinivalue_line("markers", f"{MARKER}: may ask real models (react-run)")
        config.pluginmanager.register(CaseCollection(), "react_run_cases")
        config.pluginmanager.register(NoRealModels(), "react_run_no_real_models")


class NoRealModels:
    """Keeps tests from asking models of other machines, also in processes that they start."""

    @pytest.fixture(autouse=True)
    def _no_real_models(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
        if request.node.get_closest_marker(MARKER) is None:
            monkeypatch.setenv("REACT_RUN_NO_MODELS", REASON)


@pytest.fixture
def react_agent(request: pytest.FixtureRequest) -> Callable[..., ReActAgent]:
    """Builds the agent of a file beside the test: ``react_agent("agent.yaml", model="offline")``.

    Other arguments replace keys of the file. Nothing is kept of its runs.
    """

    def built(path: str | PathLike[str], **overrides: Any) -> ReActAgent:
        from react_run.agent import ReActAgent
        from react_run.config import load_config

        return ReActAgent(load_config(request.path.parent / path, overrides=overrides, trusted=True), journal=())

    return built


@pytest.fixture
def scripted(react_agent: Callable[..., ReActAgent]) -> Callable[..., ReActAgent]:
    """An agent that answers as you say: ``scripted("345")``, ``scripted(calls(("add", {"a": 1})), "1", tools=[add])``.

    With ``agent=``, a file beside the test or an agent, that one answers so. Other arguments are those of
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
    """Replays a recorded run, offline: ``recorded("runs/may.jsonl", "agent.yaml")`` is its result.

    Args (of what it gives): the journal and the agent file, or an agent, both beside the test; ``tools="recorded"``
    answers tool calls from the journal as well. Whatever is not as recorded raises ``ReplayMismatch``.
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
