"""The public verbs in several threads at once, and in a process that was forked: they answer, or say why not."""

import os
import subprocess
import sys
import threading

import pytest

from giantstep._machine import threads
from giantstep._machine.threads import ahead

LIMIT = 1800  # seconds: a hang, on a machine however busy

SETTING = """
import sys, threading, numpy as np, giantstep as gs
def setting(eta=1.0, penalty=0.1, width=80, n=120):
    return gs.Setting(gs.Gaussian(60), gs.target("x1 + H2(x1)/2", noise=0.5), gs.Network(width, "relu"),
                      gs.Protocol((gs.GiantStep(n, eta),), gs.Ridge(n, penalty)))
def many():
    return gs.theory(setting(tuple(np.linspace(0.1, 3.0, 20))))  # two blocks, in threads of their own
def program():
    from giantstep._training import plan  # it imports JAX, which a test forks before
    plan.AT_ONCE, plan.cores = -1.0, lambda: [0, 1]  # nothing is small enough for NumPy
    return gs.simulate(setting(), [0, 1], n_test=100)
"""
AT_ONCE = """
found = []
def add(work):
    try:
        found.append(work())
    except BaseException as problem:
        found.append(problem)
at_once = [threading.Thread(target=add, args=(work,)) for work in WORK]
[thread.start() for thread in at_once]
[thread.join() for thread in at_once]
assert len(found) == len(WORK) and not [x for x in found if isinstance(x, BaseException)], found
print("done")
"""
WORK = {
    "theory": "[many] * 3",
    "optimal": "[lambda: gs.optimal(setting(), over='penalty')] * 2",
    "simulate": "[lambda: gs.simulate(setting(n=4000, width=300), range(4)), lambda: gs.simulate(setting(), [1, 2])] * 2",
    "equivalent": "[lambda: gs.equivalent(setting(n=4000, width=300), 'conditional')] * 2",
    "all": "[many, lambda: gs.theory(setting(), spectrum=True), lambda: gs.simulate(setting(), [0, 1]), program, "
    "lambda: gs.equivalent(setting(), 'spiked'), lambda: gs.explain('x1 + x1*x2'), many]",
}


def ends(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-P", "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=LIMIT
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("verb", WORK)
def test_verbs_in_several_threads_answer(verb):
    assert ends(f"{SETTING}\nWORK = {WORK[verb]}\n{AT_ONCE}") == "done"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_says_that_jax_is_lost_and_still_has_numpy():
    code = f"""{SETTING}
import os
before, line = program().test_error, many().test_error
child = os.fork()
if child == 0:
    try:
        program()
        os._exit(1)
    except gs.InputError as problem:
        said = "forked" in str(problem) and "spawn" in str(problem)
        os._exit(0 if said and np.array_equal(many().test_error, line) else 2)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert np.array_equal(program().test_error, before)
print("done")
"""
    assert ends(code) == "done"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_before_the_first_use_changes_nothing():
    code = f"""{SETTING}
import os
child = os.fork()
program(), many()
if child == 0:
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print("done")
"""
    assert ends(code) == "done"


def test_one_blas_thread_in_several_threads_is_lifted_by_the_last(monkeypatch):
    """Each would restore what it found: the first 2, the second 1, for good. OpenBLAS may ignore what a thread asks for."""
    done = []

    class Library:
        def limit(self, limits: int) -> "Library":
            done.append(limits)
            return self

        def restore_original_limits(self) -> None:
            done.append("all")

    monkeypatch.setattr(threads, "_LIMIT", threads._Limit(Library))
    first_in, second_in, first_out = threading.Event(), threading.Event(), threading.Event()

    def first() -> None:
        with threads.one_blas_thread():
            first_in.set()
            second_in.wait(60)
        first_out.set()

    other = threading.Thread(target=first)
    other.start()
    assert first_in.wait(60)
    with threads.one_blas_thread():
        second_in.set()
        assert first_out.wait(60) and done == [1]
    other.join(60)
    assert done == [1, "all"]


def test_small_tables_are_fitted_with_one_thread_of_blas_and_openmp():
    """Asked in another process, because threads of this one may be limited already."""
    code = """
from giantstep._machine.threads import FEW_ROWS, _blas, one_thread
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads as threads

def counts():
    return threads(), max(each["num_threads"] for each in _blas().info())

found = [counts()]
with one_thread(FEW_ROWS - 1):
    found.append(counts())
with one_thread(FEW_ROWS):
    found.append(counts())
assert found[0] == found[2] == counts() and found[1] == (1, 1), found
print("done")
"""
    assert ends(code) == "done"


def test_work_ahead_comes_in_order_and_no_more_of_it_is_made_than_asked_for():
    made = []
    results = ahead(lambda item: made.append(item) or item**2, range(50), 2)
    assert next(results) == 0
    assert len(made) <= 3
    assert list(results) == [item**2 for item in range(1, 50)]


def test_on_one_core_nothing_is_made_ahead(monkeypatch):
    monkeypatch.setattr("giantstep._machine.threads.cores", lambda: [0])
    makers = []
    results = ahead(lambda item: makers.append(threading.current_thread()) or item**2, range(9), 2)
    assert next(results) == 0 and makers == [threading.current_thread()]
    assert list(results) == [item**2 for item in range(1, 9)] and set(makers) == {threading.current_thread()}


@pytest.mark.parametrize("own", [[0], [0, 1]])
def test_an_error_in_a_thread_reaches_the_caller(own, monkeypatch):
    monkeypatch.setattr("giantstep._machine.threads.cores", lambda: own)
    with pytest.raises(ZeroDivisionError):
        list(ahead(lambda item: 1 / item, [2, 1, 0, 3]))
