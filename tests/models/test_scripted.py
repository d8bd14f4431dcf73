"""The scripted model says what a reply may be."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from react_run import ScriptedModel


def test_a_wrong_key_of_a_reply_names_the_ones_there_are() -> None:
    with pytest.raises(ValidationError, match=r"unknown key 'tool_call'\. Did you mean 'tool_calls'"):
        ScriptedModel(replies=[{"tool_call": []}])
    with pytest.raises(ValidationError, match=r"unknown key 'xyzzy'\. Keys: delay, error, extra, .*text, tool_calls"):
        ScriptedModel(replies=["hello", {"xyzzy": []}])
