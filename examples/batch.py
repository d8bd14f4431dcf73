"""Many runs of one agent from Python: run `python examples/batch.py`, interrupt it, and run it again to continue."""

from __future__ import annotations

import asyncio
from pathlib import Path

from react_run import ReActAgent
from react_run.batch import run_batch

AGENT = Path(__file__).parent.parent / "agents" / "calculator.yaml"


async def main() -> None:
    """Square twenty numbers, eight rows at once."""
    rows = [{"prompt": f"{number}*{number}", "id": f"square-{number}"} for number in range(1, 21)]
    async with ReActAgent.from_yaml(AGENT) as agent:
        async for result in run_batch(agent, rows, name="squares", say=print):
            print(f"{result.id}: {result.answer} ({result.status})")


if __name__ == "__main__":
    asyncio.run(main())
