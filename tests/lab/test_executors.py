"""Worker processes and a Dask cluster: the same numbers, every trial once, whatever dies."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager, suppress

import numpy as np
import pytest
from experiments import base

import giantstep as gs
from benchmarks.faults import SWEEP, command, compare, faults
from giantstep import cli
from giantstep.checks._check import check
from giantstep.checks.cache import Bench
from giantstep.claims import select
from giantstep.claims._alone import task
from giantstep.errors import InputError
from giantstep.lab.store import Store
from giantstep.lab.sweep.run import missing, planned, run
from giantstep.lab.sweep.sweep import make
from giantstep.lab.work import cluster as clusters
from giantstep.lab.work._call import Call, call
from giantstep.lab.work._child import pinned
from giantstep.lab.work._perform import attempt
from giantstep.lab.work.cluster import Cluster
from giantstep.lab.work.executor import Here, executor
from giantstep.lab.work.pool import Pool

ROUTES = ("simulate(n_test=50)",)
END = Call("os:_exit", (7,))


def small():
    return make(base(), {"noise": [0.1, 0.2, 0.3, 0.4], "penalty": [0.1, 0.2]}, seeds=range(3), routes=ROUTES)


def numbers(sweep, path):
    with Store.open(path, "read") as store:
        assert len(store) == len(sweep)
        return {trial.key: found.test_error for trial, found in store.find(sweep.trials())}


@pytest.fixture(scope="module")
def pool():
    """Two workers for all tests: to start them takes longer than what they are asked to do."""
    with closing(Pool(2)) as started:
        yield started


def test_two_workers_write_what_one_process_writes(tmp_path, pool):
    sweep = small()
    for name, where in (("here", Here()), ("pool", pool)):
        with Store.open(tmp_path / name) as store:
            ended = run(planned(sweep), store, where)
        assert (ended.new, ended.refused, ended.left) == (24, (), 0)
    here, there = (numbers(sweep, tmp_path / name) for name in ("here", "pool"))
    np.testing.assert_allclose([there[key] for key in here], list(here.values()), rtol=1e-10)


def test_claims_side_by_side_are_those_of_one_process(tmp_path, pool):
    names, told = ["wang_ma/sgd", "nguwi/wasserstein"], []
    with Store.open(tmp_path / "here") as one, Store.open(tmp_path / "pool") as two:
        here = check(select(names[1:]), "quick", Bench(one, Here()))
        there = check(select(names), "quick", Bench(two, pool), told.append, task)
        again = check(select(names), "quick", Bench(two, pool), told.append, task)
    seen = [(len(now.results), len(now.running), len(now.left)) for now in told]
    assert seen == [(0, 2, 0), (1, 1, 0), (2, 0, 0), (2, 0, 0)]  # the second check has nothing to run
    assert [r.stored for r in there + again] == [False, False, True, True]
    assert [r.verdict.outcome for r in there] == ["holds", "holds"]
    assert there[1].verdict.sentence == here[0].verdict.sentence


def test_a_worker_that_dies_is_replaced_and_a_task_that_kills_is_given_up(pool):
    good = [call(os.path.join, ("a", str(k))) for k in range(3)]
    found = {done.task: done for done in pool.run([END, *good])}
    assert {each: found[each].value for each in good} == {each: f"a/{k}" for k, each in enumerate(good)}
    assert "ended 3 times (exit code 7)" in (found[END].refused or "")
    before = {process.pid for process in pool.processes.values()}
    assert [done.value for done in pool.run(good[:1])] == ["a/0"]
    assert before <= {process.pid for process in pool.processes.values()}  # workers stay
    (victim,) = list(pool.processes.values())[:1]
    victim.kill()
    victim.wait()
    assert sorted(done.value for done in pool.run(good)) == ["a/0", "a/1", "a/2"]


def test_workers_are_pinned(pool):
    tasks = [call(os.getenv, ("OPENBLAS_NUM_THREADS",)), call(os.sched_getaffinity, (0,))]
    found = {done.task.function: done.value for done in pool.run(tasks)}
    share = max(1, len(os.sched_getaffinity(0)) // 2)
    assert str(share) in found.values() and any(isinstance(v, set) and len(v) == share for v in found.values())
    flags = pinned(1)["XLA_FLAGS"]
    assert "xla_cpu_multi_thread_eigen=false" in flags


def test_stopping_finishes_what_is_at_work():
    good = [call(time.sleep, (0.3,)) for _ in range(8)]
    where = Here()
    seen = 0
    for _ in where.run(good):
        seen += 1
        where.stop()
    assert seen == 1


def test_what_goes_wrong_is_told():
    assert attempt(call(json.loads, ("{",))).refused.startswith("JSONDecodeError")  # type: ignore[union-attr]
    with pytest.raises(InputError, match="function at the top level of a module"):
        call(lambda: 1, ())
    with pytest.raises(InputError, match="not both"):
        executor(2, "tcp://127.0.0.1:1")


@pytest.fixture
def patient(monkeypatch):
    """Schedulers and workers take long to start on a busy machine: limits end a hang, and time nothing."""
    for name in ("TIMEOUT", "FIRST", "PATIENCE"):
        monkeypatch.setattr(clusters, name, 600)


@contextmanager
def dask(folder, workers, env=None):
    """A scheduler and worker processes on loopback: its address and the workers."""
    file, processes = folder / "scheduler.json", []
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    processes.append(
        subprocess.Popen([sys.executable, "-P", "-m", "distributed.cli.dask_scheduler", *options], **quiet)
    )
    try:
        address = _address(file, processes[0])
        one = [
            sys.executable,
            "-P",
            "-m",
            "distributed.cli.dask_worker",
            address,
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
        ]
        processes += [subprocess.Popen([*one, "--host", "127.0.0.1"], env=env, **quiet) for _ in range(workers)]
        yield address, processes[1:] if workers else processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _address(file, scheduler) -> str:
    """What the scheduler writes into its file, once it is all there."""
    while scheduler.poll() is None:
        try:
            return json.loads(file.read_text())["address"]
        except (FileNotFoundError, json.JSONDecodeError):
            time.sleep(0.05)
    raise AssertionError("the scheduler did not start")


def test_a_cluster_that_loses_a_worker_has_every_trial_once(tmp_path, patient):
    pytest.importorskip("distributed")
    sweep = small()
    with dask(tmp_path, 2) as (address, workers), Store.open(tmp_path / "s") as store:
        with closing(Cluster(address)) as where:
            ticks = []

            def tick(done):
                if not ticks:
                    workers[0].kill()  # with a block at work, most likely
                ticks.append(done)

            ended = run(planned(sweep), store, where, tick)
            assert (ended.new, ended.refused, ended.left) == (24, (), 0)
            again = [call(os.path.join, ("a", "b"))]
            assert [done.value for done in where.run(again)] == ["a/b"]
    there = numbers(sweep, tmp_path / "s")
    trial = next(iter(sweep.trials()))
    alone = gs.simulate(trial.setting, trial.seed, n_test=50).test_error  # type: ignore[arg-type]
    assert there[trial.key] == pytest.approx(alone, rel=1e-10)


def test_a_scheduler_that_dies_is_one_sentence_and_the_rows_are_kept(tmp_path, patient):
    pytest.importorskip("distributed")
    sweep = small()
    with Store.open(tmp_path / "s") as store:
        with dask(tmp_path, 0) as (address, (scheduler,)):
            one = [sys.executable, "-P", "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny"]
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
            worker = subprocess.Popen([*one, "--no-dashboard", "--host", "127.0.0.1"], **quiet)
            try:
                with (
                    closing(Cluster(address)) as where,
                    pytest.raises(InputError, match="is gone; the results that arrived"),
                ):
                    run(planned(sweep), store, where, lambda done: scheduler.kill())
            finally:
                worker.kill()
                worker.wait()
        kept = len(store)
        assert 0 < kept < 24
        ended = run(missing(planned(sweep), store), store, Here())
        assert (kept + ended.new, ended.refused, ended.left) == (24, (), 0) and len(store) == 24


@pytest.mark.parametrize("address", ["nonsense://x", "", "x", "http://127.0.0.1:80", "tcp://127.0.0.1"])
def test_an_address_that_is_none_is_told_at_once(address):
    pytest.importorskip("distributed")
    with pytest.raises(InputError, match="write an address such as tcp://host:8786"):
        list(Cluster(address).run([END]))


def test_another_program_at_the_address_is_told(tmp_path):
    pytest.importorskip("distributed")
    (tmp_path / "sweep.toml").write_text(SWEEP.replace("POINTS", "1").replace("0.0, 1.0, 1", "0.0, 0.0, 1"))
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()

        def answer() -> None:
            with suppress(OSError):
                while True:
                    with other.accept()[0] as asking:
                        asking.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n" * 4)

        threading.Thread(target=answer, daemon=True).start()
        address = f"tcp://127.0.0.1:{other.getsockname()[1]}"
        program = [*command(tmp_path / "sweep.toml", tmp_path / "s.sqlite", 1), "--scheduler", address]
        done = subprocess.run(program, capture_output=True, text=True, timeout=600)
    assert done.returncode == 2 and "Traceback" not in done.stderr and "Exception" not in done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith(f"no Dask scheduler answers at '{address}'")


def test_clusters_that_cannot_work_are_told_in_one_sentence(tmp_path, patient, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(clusters, "FIRST", 1)
    with dask(tmp_path, 0) as (address, _):
        with pytest.raises(InputError, match="has no workers"), closing(Cluster(address)) as where:
            list(where.run([END]))
    monkeypatch.setattr(clusters, "TIMEOUT", 1)
    with pytest.raises(InputError, match="no Dask scheduler answers"), closing(Cluster("tcp://127.0.0.1:9")) as where:
        list(where.run([END]))
    with pytest.raises(InputError, match="no Dask scheduler answers"), closing(Cluster("nonsense://x")) as where:
        list(where.run([END]))


def test_a_worker_with_another_version_is_refused(tmp_path, patient, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(clusters, "__version__", "99.0")
    with dask(tmp_path, 1) as (address, _), closing(Cluster(address)) as where:
        with pytest.raises(InputError, match=r"has giantstep .*, and this machine has 99.0: install the same version"):
            list(where.run([END]))


def test_kills_lose_nothing(tmp_path):
    seen = faults(tmp_path, 2, points=4)
    assert seen.rows == seen.expected == 320 and seen.same
    assert seen.killed >= 1  # the second kill may meet a run that has just ended


def test_ctrl_c_finishes_what_is_at_work_and_says_how_to_go_on(tmp_path):
    sweep, store = tmp_path / "sweep.toml", tmp_path / "s.sqlite"
    sweep.write_text(SWEEP.replace("POINTS", "100"))
    process = subprocess.Popen(command(sweep, store, 1), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not _rows(store):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=600)
    assert process.returncode == 130 and "to go on: giantstep sweep" in error and "Traceback" not in error
    answer = json.loads(out)
    assert 0 < answer["left"] < 8_000 and answer["new"] + answer["left"] == 8_000 == answer["plan"]["trials"]
    assert _rows(store) == answer["new"]


def _rows(store) -> int:
    if not store.exists():
        return 0
    try:
        with Store.open(store, "read") as opened:
            return len(opened)
    except InputError:
        return 0


def test_a_full_disk_is_one_sentence_and_keeps_what_is_there(tmp_path):
    sweep, store = tmp_path / "sweep.toml", tmp_path / "s.sqlite"
    sweep.write_text(SWEEP.replace("POINTS", "4"))
    limit = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000)); from giantstep.cli import main; main()"
    full = [sys.executable, "-P", "-c", limit, *command(sweep, store, 1)[4:]]
    reads = {**os.environ, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "1e9"}  # but writes no compiled programs
    found = subprocess.run(full, capture_output=True, text=True, env=reads)
    assert found.returncode == 2, found.stderr
    assert "Traceback" not in found.stderr and str(store) in found.stderr.splitlines()[-1]
    there = _rows(store)
    assert cli.run(command(sweep, store, 1)[4:]) == 0
    assert _rows(store) == 320 > there
    assert compare(sweep, store, store) == (320, True)
