"""The program ``giantstep``, also ``python -m giantstep``: Ctrl-C ends it quietly from the first moment, also during imports."""

import os
import signal
import sys


def main() -> None:
    signal.signal(signal.SIGINT, leave)
    from giantstep.cli import run

    sys.exit(run())


def leave(number: int, frame: object) -> None:
    """Ctrl-C ends the program at once: an exception could be lost in a callback, and XLA's threads may still compute."""
    sys.stdout.flush()
    os.write(2, b"\x1b[?25hInterrupted.\n" if os.isatty(2) else b"Interrupted.\n")  # a progress bar hides the cursor
    os._exit(130)


if __name__ == "__main__":
    main()
