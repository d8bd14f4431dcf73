"""The pytest plugin, in projects of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.evals.eval_agents import AGENT

pytest_plugins = ["pytester"]

CASES = """\
agent: agent.yaml
cases:
  - {name: right, prompt: "15*23", answer: "345", tools: [calculate], tags: easy}
  - {name: wrong, prompt: "15*24", answer: "360"}
"""


def run(project: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """pytest in a process of its own: nothing of this one is loaded there."""
    return project.runpytest_subprocess("-p", "no:cacheprovider", "-W", "error", *arguments, timeout=60)


def test_the_fixtures_are_there_without_any_configuration(pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", agent=AGENT)
    pytester.makepyfile(
        """
        import pytest

        from react_run.testing import calls

        def add(a: int, b: int) -> int:
            '''Add.'''
            return a + b

        def test_an_agent_of_a_file(react_agent):
            assert react_agent("agent.yaml").run_sync("15*23").answer == "345"
            assert react_agent("agent.yaml", max_iterations=3).config.max_iterations == 3

        def test_a_scripted_agent(scripted):
            assert scripted("yes").run_sync("x").answer == "yes"
            result = scripted(calls(("add", {"a": 1, "b": 2})), "3", tools=[add]).run_sync("x")
            assert [step.action for step in result.steps] == ["add"]

        def test_a_file_with_scripted_replies(scripted):
            assert scripted("no", agent="agent.yaml").run_sync("x").answer == "no"

        @pytest.mark.parametrize("agent", [None, "agent.yaml"])
        def test_replies_are_asked_for(scripted, agent):
            with pytest.raises(TypeError, match=r"what the model answers, such as scripted..345"):
                scripted(agent=agent)

        def test_a_recording(recorded, react_agent, tmp_path, monkeypatch):
            from react_run import ReActAgent
            agent = ReActAgent(react_agent("agent.yaml").config, journal=tmp_path / "run.jsonl")
            agent.run_sync("15*23")
            assert recorded(tmp_path / "run.jsonl", "agent.yaml").answer == "345"
        """
    )
    run(pytester).assert_outcomes(passed=6)


def test_nothing_else_happens_without_the_option(pytester: pytest.Pytester) -> None:
    pytester.makefile(".yaml", agent=AGENT, test_cases=CASES)
    pytester.makepyfile(
        """
        import os

        def test_it():
            assert "REACT_RUN_NO_MODELS" not in os.environ
        """
    )
    found = run(pytester, "--markers")
    assert "real_model" not in found.stdout.str()
    run(pytester).assert_outcomes(passed=1)


def test_cases_are_tests_where_it_is_asked_for(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nreact_run = true\n")
    pytester.makefile(".yaml", agent=AGENT, my_cases=CASES)
    found = run(pytester)
    found.assert_outcomes(passed=1, failed=1)
    found.stdout.fnmatch_lines(["*case wrong*", "answer: expected '360', got '345'"])
    assert "Traceback" not in found.stdout.str()
    run(pytester, "-k", "right").assert_outcomes(passed=1, deselected=1)
    run(pytester, "-k", "easy").assert_outcomes(passed=1, deselected=1)


def test_what_is_wrong_with_cases_is_said_with_its_position(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nreact_run = true\n")
    pytester.makefile(".yaml", agent=AGENT, my_cases=CASES.replace("answer", "anwser"))
    found = run(pytester)
    found.assert_outcomes(errors=1)
    found.stdout.fnmatch_lines(["*my_cases.yaml:3:36: cases*Did you mean 'answer'*"])


def test_real_models_are_blocked_unless_a_test_is_marked(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nreact_run = true\n")
    pytester.makepyfile(
        """
        import asyncio
        import subprocess
        import sys
        import pytest
        from react_run import ModelError, ReActAgent
        from react_run.models.openai import OpenAIModel

        def ask(address):
            model = OpenAIModel(model="gpt-x", base_url=address, api_key="k", timeout=2)
            return ReActAgent({"plugins": [{"kind": "model_retries", "attempts": 1}]}, model=model).run_sync("hello")

        def test_blocked():
            with pytest.raises(ModelError, match="is blocked: real models are blocked in tests; mark this one"):
                ask("http://models.example.invalid/v1")

        def test_streams_are_blocked_too():
            agent = ReActAgent(
                {"plugins": [{"kind": "model_retries", "attempts": 1}]},
                model=OpenAIModel(model="gpt-x", base_url="http://models.example.invalid/v1", api_key="k"),
            )
            async def stream():
                async for _ in agent.stream("hello"):
                    pass
            with pytest.raises(ModelError, match="is blocked"):
                asyncio.run(stream())

        def test_servers_of_this_machine_are_the_tests_own():
            with pytest.raises(ModelError) as caught:
                ask("http://127.0.0.1:9/v1")
            assert "is blocked" not in str(caught.value)

        @pytest.mark.real_model
        def test_allowed():
            with pytest.raises(ModelError) as caught:
                ask("http://models.example.invalid/v1")
            assert "is blocked" not in str(caught.value)
        """
    )
    run(pytester, "--strict-markers").assert_outcomes(passed=4)


def test_a_case_that_would_ask_a_real_model_fails_and_says_so(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nreact_run = true\n")
    pytester.makefile(".yaml", agent="model: gpt-4o-mini\n", my_cases=CASES)
    found = run(pytester)
    found.assert_outcomes(failed=2)
    found.stdout.fnmatch_lines(["right: it would call gpt-4o-mini; give it replies or a recording*the tag real_model"])


def test_the_plugin_brings_nothing_but_pytest(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import json, sys\n\ndef test_it():\n    print('LOADED', json.dumps(sorted(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "-p", "no:anyio", "test_it.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    line = next(line for line in done.stdout.splitlines() if "LOADED" in line)
    loaded = set(json.loads(line.partition("LOADED ")[2]))
    ours = {name for name in loaded if name.startswith("react_run")}
    assert ours <= {"react_run", "react_run.pytest_plugin"}
