"""Keys of an agent file as keywords of ``ReActAgent``: the same keys, the same values, the same messages."""

from __future__ import annotations

import typing
from typing import Any

import pytest

from react_run import ConfigError, ReActAgent, ReActAgentConfig, ScriptedModel
from react_run.config.keywords import OTHERS, AgentKeys
from react_run.models.openai import OpenAIModel


def test_every_key_of_a_file_is_a_keyword() -> None:
    assert AgentKeys.__annotations__.keys() | OTHERS == set(ReActAgentConfig.option_names())
    assert not AgentKeys.__annotations__.keys() & OTHERS


def test_the_types_of_the_keywords_can_be_looked_up() -> None:
    from react_run.checks import Check
    from react_run.config.limits import Limits
    from react_run.models.base import Model

    known = {"Check": Check, "Limits": Limits, "Model": Model}
    assert set(typing.get_type_hints(AgentKeys, localns=known)) == AgentKeys.__annotations__.keys()


def test_keywords_mean_what_the_file_would() -> None:
    agent = ReActAgent(
        model="offline", toolsets=["math"], system_prompt="Be brief.", max_iterations=3, max_cost=0.5, name="sums"
    )
    assert agent.config.system_prompt == "Be brief."
    assert agent.config.max_iterations == 3
    assert agent.config.limits.max_cost == 0.5
    assert repr(agent) == "<ReActAgent sums: model offline, 2 tools>"


def test_keywords_replace_the_keys_of_a_mapping() -> None:
    agent = ReActAgent({"max_iterations": 3, "name": "a"}, max_iterations=4)
    assert (agent.config.max_iterations, agent.config.name) == (4, "a")


def test_keywords_about_the_model_are_about_the_one_that_is_given() -> None:
    agent = ReActAgent(model="small", base_url="http://127.0.0.1:1/v1", temperature=0.5, tool_protocol="native")
    assert isinstance(agent.model, OpenAIModel)
    assert (agent.model.model, agent.model.temperature) == ("small", 0.5)


def test_a_model_object_is_used_as_it_is() -> None:
    model = ScriptedModel(replies=["done"])
    assert ReActAgent(model=model, max_iterations=2).model is model


def test_the_schema_of_the_answer_is_a_keyword() -> None:
    agent = ReActAgent(model=ScriptedModel(replies=['{"a": 1}']), output_schema={"type": "object", "required": ["a"]})
    assert agent.run_sync("go").value == {"a": 1}


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"system_promt": "x"}, "unknown key 'system_promt'. Did you mean 'system_prompt'?"),
        ({"tools": []}, "unknown key 'tools': tools come from toolsets, such as [math]"),
        ({"max_iterations": "three"}, "max_iterations: must be a whole number"),
        ({"guides": len}, "guides: must be a list, not builtin_function_or_method"),
    ],
)
def test_a_wrong_keyword_is_named_with_the_nearest(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ReActAgent(model="offline", **keys)
    assert said in str(caught.value)
    assert "- entry" not in str(caught.value)


def test_a_configuration_that_is_built_takes_no_keywords() -> None:
    with pytest.raises(ConfigError, match="max_iterations: a finished configuration cannot be changed"):
        ReActAgent(ReActAgentConfig.from_mapping({}), max_iterations=2)
