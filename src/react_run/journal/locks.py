"""Locks on open files, between processes: released when the file is closed, also by a crash."""

from __future__ import annotations

import errno
import sys

if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int) -> bool:
        """Lock the open file, unless somebody else has; whether that was possible."""
        try:
            # One byte far behind the end: locked ranges cannot be read by others.
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
        """Lock the open file, unless somebody else has; whether that was possible."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS):
                raise  # file systems that know no locks have no such protection
        return True
