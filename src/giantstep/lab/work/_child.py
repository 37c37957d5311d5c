"""Child: a process that runs functions of modules one after the other and can be killed at any moment.

It ends with its parent. Linux kills it when the thread that started it ends, so one thread that never ends starts all of them.
"""

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any

from giantstep._machine.search_path import searched

WORKER = Path(__file__).with_name("_worker.py")


class ChildEnded(Exception):
    """The process ended before it answered."""


class Child(subprocess.Popen[bytes]):
    """A process on these cores, or on all; with a positive ``nice`` it has a lower priority.

    ``send`` a function with its arguments and ``receive`` its value; both raise ChildEnded if the process is gone.
    """

    def __init__(self, cores: Sequence[int] = (), nice: int = 0) -> None:
        options = [str(os.getpid()), ",".join(map(str, cores)), str(nice), json.dumps(searched())]
        command = [sys.executable, "-P", str(WORKER), *options]  # -m would put the current folder first
        env = pinned(len(cores)) if cores else None
        pipe = subprocess.PIPE
        _starter(os.getpid()).submit(super().__init__, command, stdin=pipe, stdout=pipe, env=env).result()

    def send(self, function: Callable[..., Any], *arguments: Any) -> None:
        task = pickle.dumps((function, arguments))
        try:
            self.stdin.write(task)  # type: ignore[union-attr]
            self.stdin.flush()  # type: ignore[union-attr]
        except OSError:
            raise ChildEnded from None

    def receive(self) -> Any:
        try:
            return pickle.load(self.stdout)  # type: ignore[arg-type]
        except (EOFError, OSError, pickle.UnpicklingError):
            raise ChildEnded from None

    def close(self) -> int:
        """Close the pipes, which ends an idle process, and return its exit code."""
        for pipe in (self.stdin, self.stdout):
            try:
                pipe.close()  # type: ignore[union-attr]
            except BrokenPipeError:  # the process did not read everything
                pass
        return self.wait()


@lru_cache(maxsize=1)
def _starter(process: int) -> ThreadPoolExecutor:
    """The thread of this process that starts children; it lives as long as the process."""
    return ThreadPoolExecutor(1)


def pinned(threads: int) -> dict[str, str]:
    """The environment of a process with so many threads for BLAS and for XLA."""
    flags = os.environ.get("XLA_FLAGS", "")
    one = "--xla_cpu_multi_thread_eigen=false" if threads == 1 else ""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    return {**os.environ, **dict.fromkeys(names, str(threads)), "XLA_FLAGS": f"{flags} {one}".strip()}
