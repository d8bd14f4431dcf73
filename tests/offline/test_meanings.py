"""What a question means, where its words alone could be taken for something else."""

from __future__ import annotations

import pytest
from tests.offline.asking import ask, toolsets

from react_offline import OfflineModel
from react_offline.declining import NOT_A_MODEL
from react_run import ReActAgent, tool
from react_run.testing import Functions


@pytest.mark.parametrize(
    ("question", "percent"),
    [
        ("What is 3/4 as a percentage?", "75"),
        ("0.2 as a percent", "20"),
        ("12 out of 48 as a percentage", "25"),
        ("20 as a percentage of 80", "25"),
    ],
)
def test_a_share_asked_for_as_a_percentage_is_given_as_one(question: str, percent: str) -> None:
    verdict = ask({"toolsets": ["math"], "question": question, "exact": percent})
    assert verdict.grade == "right", verdict.said


def test_a_percentage_of_something_that_was_not_named_is_asked_about() -> None:
    verdict = ask({"toolsets": ["math"], "question": "15% of 80 as a percentage", "asks": ["Of what"]})
    assert verdict.grade == "right", verdict.said


def test_whether_today_is_a_weekend_is_answered_by_yes_or_no() -> None:
    said = ask({"toolsets": ["temporal"], "question": "is today a weekend?", "contains": []}).said
    assert said.startswith(("Yes", "No"))


@pytest.mark.parametrize(
    ("question", "hours"),
    [
        ("how long from 22:00 to 06:00", "8 hours"),
        ("how many hours between 10pm and 6am", "8"),
        ("how long between 9am and 5pm", "8 hours"),
    ],
)
def test_a_time_of_day_before_the_one_it_follows_is_that_of_the_next_day(question: str, hours: str) -> None:
    verdict = ask({"toolsets": ["temporal"], "question": question, "exact": hours})
    assert verdict.grade == "right", verdict.said


@pytest.mark.parametrize("question", ["200 Calories in kJ", "100 kJ in Calories"])
def test_a_capital_that_makes_another_unit_reaches_the_tool(question: str) -> None:
    assert "Which 'Calories' is meant" in ask({"toolsets": ["math"], "question": question, "contains": []}).said


@pytest.mark.parametrize(
    ("question", "minutes"),
    [("how many minutes between 09:30 and 10:05", "35"), ("how many minutes from 9:30am to 10:05am", "35")],
)
def test_minutes_between_times_are_counted_as_hours_are(question: str, minutes: str) -> None:
    assert ask({"toolsets": ["temporal"], "question": question, "exact": minutes}).said == minutes


@pytest.mark.parametrize("question", ["how many days left until 2099-12-31", "how many days remain until 2099-12-31"])
def test_what_is_left_until_a_date_is_what_there_is_until_it(question: str) -> None:
    verdict = ask({"toolsets": ["temporal"], "question": question, "contains": ["days-until:2099-12-31"]})
    assert verdict.grade == "right", verdict.said


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("17/5 rounded up", "4"),
        ("round 17/5 up", "4"),
        ("round up 17/5", "4"),
        ("what is 17 divided by 5 rounded down", "3"),
        ("18/5 rounded", "4"),
        ("5 km in miles rounded up", "that rounded up: 4"),
        ("ceiling of 3.2", "4"),
    ],
)
def test_numbers_are_rounded_the_way_that_is_asked_for(question: str, value: str) -> None:
    verdict = ask({"toolsets": ["math"], "question": question, "contains": []})
    assert verdict.said.splitlines()[-1] == value


@pytest.mark.parametrize(
    "question",
    ["the root of 16 + 9", "average 10/4", "product of 17/5", "what is the power of 2*3", "2+3 as an average",
     "17/5 rounded to 3 significant figures"],
)  # fmt: skip
def test_an_operation_that_is_named_is_never_left_out(question: str) -> None:
    verdict = ask({"toolsets": ["math"], "question": question, "declines": True})
    assert verdict.grade == "right", verdict.said


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("the day before 2026-03-01", "2026-02-28"),
        ("day after 2026-12-31", "2027-01-01"),
        ("the week after 2026-01-01", "2026-01-08"),
        ("how many days until the day after 2099-12-31", "days-until:2100-01-01"),
    ],
)
def test_the_day_before_a_date_is_a_date(question: str, said: str) -> None:
    verdict = ask({"toolsets": ["temporal"], "question": question, "contains": [said]})
    assert verdict.grade == "right", verdict.said


