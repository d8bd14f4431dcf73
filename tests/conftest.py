"""What every test needs of the process it runs in."""

from __future__ import annotations

import signal

# A program started in the background by a shell without job control ignores Ctrl-C, and so would all that it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
