"""``python -m benchmarks.guards.peers.trial RUNTIME MODE SCENARIO…``: run scenarios, one line of JSON for each.

Without arguments it says which runtimes are installed. It is a process of its own: some runs hang, and some end it.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
import warnings
from collections import Counter
from typing import Any

from benchmarks.guards.peers.runtimes import RUNTIMES, installed
from benchmarks.guards.peers.scenarios import SCENARIOS, Scenario
from benchmarks.guards.peers.server import ModelServer
from benchmarks.guards.peers.world import World

PROMPT = "Do what is to be done, and say what came of it."
HUGE = 1_000_000
"""Bytes of a request above which a result was handed on whole."""


def outcome(runtime: str, careful: bool, scenario: Scenario) -> dict[str, Any]:
    """What came of one run."""
    world, server = World(), ModelServer(scenario.persona)
    answer, claims, error = "", False, ""
    started = time.monotonic()
    try:
        answer, claims = RUNTIMES[runtime][1](server.url, world.tools(*scenario.tools), scenario.marks, PROMPT, careful)
    except Exception as caught:  # how a run ends is what is looked at
        error = type(caught).__name__
    finally:
        server.close()
    done = Counter(world.done)
    return {
        "answer": answer[:200],
        "claims": claims,
        "error": error,
        "right": not error and scenario.right(answer, world),
        "twice": any(done[effect] > 1 for effect in scenario.once),
        "requests": server.requests,
        "huge": server.largest > HUGE,
        "seconds": round(time.monotonic() - started, 1),
    }


def main() -> None:
    """Run what the command line names."""
    if len(sys.argv) == 1:
        print(json.dumps(installed()))
        return
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    _, runtime, mode, *names = sys.argv
    wanted = [scenario for scenario in SCENARIOS if scenario.name in names]
    out = os.fdopen(os.dup(1), "w")  # what a runtime prints goes elsewhere
    os.dup2(2, 1)
    outcome(runtime, mode == "careful", SCENARIOS[0])  # imports what there is to import
    for scenario in wanted:
        print(json.dumps({"begins": scenario.name}), file=out, flush=True)
        told = outcome(runtime, mode == "careful", scenario)
        print(json.dumps({"scenario": scenario.name, **told}), file=out, flush=True)
    out.flush()
    os._exit(0)  # threads may still hang


if __name__ == "__main__":
    main()
