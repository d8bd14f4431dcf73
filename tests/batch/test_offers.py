"""Rows that were handed to a process: each is told to be over once it is, however often it was handed out."""

from __future__ import annotations

from concurrent.futures import Future

from react_run.batch.offers import Key, Offers

KEY: Key = ("batch", 0, 0)


def offered(offers: Offers, key: Key = KEY) -> Future[None]:
    done: Future[None] = Future()
    offers.add(key, done)
    return done


def test_a_row_is_taken_once_and_told_when_it_is_over() -> None:
    offers = Offers()
    done = offered(offers)
    assert offers.take() == KEY
    assert (offers.waiting, done.done()) == (0, False)
    offers.over(KEY)
    assert (done.done(), list(offers.keys)) == (True, [])


def test_a_row_that_is_handed_out_again_while_at_work_goes_on_with_its_claim() -> None:
    offers = Offers()
    first = offered(offers)
    offers.take()
    second = offered(offers)
    assert offers.waiting == 0
    offers.over(KEY)
    assert first.done()
    assert second.done()


def test_a_claim_that_does_not_hold_leaves_the_row_to_the_later_offer() -> None:
    offers = Offers()
    first = offered(offers)
    offers.take()
    second = offered(offers)
    offers.lost(KEY)
    assert (first.done(), second.done(), offers.waiting) == (True, False, 1)
    assert offers.take() == KEY
    offers.lost(KEY)
    assert (second.done(), offers.waiting) == (True, 0)


def test_a_row_that_was_given_back_waits_behind_the_others() -> None:
    offers = Offers()
    other: Key = ("batch", 1, 0)
    done = offered(offers)
    offered(offers, other)
    assert offers.take() == KEY
    offers.put_back([KEY])
    assert offers.take() == KEY
    offers.wait(KEY)
    assert [offers.take(), offers.take()] == [other, KEY]
    assert not done.done()
