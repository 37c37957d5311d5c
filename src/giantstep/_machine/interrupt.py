"""Ctrl-C as a quiet end of the program. Nothing but the standard library is imported here, so that it can be set up first."""

import os
import signal
import sys


def leave_on_interrupt() -> None:
    """From now on Ctrl-C ends the program at once, with one word and exit code 130."""
    signal.signal(signal.SIGINT, _leave)


def _leave(number: int, frame: object) -> None:
    """An exception could be lost in a callback, and XLA's threads may still compute."""
    sys.stdout.flush()
    os.write(2, b"\x1b[?25hInterrupted.\n" if os.isatty(2) else b"Interrupted.\n")  # a progress bar hides the cursor
    os._exit(130)
