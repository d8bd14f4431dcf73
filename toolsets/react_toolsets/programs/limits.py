"""The options that say how much of the machine a command may use."""

from __future__ import annotations

from pydantic import BaseModel, ByteSize, ConfigDict, Field


class Limits(BaseModel):
    """How much of the machine a command may use where programs are confined; `timeout` limits its time."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    processes: int = Field(default=1024, ge=1)
    """Processes and threads at a time."""
    memory: ByteSize = Field(default=ByteSize(8 * 2**30), ge=2**20)
    """Bytes for the data of one process, such as `4GiB`."""
    file_size: ByteSize = Field(default=ByteSize(4 * 2**30), ge=0)
    """Bytes of one file."""
    cpu_seconds: int = Field(default=3600, ge=1)
    """Seconds that one process may compute."""
