"""The plugin ``cost``: model calls priced offline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from tests.fired import Fired

from react_plugins.cost import Cost, Price
from react_run import Usage, cost_of
from react_run.testing import calls, run_agent, says
from react_toolsets.agents import AgentsToolset


def body(model: str, usage: dict[str, object] | None = None) -> dict[str, object]:
    """A provider's answer."""
    message = {"role": "assistant", "content": "done"}
    usage = {"prompt_tokens": 1000, "completion_tokens": 500, "total_tokens": 1500} if usage is None else usage
    return {"response": {"model": model, "choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}}


OWN = {"my-*": Price(input=2, output=6, cached=0.5)}


@pytest.mark.parametrize(
    ("reply", "options", "cost"),
    [
        (body("my-model"), {"prices": OWN}, 0.005),
        (
            body(
                "my-model",
                {"prompt_tokens": 1000, "completion_tokens": 500, "prompt_tokens_details": {"cached_tokens": 600}},
            ),
            {"prices": OWN},
            0.0041,
        ),
        (body("my-model", {}), {"prices": OWN}, None),
        (body("gpt-4o-mini"), {}, cost_of("gpt-4o-mini", Usage(input_tokens=1000, output_tokens=500))),
        (body("gpt-4o-mini"), {"table": False}, None),
        (body("gpt-4o-mini"), {"prices": {"gpt-*": Price(input=1, output=1)}}, 0.0015),
        (body("nobody-knows-it"), {}, None),
        (
            says("done", usage={"input_tokens": 1000, "output_tokens": 500, "cost": 7.0}),
            {"prices": {"*": OWN["my-*"]}},
            7.0,
        ),
    ],
)
def test_what_a_call_cost_is_looked_up_when_nobody_said_it(
    reply: dict[str, object], options: dict[str, Any], cost: float | None
) -> None:
    result = run_agent([reply], plugins=[Cost(**options)])
    assert result.usage.cost == (None if cost is None else pytest.approx(cost))


def test_the_table_knows_common_models() -> None:
    known = cost_of("gpt-4o-mini", Usage(input_tokens=1000, output_tokens=500))
    assert known is not None
    assert known > 0


def test_a_cost_limit_goes_by_these_prices() -> None:
    plugin = Cost(prices={"*": Price(input=1000, output=1000)})
    result = run_agent([body("x"), body("x")], plugins=[plugin], max_cost=1.0)
    assert result.stop_reason == "completed"
    assert result.usage.cost == pytest.approx(1.5)


def test_a_subagent_is_paid_at_the_prices_of_whoever_asked_it(tmp_path: Path) -> None:
    helper = tmp_path / "helper.yaml"
    reply = json.dumps(body("my-model"))
    helper.write_text(f"name: helper\ndescription: Helps.\nmodel: {{kind: scripted, replies: [{reply}]}}\n")
    free = {"input_tokens": 1, "output_tokens": 1, "cost": 0.0}
    replies = [calls(("helper", {"task": "x"}), usage=free), says("done", usage=free)]
    result = run_agent(replies, toolsets=[AgentsToolset(agents=[helper])], plugins=[Cost(prices=OWN)])
    assert result.usage.cost == pytest.approx(0.005)


def test_the_sum_is_noted_at_the_end() -> None:
    fired = Fired()
    run_agent([body("my-model")], plugins=[Cost(prices=OWN), fired])
    assert fired.of("cost") == ["0.005000 USD for 1 model calls, 1500 tokens"]


def test_a_price_is_not_negative() -> None:
    with pytest.raises(ValidationError):
        Price(input=-1, output=0)
