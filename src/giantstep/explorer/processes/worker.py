"""WorkerProcess: a process beside the server that can be ended at any moment. It runs one function at a time."""

import multiprocessing as mp
import os
import signal
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import psutil

from giantstep.errors import InputError

__all__ = ["WorkerProcess", "TimedOut", "Stopped"]

NICE = 10  # the page and the fast theory come first
BUSY = 10.0  # on a busy machine, or after a pause, an answer may take this many times its limit


class Stopped(Exception):
    """The process was ended before it answered."""


class TimedOut(Exception):
    """The process was ended because it took longer than allowed."""


class WorkerProcess:
    """``call`` runs a function of a module in the process; ``stop`` ends it, and the next call starts a new process."""

    def __init__(self) -> None:
        self._one = threading.Lock()  # one call after the other
        self._state = threading.Lock()
        self._process: Any = None
        self._pipe: Connection | None = None
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

        ``limit`` is in CPU seconds of the process, so that other work on the machine does not end it. ``cancelled`` is called
        before anything starts: a stop that came just before this call is not lost.
        """
        with self._one:
            pipe = self._connect(cancelled)
            try:
                pipe.send((function, arguments))
                if limit is not None and not self._wait(pipe, limit):
                    self.stop()
                    raise TimedOut
                worked, value = pipe.recv()
            except (EOFError, OSError):
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
            process.join(5)

    def pause(self, seconds: float) -> None:
        """Halt the process for so many seconds, if the system supports it."""
        with self._state:
            process = self._process
        if process is None or not hasattr(signal, "SIGSTOP") or not process.is_alive():
            return
        os.kill(process.pid, signal.SIGSTOP)
        with self._state:
            if self._wake is not None:
                self._wake.cancel()
            self._wake = threading.Timer(seconds, _resume, [process])
            self._wake.daemon = True
            self._wake.start()

    def close(self) -> None:
        """End the process for good."""
        with self._state:
            self._closed = True
        self.stop()

    def _wait(self, pipe: Connection, limit: float) -> bool:
        """Whether an answer comes before the limit has passed, both by the clock and in CPU seconds."""
        begun, end, wait = self._cpu_seconds(), time.monotonic() + BUSY * limit, limit
        while not pipe.poll(wait):
            left = limit - (self._cpu_seconds() - begun)
            if left <= 0 or time.monotonic() >= end:
                return False
            wait = min(max(left, 0.01), max(end - time.monotonic(), 0.0))
        return True

    def _cpu_seconds(self) -> float:
        """CPU seconds of the process so far."""
        with self._state:
            process = self._process
        try:
            return 0.0 if process is None else sum(psutil.Process(process.pid).cpu_times()[:2])
        except psutil.Error:  # it has just ended, which the pipe will show
            return 0.0

    def _connect(self, cancelled: Callable[[], bool]) -> Connection:
        with self._state:
            if self._closed or cancelled():
                raise Stopped
            if self._process is None or not self._process.is_alive():
                context = mp.get_context("spawn")
                self._pipe, theirs = context.Pipe()
                self._process = context.Process(target=_serve, args=(theirs, os.getpid()), daemon=True)
                self._process.start()
                theirs.close()
            assert self._pipe is not None
            return self._pipe


def _resume(process: Any) -> None:
    if process.is_alive():
        os.kill(process.pid, signal.SIGCONT)


def _serve(pipe: Connection, parent: int) -> None:
    """Receive a function, send its value, and repeat until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent answers Ctrl-C
    if hasattr(os, "nice"):
        os.nice(NICE)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    while True:
        try:
            function, arguments = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer = True, function(*arguments)
        except InputError as problem:
            answer = False, str(problem)
        except Exception as problem:  # shown on the page; the process goes on
            answer = False, f"This could not be computed ({type(problem).__name__})."
        pipe.send(answer)


def _watch(parent: int) -> None:
    """End when the parent ends, even in the middle of a long function."""
    while os.getppid() == parent:
        threading.Event().wait(0.5)
    os._exit(0)
