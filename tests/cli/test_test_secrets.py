"""``react-run test`` prints no secret, whichever part of a case or an answer holds it."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode

import pytest

from react_run.cli.test import _judged
from react_run.evals.cases import Case
from react_run.testing import agent_with, says

KEY = "sk-canary-of-a-case-0123"


@pytest.mark.parametrize("form", [KEY, KEY.encode().hex(), b64encode(KEY.encode()).decode().rstrip("="), f"({KEY})"])
def test_neither_name_nor_problem_nor_answer_shows_a_secret(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    agent = agent_with([says(f"It is {form}.")])
    agent.config.masker.add(KEY)
    case = Case(name=form, prompt="go", answer="nothing like it")
    verdicts = asyncio.run(_judged([case], agent, [], quiet=False))
    shown = capsys.readouterr().out + json.dumps([verdict.to_dict() for verdict in verdicts])
    assert "***" in shown
    assert form not in shown
