"""Serves an editor on standard input and output."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, redirect_stdout
from typing import cast

from acp import Agent, run_agent
from acp.core import DEFAULT_STDIO_BUFFER_LIMIT_BYTES

from react_run.errors import ConfigError
from react_run.serve.acp.agent import EditorAgent, Offered


async def serve_editor(offered: Offered) -> None:
    """Serve one editor until its input ends; other writes to standard output are redirected to standard error.

    Raises:
        ConfigError: Standard input or output is not connected to an editor.
    """
    agent = EditorAgent(offered)
    async with _streams() as (reader, writer):
        with redirect_stdout(sys.stderr):
            try:
                await run_agent(cast("Agent", agent), writer, reader, use_unstable_protocol=True)
            finally:
                await agent.close()


@asynccontextmanager
async def _streams() -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Standard input, and the original standard output; child processes now write to standard error instead."""
    if not all(map(_can_talk, (0, 1))):
        raise ConfigError("an editor starts this command and talks to it through pipes: see docs/acp.md")
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=DEFAULT_STDIO_BUFFER_LIMIT_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    with os.fdopen(os.dup(1), "wb", buffering=0) as out:
        os.dup2(2, 1)
        transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, out)
        try:
            yield reader, asyncio.StreamWriter(transport, protocol, None, loop)
        finally:
            transport.close()


def _can_talk(descriptor: int) -> bool:
    """Whether another program may be at the other end: false for a regular file or ``/dev/null``."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)
