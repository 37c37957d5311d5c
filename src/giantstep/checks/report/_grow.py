"""Write the report of a check again and again while claims end."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from giantstep.checks._standing import Standing
from giantstep.checks.report._render import RELOAD_AFTER
from giantstep.checks.report.page import write_so_far
from giantstep.errors import InputError

PAUSE = 20.0  # between two reports, in units of the time to write the last one: claims need the cores
LEAST = RELOAD_AFTER  # seconds between two reports: no reader sees more of them


@contextmanager
def growing(folder: Path) -> Iterator[Callable[[Standing], None]]:
    """Give a function to call with every standing.

    If the check ends early, the report shows the results so far.
    """
    latest: Standing | None = None
    written: Standing | None = None
    due = 0.0

    def grow(standing: Standing) -> None:
        nonlocal latest, written, due
        if standing.set_number:
            return  # the report of the first set stays until all sets have ended
        latest = standing
        start = time.monotonic()
        if not standing.complete and start >= due:
            write_so_far(standing, folder, written)
            written = standing
            end = time.monotonic()
            due = end + max(PAUSE * (end - start), LEAST)

    try:
        yield grow
    except BaseException:
        if latest is not None and not latest.complete:
            with suppress(InputError):  # the report that is there stays
                write_so_far(latest.stopped(), folder, written)
        raise
