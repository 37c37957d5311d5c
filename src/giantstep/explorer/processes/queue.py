"""Desk: one thread that works on requests, the newest of a page first in line; those it replaces are dropped.

JAX programs must not run in several threads of a process at once: all theory of the server goes over one desk.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

__all__ = ["Desk", "Replaced"]

MOST_WAITING = 32  # requests in line, of all pages together

T = TypeVar("T")


class Replaced(Exception):
    """A newer request of the same page took this one's place."""


class Desk:
    """``ask`` waits for its turn and returns what the work returns."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, tuple[Callable[[], Any], Future[Any]]] = OrderedDict()
        self._changed = threading.Condition()
        threading.Thread(target=self._work, daemon=True).start()

    def ask(self, page: str, work: Callable[[], T]) -> T:
        """``work()``, done by the desk's thread. Raises Replaced if a newer request of the page came before its turn."""
        mine: Future[T] = Future()
        with self._changed:
            if page in self._waiting:
                self._waiting.pop(page)[1].set_exception(Replaced())
            while len(self._waiting) >= MOST_WAITING:
                self._waiting.popitem(last=False)[1][1].set_exception(Replaced())
            self._waiting[page] = (work, mine)
            self._changed.notify()
        return mine.result()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    self._changed.wait()
                _, (work, mine) = self._waiting.popitem(last=False)
            try:
                mine.set_result(work())
            except BaseException as problem:  # it belongs to whoever asked
                mine.set_exception(problem)
