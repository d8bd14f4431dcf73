"""Good files, edited at random: whatever comes of it is a configuration or our error type."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from tests.config.components import write

from react_run.config import AgentFileError, load_config

EDITS = 5_000
SEED = 20_261

GOOD = [
    """\
version: 1
name: assistant
model: ${REACT_MODEL:-offline}
temperature: 0
max_iterations: 8
toolsets:
  - kind: kit_parts:Words
    digits: 3
    api_key: ${LEDGER_KEY}
tool_disclosure: skills
failure_handling: safe
plugins:
  - kind: kit_parts:Tracer
    attempts: 3
checks:
  - kind: kit_parts:Longer
    length: 3
limits: {max_cost: 0.25, run_timeout: 60}
""",
    """\
id: a
class_name: rustic_ai.llm_agent.react.ReActAgent
properties:
  model: {kind: scripted, replies: [{tool_calls: [{name: a, arguments: {x: 1}}]}, "done"]}
  system_prompt: |
    Two lines
    of prompt.
  toolset:
    kind: react_run.CompositeToolset
    toolsets: [kit_parts.shout, {kind: 'kit_parts.Words', loud: yes}]
metadata: {a: &x [1, 2], b: *x, <<: {c: "é"}}
extends: []
""",
]
PIECES = [
    *["\n", " ", "\t", ":", "- ", "{", "}", "[", "]", "'", '"', "#", "&a ", "*a", "!!", "|", ">", "%", "@", "`", "?"],
    *["${", "${X}", "$$", "<<: ", "~", "null", "no", "1e9", ".nan", "0x", "-1", "9" * 30, "kind: ", "file: ", "\x00"],
    *[
        "\x1b",
        "\ufeff",
        "\u2028",
        "é",
        "漢",
        "😀",
        "\r",
        "extends: agent.yaml",
        "---",
        "...",
        "a: 1\n",
        "toolset: math",
    ],
]


def edited(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 4)):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.choice([0, 0, 1, 1, 2, 5, 20]))
        match chance.randrange(4):
            case 0:
                text = text[:start] + text[end:]
            case 1:
                text = text[:start] + chance.choice(PIECES) + text[start:]
            case 2:
                text = text[:start] + text[start:end] * 2 + text[end:]
            case _:
                other = chance.randrange(len(text) + 1)
                text = text[:start] + text[other : other + chance.randrange(30)] + text[end:]
    return text


def test_five_thousand_random_edits_give_a_configuration_or_an_error_of_ours(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    record_property("faults", EDITS)
    chance = random.Random(SEED)
    path = write(tmp_path, "")
    loaded, reported = 0, []
    for number in range(EDITS):
        text = edited(GOOD[number % len(GOOD)], chance)
        path.write_text(text, encoding="utf-8", newline="")
        try:
            load_config(path, environment={"LEDGER_KEY": "sk-CANARY-123456"}, trusted=True)
            loaded += 1
        except AgentFileError as error:
            reported.append((len(error.problems), str(error)))
    assert all(count for count, _ in reported)
    assert not any("sk-CANARY" in text for _, text in reported)
    assert EDITS * 0.02 < loaded < EDITS * 0.9  # the edits neither always nor never break a file
