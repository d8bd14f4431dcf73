"""Writes that share a transaction."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from react_run.batch.group_commit import GroupCommit
from react_run.batch.queue_file import QueueFile


@pytest.mark.parametrize("begun", [False, True])
def test_a_write_is_answered_although_all_other_tasks_are_cancelled(tmp_path: Path, begun: bool) -> None:
    """As at the end of ``asyncio.run``, when rows are given back."""

    async def scenario() -> None:
        file = QueueFile(tmp_path / "queue.db", "b")
        commits = GroupCommit(file, lambda waiting: True)
        first = asyncio.create_task(commits.run(lambda db: "kept", durable=False))
        await asyncio.sleep(0)  # it has asked
        if begun:
            await asyncio.sleep(0)  # others are waited for
        for task in asyncio.all_tasks() - {first, asyncio.current_task()}:
            task.cancel()
        assert await asyncio.wait_for(first, 60) == "kept"
        await commits.close()
        file.close()

    asyncio.run(scenario())
