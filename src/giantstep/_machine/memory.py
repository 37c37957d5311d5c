"""How much memory there is, and sentences about it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

import psutil

from giantstep._given.plain import real
from giantstep._machine.limits import left, moment
from giantstep._machine.random import kept_bytes
from giantstep.errors import InputError

GIB = 2.0**30
LEAST = 1e-3  # GiB that may be allowed
SHARE = 0.8  # of what is free, so that the rest of the machine goes on
_task: ContextVar[float | None] = ContextVar("memory", default=None)  # GiB of the task at work


def available() -> float:
    """Bytes free to this process: the machine's, or what its limits or the task at work leave if that is less."""
    own = _task.get()
    return min(_of_machine(moment()), left(), float("inf") if own is None else own * GIB)


@contextmanager
def within(memory: float | None) -> Iterator[None]:
    """Plan for so many GiB whatever does not say how many it may take; None leaves it to the task around this one."""
    token = _task.set(_task.get() if memory is None else memory)
    try:
        yield
    finally:
        _task.reset(token)


@lru_cache(maxsize=1)
def _of_machine(moment: int) -> float:
    return float(psutil.virtual_memory().available)


def given(memory: float | None, parts: int = 1) -> float | None:
    """The memory in GiB that a user allows to each of so many processes, or None."""
    return None if memory is None else real(memory, "memory (in GiB)", least=LEAST * parts) / parts


def budget(memory: float | None) -> float:
    """Bytes to stay within: ``memory`` in GiB if given, without what is kept of random numbers; else a share of what is free."""
    allowed = given(_task.get() if memory is None else memory)
    return SHARE * available() if allowed is None else max(allowed * GIB - kept_bytes(), 0.0)


def on_each(memory: float | None, devices: Sequence[Any]) -> float:
    """Bytes to stay within on each of these devices: ``memory`` in GiB if given, else a share of what is free there.

    Devices of the CPU are parts of one host: they share its memory evenly, and what every device holds is there as many times.
    """
    if devices[0].platform == "cpu":
        return budget(memory) / len(devices)
    free = [stats["bytes_limit"] - stats["bytes_in_use"] for d in devices if (stats := d.memory_stats())]
    return budget(memory) if memory is not None or not free else SHARE * min(free)


def check(needed: float, memory: float | None, fits: Callable[[float], str]) -> None:
    """Refuse work of so many bytes if they are not there; ``fits(share)`` says what would fit, in a share of those bytes."""
    allowed = budget(memory)
    if needed > allowed:
        raise refuse(needed, allowed, fits(allowed / needed))


def refuse(needed: float, allowed: float, fits: str) -> InputError:
    """The refusal, with what would fit."""
    return InputError(
        f"this needs at least {needed / GIB:.3g} GiB of memory and {allowed / GIB:.3g} GiB may be used; {fits} would fit"
    )
