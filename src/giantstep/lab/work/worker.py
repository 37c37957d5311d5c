"""A worker process: it reads functions with their arguments from standard input, calls them, and writes their values.

``Child`` starts it as ``python -m giantstep.lab.work.worker PARENT CORES NICE``. Threads are pinned before anything numerical is
imported, so this file imports nothing else of the package. It ends when its input or its parent does.
"""

import os
import pickle
import signal
import sys
import threading


def main() -> None:
    parent, cores, nice = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C, and the current task is finished
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [int(core) for core in cores.split(",")])
    if hasattr(os, "nice"):
        os.nice(int(nice))
    threading.Thread(target=_watch, args=(int(parent),), daemon=True).start()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not mix with the answers
    while True:
        try:
            function, arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answers.write(pickle.dumps(function(*arguments)))
            answers.flush()
        except BrokenPipeError:
            os._exit(1)


def _watch(parent: int) -> None:
    """End when the parent ends, even in the middle of a long function."""
    while os.getppid() == parent:
        threading.Event().wait(0.5)
    os._exit(1)


if __name__ == "__main__":
    main()
