"""Runs: simulations of the page in one child process, piece by piece; what was found is kept, so that a reload shows it.

There is one job at a time. A newer one takes the place of an older one after the piece in hand; Stop ends that piece as well.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from giantstep.errors import InputError
from giantstep.explorer.processes.worker import Child, Overdue, Stopped

__all__ = ["Piece", "Refused", "Runs"]

MOST_KEPT = 1000  # pieces
LIMIT = 600.0  # seconds for a piece


@dataclass(frozen=True)
class Piece:
    """A part of a job: a function of a module with its arguments, kept under ``key``."""

    key: Hashable
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Refused:
    """What stands for a piece that could not be had: the sentence why."""

    sentence: str


class Runs:
    """``start`` a job, ``stop`` it, and look at what is ``kept``."""

    def __init__(self) -> None:
        self._child = Child()
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._todo: list[Piece] = []
        self._hand: Piece | None = None
        self._dropped = False  # whether what is in hand is not wanted any more
        self._page = ""
        self._changed = threading.Condition()
        threading.Thread(target=self._work, daemon=True).start()

    def start(self, pieces: Sequence[Piece], page: str) -> None:
        """Make these pieces of a page the job, in this order, less those that are kept or in hand."""
        with self._changed:
            self._page = page
            for piece in pieces:
                if isinstance(self._kept.get(piece.key), Refused):
                    del self._kept[piece.key]
            hand = None if self._hand is None else self._hand.key
            self._todo = [piece for piece in pieces if piece.key not in self._kept and piece.key != hand]
            self._changed.notify()

    def stop(self) -> None:
        """Drop the job, and end what is in hand at once."""
        with self._changed:
            self._todo, busy = [], self._hand is not None
            self._dropped = busy
        if busy:
            self._child.stop()

    def leave(self, page: str, keys: Sequence[Hashable]) -> None:
        """Drop the job of a page that has moved on: nothing of it is under these keys."""
        with self._changed:
            if page == self._page and not any(piece.key in keys for piece in self._todo):
                self._todo = []

    def kept(self, key: Hashable) -> Any:
        """What was found under a key, or None."""
        with self._changed:
            return self._kept.get(key)

    def busy(self, keys: Sequence[Hashable]) -> bool:
        """Whether one of these is in hand or in line."""
        with self._changed:
            running = {piece.key for piece in (*self._todo, *([self._hand] if self._hand else []))}
        return not running.isdisjoint(keys)

    def rest(self, seconds: float) -> None:
        """Halt what is in hand for so long."""
        self._child.rest(seconds)

    def close(self) -> None:
        self.stop()
        self._child.close()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._todo:
                    self._changed.wait()
                piece = self._hand = self._todo.pop(0)
                self._dropped = False
            found = self._found(piece)
            with self._changed:
                self._hand = None
                if found is not None:
                    self._kept[piece.key] = found
                while len(self._kept) > MOST_KEPT:
                    self._kept.popitem(last=False)

    def _found(self, piece: Piece) -> Any:
        try:
            return self._child.call(piece.function, *piece.arguments, limit=LIMIT, dropped=lambda: self._dropped)
        except Stopped:
            return None
        except Overdue:
            return Refused(f"It took more than {LIMIT:.0f} seconds and was ended.")
        except InputError as problem:
            return Refused(str(problem))
