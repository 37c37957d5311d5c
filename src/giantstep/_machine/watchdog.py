"""A message when a long step takes far longer than expected: a hang must not be silent."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def watchdog(what: str, seconds: float) -> Iterator[None]:
    """Say on stderr, every ``seconds``, that ``what`` is still running."""
    done = threading.Event()

    def watch() -> None:
        waited = 0.0
        while not done.wait(seconds):
            waited += seconds
            print(
                f"giantstep: {what} has been running for {waited:.0f} s, longer than expected; "
                "interrupt it if the processors are idle",
                file=sys.stderr,
                flush=True,
            )

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
