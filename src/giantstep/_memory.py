"""How much memory there is, and sentences about it."""

from pathlib import Path

import psutil

from giantstep._errors import InputError
from giantstep._record import real

GIB = 2.0**30
SHARE = 0.8  # of what is free, so that the rest of the machine goes on


def available() -> float:
    """Bytes free to this process: the machine's, or its control group's if that is less."""
    free = float(psutil.virtual_memory().available)
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
    except (OSError, ValueError):
        return free
    return free if limit == "max" else min(free, float(limit) - used)


def budget(memory: float | None) -> float:
    """Bytes to stay within: ``memory`` in GiB if given, else a share of what is free."""
    if memory is None:
        return SHARE * available()
    return real(memory, "memory (in GiB)", least=1e-3) * GIB


def refuse(needed: float, allowed: float, fits: str) -> InputError:
    """The refusal, with what would fit."""
    return InputError(
        f"this needs at least {needed / GIB:.3g} GiB of memory and {allowed / GIB:.3g} GiB may be used; {fits} would fit"
    )
