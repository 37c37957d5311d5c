"""WorkerProcess: a child process of the server that can be stopped at any moment. It runs one function at a time."""

import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Any

import psutil

from giantstep.errors import InputError
from giantstep.lab.work._child import Child, ChildEnded

NICE = 10  # the page and the fast theory come first
BUSY = 3.0  # on a busy machine, or after a pause, an answer may take this many times its limit by the clock
LOOK = 0.05  # of the limit, and at most a second, pass until the process is looked at again


class Stopped(Exception):
    """The process was ended before it answered."""


class TimedOut(Exception):
    """The process was ended because it took longer than allowed."""


@dataclass
class Patience:
    """Says when a process has had its time: so many CPU seconds, as many of the clock without progress, or a few times more."""

    limit: float
    begun: float  # by the clock
    used: float  # CPU seconds at the beginning

    def __post_init__(self) -> None:
        self._seen, self._moved = self.used, self.begun

    def over(self, clock: float, cpu: float) -> bool:
        """Whether it is over now; CPU seconds that do not grow are those of a process that is halted."""
        if cpu > self._seen:
            self._seen, self._moved = cpu, clock
        halted, taken = clock - self._moved, clock - self.begun
        return cpu - self.used >= self.limit or halted >= self.limit or taken >= BUSY * self.limit


class WorkerProcess:
    """``call`` runs a function of a module in the process; ``stop`` ends it, and the next call starts a new process."""

    def __init__(self) -> None:
        self._one = threading.Lock()  # one call after the other
        self._state = threading.Lock()
        self._process: Child | None = None
        self._closed = False
        self._wake: threading.Timer | None = None  # resumes a process that is paused

    def call(
        self,
        function: Callable[..., Any],
        *arguments: Any,
        limit: float | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Any:
        """The function's value. InputError is raised here as it was there, any other exception as InputError with its name.

        ``limit`` is in seconds, those of ``Patience``. ``cancelled`` is called before anything starts: a stop that came just
        before this call is not lost.
        """
        with self._one:
            child = self._connect(cancelled)
            try:
                child.send(_answer, function, arguments)
                answer = _received(child)
                if limit is not None and not self._comes(answer, limit):
                    self.stop()
                    raise TimedOut
                worked, value = answer.result()
            except (ChildEnded, ValueError):  # ValueError: ``stop`` has closed the pipes
                raise Stopped from None
        if not worked:
            raise InputError(value)
        return value

    def stop(self) -> None:
        """End the process at once."""
        with self._state:
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.close()

    def pause(self, seconds: float) -> None:
        """Halt the process for so many seconds where the system ends halted processes with their parent."""
        with self._state:
            process = self._process
        if process is None or sys.platform != "linux":
            return
        process.send_signal(signal.SIGSTOP)
        with self._state:
            if self._wake is not None:
                self._wake.cancel()
            self._wake = threading.Timer(seconds, process.send_signal, [signal.SIGCONT])
            self._wake.daemon = True
            self._wake.start()

    def close(self) -> None:
        """End the process for good."""
        with self._state:
            self._closed = True
        self.stop()

    def _comes(self, answer: "Future[Any]", limit: float) -> bool:
        """Whether an answer comes in time."""
        patience = Patience(limit, time.monotonic(), self._cpu_seconds())
        while not wait([answer], min(LOOK * limit, 1.0)).done:
            if patience.over(time.monotonic(), self._cpu_seconds()):
                return False
        return True

    def _cpu_seconds(self) -> float:
        """CPU seconds of the process so far."""
        with self._state:
            process = self._process
        try:
            return 0.0 if process is None else sum(psutil.Process(process.pid).cpu_times()[:2])
        except psutil.Error:  # it has just ended, which ``receive`` will notice
            return 0.0

    def _connect(self, cancelled: Callable[[], bool]) -> Child:
        with self._state:
            if self._closed or cancelled():
                raise Stopped
            if self._process is None or self._process.poll() is not None:
                self._process = Child(nice=NICE)
            return self._process


def _received(child: Child) -> "Future[Any]":
    """What the child answers, read by a thread: only so can every system wait for a pipe until a moment."""
    answer: Future[Any] = Future()

    def read() -> None:
        try:
            answer.set_result(child.receive())
        except BaseException as problem:  # the caller receives it
            answer.set_exception(problem)

    threading.Thread(target=read, daemon=True).start()
    return answer


def _answer(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[bool, Any]:
    """In the child: whether the function worked, and its value or a sentence."""
    try:
        return True, function(*arguments)
    except InputError as problem:
        return False, str(problem)
    except Exception as problem:  # the page shows it, and the process goes on
        return False, f"This could not be computed ({type(problem).__name__})."
