"""What breaks on the way to a provider is a typed error with words (behaviour S6)."""

from __future__ import annotations

import httpx
import pytest
from tests.models.cases import Case, cases, codes

from react_run import ModelError
from react_run.models.reply import transport_error, typed_errors

BROKEN = [case for case in cases("error") if str(case.input.get("exception", "")).startswith("httpx.")]


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: case.name)
def test_a_broken_connection_is_told_by_its_kind_and_whether_to_try_again(case: Case) -> None:
    raised: Exception = getattr(httpx, case.input["exception"].removeprefix("httpx."))(case.input["message"])
    error = transport_error(raised, "the provider", {"Authorization": "Bearer sk-CANARY-4444"})
    assert error is not None
    assert error.code in codes(case.expect["error"]["kind"])
    assert error.retryable == case.expect["error"]["retryable"]
    assert len(str(error)) > len("the provider ")  # an exception without a text still gets words


def test_a_key_in_the_text_of_a_broken_connection_is_not_shown() -> None:
    raised = httpx.ConnectError("refused for Bearer sk-CANARY-4444")
    with pytest.raises(ModelError) as caught, typed_errors("the provider", {"Authorization": "Bearer sk-CANARY-4444"}):
        raise raised
    assert "CANARY" not in f"{caught.value} {caught.value!r}"


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_on_the_way_is_no_error_of_the_provider(kind: type[BaseException]) -> None:  # T1
    with pytest.raises(kind), typed_errors("the provider", {}):
        raise kind
