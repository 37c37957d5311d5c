"""No process outlives its parent: killed, interrupted twice, or with children that are stopped or deep in a C function."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from giantstep.lab.work._child import Child

LIMIT = 60  # seconds in which a child that is left behind would still be there
linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a watch thread ends the children")

# The children hold the interpreter's lock in one C function for hours, so that no thread of theirs can watch anything.
PARENT = """
import os, signal, sys, time
from giantstep.lab.work._child import Child
children = [Child(), Child()]
for child in children:
    child.send(abs, -3)
    assert child.receive() == 3
    child.send(pow, 3, 10**11)
time.sleep(1)
print(*(child.pid for child in children), flush=True)
time.sleep(3600)
"""
FROM_A_THREAD = """
import threading, time
from giantstep.lab.work._child import Child
children = []
thread = threading.Thread(target=lambda: children.append(Child()))
thread.start()
thread.join()
time.sleep(1)
children[0].send(abs, -3)
print(children[0].receive(), flush=True)
children[0].close()
"""


def gone(children: list[psutil.Process]) -> bool:
    ended, left = psutil.wait_procs(children, timeout=LIMIT)
    for child in left:
        child.send_signal(signal.SIGCONT)
        child.kill()
    return not left


@contextmanager
def started(code: str) -> Iterator[tuple[subprocess.Popen, list[psutil.Process]]]:
    command = [sys.executable, "-P", "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as parent:
        assert parent.stdout is not None
        yield parent, [psutil.Process(int(pid)) for pid in parent.stdout.readline().split()]


@linux
@pytest.mark.parametrize("stopped", [False, True])
def test_children_end_with_a_parent_that_is_killed(stopped):
    with started(PARENT) as (parent, children):
        assert len(children) == 2
        for child in children if stopped else ():
            child.suspend()
        parent.kill()
        parent.wait(LIMIT)
        assert gone(children)


def test_a_child_outlives_the_thread_that_started_it():
    done = subprocess.run([sys.executable, "-P", "-c", FROM_A_THREAD], capture_output=True, text=True, timeout=600)
    assert done.stdout.strip() == "3", done.stderr


def test_children_are_ended_while_they_are_stopped():
    child = Child()
    child.send(abs, -3)
    assert child.receive() == 3
    os.kill(child.pid, signal.SIGSTOP)
    child.kill()
    assert child.close() == -signal.SIGKILL


SLOW = """
seeds = "0-9"
[setting]
target = "x1"
data = {d = 3000}
network = {width = 4000, activation = "relu"}
protocol = {steps = [{n = 20000, eta = 1.0}], readout = {n = 20000, penalty = 0.1}}
"""


@linux
def test_ctrl_c_twice_ends_the_workers_of_a_sweep(tmp_path):
    (tmp_path / "sweep.toml").write_text(SLOW)
    command = [sys.executable, "-P", "-m", "giantstep.cli", "sweep", str(tmp_path / "sweep.toml"), "--workers", "2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True) as sweep:
        running = psutil.Process(sweep.pid)
        while len(children := running.children()) < 2 or sum(sum(c.cpu_times()[:2]) for c in children) < 4:
            assert sweep.poll() is None  # the sweep takes hours, so its workers reach four seconds of work
            time.sleep(0.1)
        assert sweep.stderr is not None
        os.kill(sweep.pid, signal.SIGINT)
        while b"Press Ctrl-C again" not in sweep.stderr.readline():
            pass
        os.kill(sweep.pid, signal.SIGINT)
        assert sweep.wait(600) == 130
        assert gone(children)
