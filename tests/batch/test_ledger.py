"""The rules that every queue keeps to: what a limit lets begin, which rows are new, what several batches add up to."""

from __future__ import annotations

from typing import Any

import pytest

from react_run import ConfigError
from react_run.batch import Row
from react_run.batch.ledger import Totals, all_together, beside, ids_of, values_of


def totals(**changed: Any) -> Totals:
    usual = dict.fromkeys(("ok", "unsuccessful", "error", "unpriced", "running"), 0) | {"total": 9}
    terms = {"cost": 0.0, "stopped": False, "max_cost": None, "reserve": 0.0, "rate": None}
    return Totals(**{**usual, **terms, **changed})


@pytest.mark.parametrize(
    ("counted", "affordable", "exhausted"),
    [
        ({}, 5, False),
        ({"unpriced": 1}, 5, False),
        ({"max_cost": 1.0}, 5, False),
        ({"max_cost": 1.0, "cost": 1.0}, 0, True),
        ({"max_cost": 1.0, "unpriced": 1}, 0, True),
        ({"max_cost": 1.0, "reserve": 0.25}, 4, False),
        ({"max_cost": 1.0, "reserve": 0.25, "running": 3}, 1, False),
        ({"max_cost": 1.0, "reserve": 0.25, "running": 4}, 0, False),
        ({"max_cost": 0.3, "reserve": 0.1, "running": 2}, 1, False),  # though 0.3 - 0.2 is less than 0.1
        ({"max_cost": 1.0, "reserve": 0.25, "cost": 0.8}, 0, True),
    ],
)
def test_a_limit_lets_begin_what_it_can_pay_at_most(counted: Any, affordable: int, exhausted: bool) -> None:
    assert totals(**counted).affordable(5) == affordable
    assert totals(**counted).progress().exhausted is exhausted


def test_batches_add_up_and_are_exhausted_when_each_with_rows_left_is() -> None:
    spent = totals(max_cost=1.0, cost=1.0, ok=3, running=1)
    finished = totals(total=2, ok=1, error=1, cost=0.5)
    together = all_together([spent, finished])
    assert (together.total, together.ok, together.error, together.running, together.cost) == (11, 4, 1, 1, 1.5)
    assert together.exhausted
    assert not all_together([spent, totals()]).exhausted
    assert not all_together([]).exhausted
    assert all_together([spent, totals(unpriced=1)]).cost is None


def test_rows_are_new_known_mended_or_refused() -> None:
    rows = [Row(index=index, prompt=f"{index}", place=f"in:{index}") for index in range(3)]
    sorted_ = beside(rows, {0: (rows[0].digest, False), 1: ("of a bad row", True)})
    assert [row.index for row in sorted_.new] == [2, 1]
    assert (sorted_.more, sorted_.more_bad) == (1, -1)
    with pytest.raises(ConfigError, match="in:1: row 2 is not what it was"):
        beside(rows, {1: ("of another row", False)})


def test_what_databases_do_not_take_is_written_out() -> None:
    odd = Row(index=0, id="\0\ud800", place="\udcff.txt:1")
    assert values_of(odd)[2:4] == ("\\0\\ud800", "\\udcff.txt:1")
    with pytest.raises(ConfigError, match=r"in:2: the id .* is that of .*, too"):
        ids_of([odd, Row(index=1, id="\\0\ud800", place="in:2")])
