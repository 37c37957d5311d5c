"""RequestQueue: one thread that works on requests; a new request of a page replaces its older one. Newest: what that is.

JAX programs must not run in several threads of a process at once: all theory of the server goes through one queue.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from giantstep.explorer.processes._recent import Recent

MOST_WAITING = 32  # requests of all pages together
MOST_PAGES = 200  # whose newest request is known

T = TypeVar("T")


class Replaced(Exception):
    """A newer request of the same page replaced this one."""


class Newest:
    """What every page asked for last: an answer to anything else comes too late, also if it was asked for before."""

    def __init__(self) -> None:
        self._asked = Recent(MOST_PAGES)

    def ask(self, page: str, state: Any) -> None:
        """The page asks for this now."""
        self._asked[page] = state

    def require(self, page: str, state: Any) -> None:
        """Raise Replaced if the page has asked for something else since."""
        if self._asked.get(page, state) != state:
            raise Replaced


class RequestQueue:
    """``ask`` waits for its turn and returns the value of the work."""

    def __init__(self) -> None:
        self._waiting: OrderedDict[str, tuple[Callable[[], Any], Future[Any]]] = OrderedDict()
        self._changed = threading.Condition()
        threading.Thread(target=self._work, daemon=True).start()

    def ask(self, page: str, work: Callable[[], T]) -> T:
        """``work()``, computed by the queue's thread. Raises Replaced if a newer request of the page comes before its turn."""
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
            except BaseException as problem:  # the caller of ask receives it
                mine.set_exception(problem)
