"""Memory limits of a job: control groups of both versions, nested and in a container, Slurm, ulimit; a real one where allowed."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from giantstep._machine import limits, memory
from giantstep.errors import InputError

GIB = 2**30
V1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
V2 = ("memory.max", "memory.current", "inactive_file")


def group(folder: Path, names: tuple[str, str, str], limit: object, used: int, cached: int = 0) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / names[0]).write_text(f"{limit}\n")
    (folder / names[1]).write_text(f"{used}\n")
    (folder / "memory.stat").write_text(f"anon 7\n{names[2]} {cached}\n")


def proc(folder: Path, belongs: str, mounts: str) -> Path:
    own = folder / "proc"
    own.mkdir()
    (own / "cgroup").write_text(belongs)
    (own / "mountinfo").write_text(mounts)
    return own


def left(own: Path, **environment: str) -> float:
    return limits.left(own, environment)


def test_a_group_of_version_1_that_is_nested(tmp_path):
    top = tmp_path / "memory"
    group(top, V1, 9223372036854771712, 10 * GIB)
    group(top / "slurm" / "job_7", V1, 4 * GIB, 3 * GIB, cached=GIB)
    group(top / "slurm" / "job_7" / "step_0", V1, 9223372036854771712, GIB)
    mounts = f"35 31 0:32 / {top} rw,relatime - cgroup cgroup rw,memory\n36 31 0:9 / /sys rw - cgroup cgroup rw,cpu\n"
    own = proc(tmp_path, "4:memory:/slurm/job_7/step_0\n1:cpu:/\n0::/\n", mounts)
    assert left(own) == 2 * GIB


def test_a_group_of_version_2_that_is_nested(tmp_path):
    top = tmp_path / "unified"
    group(top / "user.slice" / "run.scope", V2, "max", GIB)
    group(top / "user.slice", V2, 3 * GIB, 2 * GIB, cached=GIB // 2)
    own = proc(tmp_path, "0::/user.slice/run.scope\n", f"41 31 0:38 / {top} rw shared:4 - cgroup2 cgroup2 rw\n")
    assert left(own) == 1.5 * GIB


@pytest.mark.parametrize("root, path", [("/docker/ab12", "/docker/ab12"), ("/", "/"), ("/elsewhere", "/docker/ab12")])
def test_a_container_sees_its_own_group_at_the_top(tmp_path, root, path):
    top = tmp_path / "memory"
    group(top, V1, 2 * GIB, GIB)
    own = proc(tmp_path, f"4:memory:{path}\n", f"35 31 0:32 {root} {top} ro - cgroup cgroup rw,memory\n")
    assert left(own) == GIB


def test_what_is_full_or_absent(tmp_path):
    top = tmp_path / "memory"
    group(top, V1, GIB, 2 * GIB)
    mounts = f"35 31 0:32 / {top} rw - cgroup cgroup rw,memory\n"
    assert left(proc(tmp_path, "4:memory:/not/here\n", mounts)) == 0
    assert left(tmp_path / "nothing") == float("inf")


def test_slurm_says_what_the_job_has_asked_for(tmp_path):
    used = psutil.Process().memory_info().rss
    node = left(tmp_path, SLURM_MEM_PER_NODE="8192")
    cpus = left(tmp_path, SLURM_MEM_PER_CPU="2048", SLURM_CPUS_ON_NODE="4")
    assert 8 * GIB - 4 * used < node <= 8 * GIB and 8 * GIB - 4 * used < cpus <= 8 * GIB
    assert left(tmp_path, SLURM_MEM_PER_NODE="0") == left(tmp_path, SLURM_MEM_PER_NODE="much") == float("inf")


def test_the_address_space(monkeypatch):
    taken = psutil.Process().memory_info().vms
    monkeypatch.setattr(resource, "getrlimit", lambda which: (4 * taken, 4 * taken))
    assert 0 < limits.left() < 4 * taken
    assert memory.available() < 4 * taken


RUN = """
import sys, giantstep as gs
s = gs.Setting(gs.Gaussian(1000), gs.target("x1"), gs.Network(60, "relu"),
    gs.Protocol((gs.GiantStep(60_000, 1.0), gs.GiantStep(60_000, 1.0, batch="reuse")), gs.Ridge(60_000, 0.1, batch="reuse")))
print(gs.simulate(s, n_test=100, method="dense").status.ok)
"""


@pytest.fixture
def job():
    """A control group of version 1 with 480 MiB, and the shell words that enter it."""
    place = Path("/sys/fs/cgroup/memory/giantstep-test")
    try:
        place.mkdir()
        (place / "memory.limit_in_bytes").write_text(str(480 * 2**20))
    except OSError as problem:
        pytest.skip(f"no control group can be made here: {problem.strerror}")
    yield f"echo $$ > {place}/cgroup.procs && exec"
    place.rmdir()


def test_a_run_in_a_real_group_is_planned_smaller(job):
    """It would hold its reused batch, 480 MB, and be killed."""
    command = ["sh", "-c", f'{job} "$0" -P -c "$1"', sys.executable, RUN]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, env={**os.environ})
    assert (done.returncode, done.stdout.strip()) == (0, "True"), (done.returncode, done.stderr)


def test_what_cannot_fit_is_refused_in_a_sentence(job):
    code = RUN.replace("Network(60", "Network(60_000").replace("print(", "try: print(")
    code += "except gs.InputError as problem: print(problem)"
    done = subprocess.run(
        ["sh", "-c", f'{job} "$0" -P -c "$1"', sys.executable, code], capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0 and "GiB may be used" in done.stdout, (done.returncode, done.stderr)


def test_a_refusal_names_what_may_be_used(monkeypatch):
    import giantstep as gs

    monkeypatch.setattr(memory, "left", lambda: 2.0**26)
    many = gs.Setting(
        gs.Gaussian(5000), gs.target("x1"), gs.Network(5000, "relu"), gs.Protocol((), gs.Ridge(10**5, 0.1))
    )
    with pytest.raises(InputError, match="GiB may be used"):
        gs.simulate(many, method="dense")
