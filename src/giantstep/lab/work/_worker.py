"""A worker process: it reads functions with their arguments from standard input, calls them, and writes their values.

``Child`` starts it as ``python -P worker.py PARENT CORES NICE PATH``. PATH is the list of folders in which it looks for modules.
Threads are pinned before anything numerical is imported, so this file imports nothing else of the package. It ends when its
input or its parent does.
"""

import json
import os
import pickle
import signal
import sys
import threading
from typing import NoReturn

_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG: the signal that the kernel sends when the parent ends


def main() -> None:
    parent, cores, nice, path = sys.argv[1:]
    _end_with(int(parent))
    folders = json.loads(path)
    sys.path[:] = [*folders, *(each for each in sys.path if each not in folders)]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C, and the current task is finished
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [int(core) for core in cores.split(",")])
    if hasattr(os, "nice"):
        os.nice(int(nice))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not mix with the answers
    while True:
        try:
            function, arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            _leave()
        try:
            answers.write(pickle.dumps(function(*arguments)))
            answers.flush()
        except BrokenPipeError:
            os._exit(1)


def _leave() -> NoReturn:
    """End at once: everything is written, and Python would take the modules apart one by one."""
    sys.stderr.flush()
    os._exit(0)


def _end_with(parent: int) -> None:
    """End when the parent ends, even in the middle of a long function; Linux does that itself, also to a stopped process."""
    if not _ended_by_the_system():
        threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    elif os.getppid() != parent:  # it has ended before
        os._exit(1)


def _ended_by_the_system() -> bool:
    """Ask the system to kill this process with its parent, and say whether it will."""
    try:
        import ctypes

        return ctypes.CDLL(None).prctl(_DEATH_SIGNAL, signal.SIGKILL) == 0
    except (ImportError, AttributeError, OSError, TypeError):  # not Linux, or Python without ctypes
        return False


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        threading.Event().wait(0.5)
    os._exit(1)


if __name__ == "__main__":
    main()
