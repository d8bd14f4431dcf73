"""Cold first calls of the deterministic toolsets, in fresh processes, and the cost of hostile expressions."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from functools import partial
from statistics import median

from benchmarks.measure import cpu, report
from react_offline import OfflineModel
from react_run import Message, ModelRequest
from react_toolsets.math import MathToolset
from react_toolsets.temporal import TemporalToolset

COLD = {
    "calculate": ("math", "MathToolset", "tools['calculate'].function('sqrt(2)*sin(pi/3)')"),
    "convert_units": ("math", "MathToolset", "tools['convert_units'].function(5, 'mi', 'km')"),
    "get_current_time": ("temporal", "TemporalToolset", "tools['get_current_time'].function()"),
    "convert_datetime": (
        "temporal",
        "TemporalToolset",
        "tools['convert_datetime'].function('2026-08-06T14:30', 'Europe/Paris', 'Asia/Tokyo')",
    ),
}
HOSTILE = {
    "parentheses": "(" * 249 + "1" + ")" * 249,
    "towers": "9**9**9**9**9",
    "factorials": "9999!!!!",
    "deep functions": "sqrt(" * 80 + "2" + ")" * 80,
    "letters": "a" * 500,
    "long sum": "1.1**1.1+" * 55 + "1",
}

QUESTIONS = (
    "15*23",
    "what is 15 percent of 240",
    "convert 5 miles to km and multiply that by 3",
    "what time is it in Tokyo, and how many days are there until 24 December 2027?",
    "who wrote the first book about bees?",
)


def cold(module: str, name: str, call: str) -> float:
    """CPU milliseconds of a first call in a fresh process."""
    program = (
        f"import time; from react_toolsets.{module} import {name}; tools = {{t.name: t for t in {name}().tools()}};"
        f"start = time.process_time(); {call}; print((time.process_time() - start) * 1000)"
    )
    return float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)


def replies() -> dict[str, float]:
    """CPU seconds of the offline model's first reply to each question, with the tools already known."""
    tools = tuple(tool for toolset in (MathToolset(), TemporalToolset()) for tool in toolset.tools())

    def reply(question: str) -> None:
        asyncio.run(
            OfflineModel().complete(ModelRequest(messages=[Message(role="user", content=question)], tools=tools))
        )

    reply("2+2")
    nothing = cpu(lambda: asyncio.run(asyncio.sleep(0)))
    return {question: max(0.0, cpu(partial(reply, question)) - nothing) for question in QUESTIONS}


def main() -> None:
    """Report all three."""
    report("cold_call_cpu_ms", **{name: round(median(cold(*how) for _ in range(3)), 1) for name, how in COLD.items()})
    calculate = next(tool for tool in MathToolset().tools() if tool.name == "calculate")
    taken = {name: cpu(lambda text=text: calculate.function(text[:500])) for name, text in HOSTILE.items()}  # type: ignore[misc]  # lambda default
    report("hostile_expression_cpu_ms", **{name: round(seconds * 1000, 1) for name, seconds in taken.items()})
    report("offline_reply_cpu_ms", **{question: round(seconds * 1000, 2) for question, seconds in replies().items()})


if __name__ == "__main__":
    main()
