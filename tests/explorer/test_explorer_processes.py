"""The explorer's processes: the newest request of a page, children that can be ended, and runs that keep what arrived."""

import sys
import threading
import time

import numpy as np
import pytest

from giantstep.explorer import _state as state
from giantstep.explorer.processes._backend import Backend
from giantstep.explorer.processes._jobs import Failure, JobPart, JobRunner
from giantstep.explorer.processes._queue import Replaced, RequestQueue
from giantstep.explorer.processes._worker import Patience, Stopped, TimedOut, WorkerProcess
from giantstep.explorer.views.giant_steps._numbers import GiantStepsNumbers, KnownPaths
from giantstep.explorer.views.one_step._numbers import OneStepAnswer, OneStepNumbers
from giantstep.explorer.views.one_step._tasks import Unit

LIMIT = 600  # seconds: ends a hang, and times nothing


def soon(holds) -> None:
    """Wait until something holds, however busy the machine is."""
    end = time.monotonic() + LIMIT
    while not holds():
        if time.monotonic() > end:
            pytest.fail("waited in vain")
        time.sleep(0.01)


def test_the_newest_request_of_a_page_replaces_its_older_ones():
    queue, started, go, heard = RequestQueue(), threading.Event(), threading.Event(), []

    def first():
        started.set()
        go.wait(LIMIT)

    def waiting():
        try:
            queue.ask("a", lambda: "old")
        except Replaced:
            heard.append("replaced")

    threads = [threading.Thread(target=lambda: queue.ask("b", first)), threading.Thread(target=waiting)]
    threads[0].start()
    started.wait(LIMIT)
    threads[1].start()
    soon(lambda: queue._waiting)
    newest = threading.Thread(target=lambda: heard.append(queue.ask("a", lambda: "new")))
    newest.start()
    threads[1].join(LIMIT)
    go.set()
    newest.join(LIMIT)
    assert heard == ["replaced", "new"]


@pytest.mark.parametrize(
    ("numbers", "part", "found", "left"),
    [
        (
            OneStepNumbers,
            "known",
            OneStepAnswer((), np.zeros(0), np.zeros(0), Unit(0.0, 0.0)),
            state.OneStep(noise=0.75),
        ),
        (GiantStepsNumbers, "paths", KnownPaths(), state.GiantSteps(kappa=0.7)),
    ],
)
def test_an_answer_about_a_setting_that_the_page_has_left_is_not_shown(monkeypatch, numbers, part, found, left):
    """A slider goes away and back: the page has the pictures of where it is before those of where it was come."""
    its, here = numbers(Backend()), type(left)()

    def slow(s, page):
        if s == left:
            its.newest.ask("page", here)  # while the other is computed
        return found

    monkeypatch.setattr(its, f"_{part}", slow)
    its.newest.ask("page", left)
    with pytest.raises(Replaced):
        getattr(its, part)(left, "page")
    assert vars(getattr(its, part)(here, "page")) == vars(found)  # the same arrays
    assert vars(getattr(its, part)(left, "another page")) == vars(found)


def test_a_child_can_be_ended_and_starts_anew():
    child = WorkerProcess()
    try:
        assert child.call(abs, -3) == 3
        with pytest.raises(TimedOut):
            child.call(time.sleep, LIMIT, limit=0.2)
        ended = threading.Thread(target=lambda: (soon(lambda: child._process), child.stop()))
        ended.start()
        with pytest.raises(Stopped):
            child.call(time.sleep, LIMIT)
        ended.join()
        assert child.call(abs, -4) == 4
        with pytest.raises(Stopped):  # a stop that came just before it
            child.call(abs, -4, cancelled=lambda: True)
        child.pause(0.2)  # halted for a moment, it answers all the same
        child.pause(0.2)
        assert child.call(abs, -5) == 5
    finally:
        child.close()


def test_a_limit_counts_the_clock_and_the_work():
    """A process that computes on a busy machine has three times as long; one that is halted has not."""
    moments = {"working": (11.9, 11.9), "busy": (35.9, 4.0), "worked": (12.1, 12.0), "too slow": (36.0, 4.0)}
    over = {}
    for name, (clock, cpu) in moments.items():
        patience = Patience(12.0, 100.0, 50.0)
        assert not any(patience.over(100 + part * clock, 50 + part * cpu) for part in (0.3, 0.6, 0.9))
        over[name] = patience.over(100 + clock, 50 + cpu)
    assert over == {"working": False, "busy": False, "worked": True, "too slow": True}
    halted = Patience(12.0, 100.0, 50.0)
    assert not halted.over(103.0, 51.0) and not halted.over(114.9, 51.0) and halted.over(115.0, 51.0)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_process_that_is_halted_is_ended(monkeypatch):
    monkeypatch.setattr("giantstep.explorer.processes._worker.BUSY", 1e9)
    child = WorkerProcess()
    halt = "__import__('os').kill(__import__('os').getpid(), __import__('signal').SIGSTOP)"
    try:
        assert child.call(abs, -3) == 3
        with pytest.raises(TimedOut):
            child.call(eval, f"{halt} or 3", limit=0.4)
        assert child.call(abs, -4) == 4
    finally:
        child.close()


def test_runs_keep_what_arrived_and_stop():
    runs = JobRunner()
    try:
        pieces = [
            JobPart("one", abs, (-1,)),
            JobPart("wrong", int, ("x",)),
            JobPart("long", time.sleep, (LIMIT,)),
            JobPart("after", abs, (-2,)),
        ]
        runs.start(pieces, "page")
        soon(lambda: isinstance(runs.result("wrong"), Failure))
        assert runs.result("one") == 1 and runs.busy(["long"])
        runs.stop()
        soon(lambda: not runs.busy(["long"]))
        assert runs.result("long") is None and runs.result("after") is None and not runs.busy(["after"])
        runs.start(pieces[3:], "page")
        soon(lambda: runs.result("after") is not None)
        runs.start([JobPart("slow", time.sleep, (LIMIT,)), JobPart("never", abs, (-3,))], "page")
        runs.drop_unless("another page", [])
        assert runs.busy(["never"])
        runs.drop_unless("page", ["something else"])
        assert not runs.busy(["never"])
    finally:
        runs.close()
