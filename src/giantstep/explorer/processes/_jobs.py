"""JobRunner: simulations of the page in one worker process, task by task. Results are stored, so that a reload shows them.

There is one job at a time. A newer job replaces an older one after the current task; Stop ends the current task as well.
"""

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from giantstep.errors import InputError
from giantstep.explorer.processes._recent import Recent
from giantstep.explorer.processes._worker import Stopped, TimedOut, WorkerProcess

MOST_RESULTS = 1000
LIMIT = 600.0  # seconds for a task


@dataclass(frozen=True)
class JobPart:
    """A part of a job: a function of a module with its arguments; its result is stored under ``key``."""

    key: Hashable
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Failure:
    """The result of a task that failed: a sentence that says why."""

    sentence: str


class JobRunner:
    """``start`` and ``stop`` a job, and look at a ``result``."""

    def __init__(self) -> None:
        self._process = WorkerProcess()
        self._results = Recent(MOST_RESULTS)
        self._waiting: list[JobPart] = []
        self._current: JobPart | None = None
        self._cancelled = False  # whether the current task was stopped
        self._page = ""
        self._changed = threading.Condition()
        threading.Thread(target=self._work, daemon=True).start()

    def start(self, tasks: Sequence[JobPart], page: str) -> None:
        """Make these tasks of a page the job, in this order, except those that have a result or are running."""
        with self._changed:
            self._page = page
            for task in tasks:
                if isinstance(self._results.get(task.key), Failure):
                    del self._results[task.key]
            current = None if self._current is None else self._current.key
            self._waiting = [task for task in tasks if task.key not in self._results and task.key != current]
            self._changed.notify()

    def stop(self) -> None:
        """Drop the job, and end the current task at once."""
        with self._changed:
            self._waiting, busy = [], self._current is not None
            self._cancelled = busy
        if busy:
            self._process.stop()

    def drop_unless(self, page: str, keys: Sequence[Hashable]) -> None:
        """Drop the job of a page that has moved on, unless a waiting task has one of these keys."""
        with self._changed:
            if page == self._page and not any(task.key in keys for task in self._waiting):
                self._waiting = []

    def result(self, key: Hashable) -> Any:
        """The result under a key, or None."""
        with self._changed:
            return self._results.get(key)

    def busy(self, keys: Sequence[Hashable]) -> bool:
        """Whether a task with one of these keys runs or waits."""
        with self._changed:
            running = {task.key for task in (*self._waiting, *([self._current] if self._current else []))}
        return not running.isdisjoint(keys)

    def pause(self, seconds: float) -> None:
        """Halt the current task for so many seconds."""
        self._process.pause(seconds)

    def close(self) -> None:
        self.stop()
        self._process.close()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._waiting:
                    self._changed.wait()
                task = self._current = self._waiting.pop(0)
                self._cancelled = False
            result = self._run(task)
            with self._changed:
                self._current = None
                if result is not None:
                    self._results[task.key] = result

    def _run(self, task: JobPart) -> Any:
        try:
            return self._process.call(task.function, *task.arguments, limit=LIMIT, cancelled=lambda: self._cancelled)
        except Stopped:
            return None
        except TimedOut:
            return Failure(f"It took more than {LIMIT:.0f} seconds and was ended.")
        except InputError as problem:
            return Failure(str(problem))