@pytest.mark.parametrize(
    "question",
    ["3 days after 5 business days from 2026-03-02", "how many days until 5 business days after 2026-03-02"],
)
def test_business_days_on_the_way_to_a_date_are_not_counted_as_days(question: str) -> None:
    verdict = ask({"toolsets": ["temporal"], "question": question, "declines": True})
    assert verdict.grade == "right", verdict.said


@pytest.mark.parametrize(
    "question",
    ["Hi, what's 15*23?", "Hello! What is 15*23?", "What's 15*23? Thanks!", "Good morning. 15*23, please.",
     "Thank you. Hey there, could you compute 15*23? Thanks in advance!"],
)  # fmt: skip
def test_greetings_and_thanks_are_no_questions(question: str) -> None:
    verdict = ask({"toolsets": ["math"], "question": question, "exact": "345"})
    assert verdict.grade == "right", verdict.said


@pytest.mark.parametrize("question", ["Hello!", "Good morning", "Thanks a lot."])
def test_a_greeting_alone_is_declined(question: str) -> None:
    verdict = ask({"toolsets": ["math", "temporal"], "question": question, "declines": True})
    assert verdict.grade == "right", verdict.said


@pytest.mark.parametrize("question", ["what time was it there 3 hours ago", "what day number is 1 March 2028"])
def test_what_only_sounds_like_another_question_is_declined(question: str) -> None:
    verdict = ask({"toolsets": ["temporal"], "question": question, "declines": True})
    assert verdict.grade == "right", verdict.said


def test_how_many_there_are_names_no_place() -> None:
    verdict = ask({"toolsets": ["math"], "question": "how many feet are there in a mile", "exact": "5280 ft"})
    assert verdict.grade == "right", verdict.said


@pytest.mark.parametrize(
    ("question", "reply", "said"),
    [
        ("2 gallons in liters", "US", "7.570823568 l"),
        ("2 gallons in liters", "us_gallon", "7.570823568 l"),
        ("2 gallons in liters", "imperial gallons", "9.09218 l"),
        ("how many pints in a gallon", "US", "8 us_pint"),
        ("1 ton in kg", "short_ton", "907.18474 kg"),
        ("how many weeks in a year", "365 days", "52.1428571428571 week (approximate)"),
        ("how many days in a year", "2028", "366"),
        ("how many days in a month", "February 2028", "29"),
        ("convert 100 to fahrenheit", "celsius", "212 fahrenheit"),
        ("days from 5/6/2026 to 2026-08-07", "2026-06-05", "63"),
        ("convert 2026-01-01 12:00 from UTC to Georgia", "Asia/Tbilisi", "2026-01-01T16:00:00+04:00"),
    ],
)
def test_a_reply_to_a_question_of_ours_or_a_tools_completes_the_users(question: str, reply: str, said: str) -> None:
    agent = ReActAgent({}, model=OfflineModel(), toolsets=toolsets(["math", "temporal"]))
    asked = agent.run_sync(question)
    assert asked.answer != said
    assert agent.run_sync(reply, messages=asked.messages).answer == said


@pytest.mark.parametrize("reply", ["thanks", "never mind", "3pm", "tomorrow", "the first one"])
def test_what_is_no_reply_to_a_question_completes_nothing(reply: str) -> None:
    agent = ReActAgent({}, model=OfflineModel(), toolsets=toolsets(["math", "temporal"]))
    asked = agent.run_sync("what time is it in Birmingham")
    assert NOT_A_MODEL in agent.run_sync(reply, messages=asked.messages).answer


def test_thanks_for_an_answer_asks_for_nothing() -> None:
    agent = ReActAgent({}, model=OfflineModel(), toolsets=toolsets(["math", "temporal"]))
    answered = agent.run_sync("5 + 5")
    assert "I need" not in agent.run_sync("thanks", messages=answered.messages).answer


@tool(read_only=True)
def weather(city: str) -> dict[str, object]:
    """Get the weather in a city: temperature and wind."""
    return {"city": city, "temperature": 15, "unit": "C", "wind": 4}


@pytest.mark.parametrize(("asked", "said"), [("wind", "4"), ("temperature", "15 C")])
def test_a_unit_belongs_to_the_number_beside_it_and_to_no_other(asked: str, said: str) -> None:
    agent = ReActAgent({}, model=OfflineModel(), toolsets=[Functions(functions=[weather])])
    assert agent.run_sync(f"the {asked} in Rome").answer == said
