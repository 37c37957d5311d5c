"""A worker process: reads tasks from standard input, performs them, writes what came out.

Started by ``lab.pool`` as ``python -m giantstep.lab.work.worker CORES MEMORY``. Threads are pinned before anything numerical is
imported, so nothing of the package but this file is imported above ``main``. When the other end of its input goes, so does it.
"""

import os
import pickle
import signal
import sys


def main() -> None:
    cores, memory = sys.argv[1:]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle: the task at work is finished
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [int(core) for core in cores.split(",")])
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not get among the answers
    from giantstep.lab.work.perform import attempt

    while True:
        try:
            task = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            pickle.dump(attempt(task, float(memory) if memory != "none" else None), answers)
            answers.flush()
        except BrokenPipeError:
            os._exit(1)


if __name__ == "__main__":
    main()
