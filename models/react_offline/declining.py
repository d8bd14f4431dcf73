"""The texts that decline: what the offline model is, what it can do, and how to use a real model."""

from __future__ import annotations

import os
from collections.abc import Sequence

from react_offline.plan import Declined
from react_offline.skills import offers
from react_offline.slots import Card

NOT_A_MODEL = "I am the offline model: a deterministic provider, not a language model."
_OTHER_KEYS = {"AWS_ACCESS_KEY_ID", "AZURE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "HF_TOKEN"}
_EXAMPLES = "such as OPENAI_API_KEY or ANTHROPIC_API_KEY"
_MOST_TOOLS = 12


def keys_set() -> list[str]:
    """The names of the provider keys in the environment, never their values."""
    from react_run.models.known_ids import KEYS  # needed only to decline

    known = {name for names in KEYS.values() for name in names} | _OTHER_KEYS
    return sorted(name for name in known if os.environ.get(name))


def decline(declined: Sequence[Declined], cards: Sequence[Card]) -> str:
    """The refusal in three lines: which parts it declines, why, and what would work."""
    permitted = [card for card in cards if card.name not in {one.could for one in declined}]
    offered = [line.partition(":")[0] for card in permitted for line in _offered(card)]
    more = f" and {len(offered) - _MOST_TOOLS} more" if len(offered) > _MOST_TOOLS else ""
    can = f"I can call {', '.join(offered[:_MOST_TOOLS])}{more}: ask 'what can you do?'. " if offered else ""
    nothing = "" if cards else "No tools are offered here, so there is nothing I can do. "
    return "\n".join([NOT_A_MODEL, *(_reason(one) for one in declined), f"{can}{nothing}{_way_out()}"])


def abilities(cards: Sequence[Card]) -> str:
    """A list of the available tools and skills."""
    offered = [f"- {line}" for card in cards for line in _offered(card)]
    about = "What I can do here, when a question says plainly what it needs:"
    return "\n".join([NOT_A_MODEL, "", about, *offered, "", _way_out()])


def _reason(declined: Declined) -> str:
    if declined.could:
        return (
            f"'{declined.text}': {declined.could} fits, but it may change things, and I call only tools that change "
            "nothing unless you say --yes."
        )
    return f"'{declined.text}': {declined.because or 'no tool offered here fits all of it, and I do not guess.'}"


def _offered(card: Card) -> list[str]:
    return [*offers(card).values()] if card.unlocks and offers(card) else [f"{card.name}: {card.summary}"]


def _way_out() -> str:
    keys = keys_set()
    found = f"Keys set: {', '.join(keys)}." if keys else f"No provider key is set ({_EXAMPLES})."
    return f"For anything else name a real model: -m MODEL, or REACT_MODEL=MODEL in the environment. {found}"
