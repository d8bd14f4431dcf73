"""The resource limits of commands."""

from __future__ import annotations

from pydantic import BaseModel, ByteSize, ConfigDict, Field


class Limits(BaseModel):
    """Resource limits for confined commands; `timeout` limits their time."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    processes: int = Field(default=1024, ge=1)
    """Maximum number of processes and threads."""
    memory: ByteSize = Field(default=ByteSize(8 * 2**30), ge=2**20)
    """Maximum memory of one process, such as `4GiB`."""
    file_size: ByteSize = Field(default=ByteSize(4 * 2**30), ge=0)
    """Maximum bytes of one file."""
    cpu_seconds: int = Field(default=3600, ge=1)
    """Maximum CPU seconds of one process."""
