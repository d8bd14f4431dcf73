"""Locks on open files, between processes. The system releases them when the file is closed, or after a crash."""

from __future__ import annotations

import errno
import sys

if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int) -> bool:
        """Lock the open file unless another process holds the lock; return whether it is locked now."""
        try:
            # One byte far beyond the end, since other processes cannot read a locked range.
            _seek_lock_byte(descriptor)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _seek_lock_byte(descriptor: int) -> None:
        import os

        os.lseek(descriptor, 2**62, os.SEEK_SET)

else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Lock the open file unless another process holds the lock; return whether it is locked now."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
                raise  # on a file system without locks, go on without one
        return True
