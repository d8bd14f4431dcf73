"""What the offline model says when it must decline: what it is, what it could do, and how to name a real model."""

from __future__ import annotations

import os
from collections.abc import Sequence

from react_offline.plan import Declined
from react_offline.skills import offers
from react_offline.slots import Card
from react_run.models.known_ids import KEYS

NOT_A_MODEL = "I am the offline model: a deterministic provider, not a language model."
_OTHER_KEYS = {"AWS_ACCESS_KEY_ID", "AZURE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "HF_TOKEN"}
_EXAMPLES = "such as OPENAI_API_KEY or ANTHROPIC_API_KEY"
_MOST_TOOLS = 12


def keys_set() -> list[str]:
    """The names of the provider keys in the environment, never their values."""
    known = {name for names in KEYS.values() for name in names} | _OTHER_KEYS
    return sorted(name for name in known if os.environ.get(name))


def decline(declined: Sequence[Declined], cards: Sequence[Card]) -> str:
    """The text that declines; it says which parts, and why."""
    lines = [NOT_A_MODEL, *(_reason(one) for one in declined)]
    permitted = [card for card in cards if card.name not in {one.could for one in declined}]
    if permitted or not cards:  # tools that wait for --yes are offered, too
        lines += ["", *_offers(permitted)]
    lines += ["", *_way_out()]
    return "\n".join(lines)


def _reason(declined: Declined) -> str:
    if declined.could:
        return (
            f"'{declined.text}': {declined.could} fits, but it may change things, and I call only tools that change "
            "nothing unless you say --yes."
        )
    return f"'{declined.text}': {declined.because or 'no tool offered here fits all of it, and I do not guess.'}"


def _offers(cards: Sequence[Card]) -> list[str]:
    if not cards:
        return ["No tools are offered here, so there is nothing I can do."]
    offered = [line for card in cards for line in _offered(card)]
    shown = offered[:_MOST_TOOLS]
    more = [f"- … and {len(offered) - _MOST_TOOLS} more"] if len(offered) > _MOST_TOOLS else []
    return ["What I can do here, when a question says plainly what it needs:", *shown, *more]


def _offered(card: Card) -> list[str]:
    if card.unlocks and (members := offers(card)):
        return [f"- {text}" for text in members.values()]
    return [f"- {card.name}: {card.summary}"]


def _way_out() -> list[str]:
    keys = keys_set()
    found = f"Keys set: {', '.join(keys)}." if keys else f"No provider key is set ({_EXAMPLES})."
    return [f"For anything else name a real model: -m MODEL, or REACT_MODEL=MODEL in the environment. {found}"]
