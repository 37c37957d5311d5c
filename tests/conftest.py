"""One seed by default, a range on demand: pytest --seeds 0-19; files in another order: pytest --shuffle 3. Parallel workers get
one BLAS thread each."""

import os
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Nothing here depends on the clock: no deadline, and no complaint about examples that are slow to draw
settings.register_profile(
    "giantstep", deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("giantstep")

# The longest files, longest first: one of them at the end would leave the other workers idle
LONG = (
    "explorer_browser",
    "tour",
    "estimator",
    "examples",
    "device_random",
    "executors",
    "backend",
    "theory_steps",
    "theory_conditional",
    "theory_directions",
    "theory_derivatives",
    "theory_spectrum",
    "json_of_commands",
    "dandi",
    "devices",
    "sgd_readout",
    "threads",
    "calibration",
    "theory_search",
    "moniri",
    "theory_deflated_step",
    "story",
    "theory_own_batch",
    "many",
    "arrays",
    "soak",
    "conjugate_gradients",
    "follow",
    "overlap",
    "extremes",
    "explain",
    "docstrings",
    "evolution",
    "simulate",
)


def pytest_addoption(parser):
    parser.addoption("--seeds", default="0", help="seeds of the random tests: 3 or 0-19")
    parser.addoption("--shuffle", type=int, metavar="SEED", help="a random order of the files, not within them")


def pytest_configure(config):
    """Threads of several workers would wait for each other by spinning. A worker loads NumPy before it comes here, so the one
    who starts workers sets what they inherit."""
    if getattr(config.option, "numprocesses", None):
        os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")


def pytest_xdist_auto_num_workers(config) -> int | None:
    """One more than there are cores where slow tests run: those with processes and browsers wait most of the time."""
    return (os.cpu_count() or 1) + 1 if config.option.markexpr == "slow" else None


def pytest_generate_tests(metafunc):
    if "seed" in metafunc.fixturenames:
        first, _, last = metafunc.config.getoption("--seeds").partition("-")
        metafunc.parametrize("seed", range(int(first), int(last or first) + 1))


@pytest.fixture
def replace_claims(monkeypatch):
    """A function that puts other claims in the place of all that there are."""

    def replace(claims) -> None:
        monkeypatch.setattr("giantstep.claims.TEXTS", claims)
        known = {each.name: each for each in claims}
        monkeypatch.setattr("giantstep.claims._registry.loaded", known.__getitem__)

    return replace


def slow() -> frozenset[str]:
    """The tests that take long, a line each: names without what stands in brackets stand for all of their cases."""
    lines = (Path(__file__).parent / "slow.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


def pytest_collection_modifyitems(config, items):
    long = slow()
    for item in items:
        path, _, inside = item.nodeid.partition("::")
        name = f"{Path(path).name}::{inside}"
        if name in long or name.partition("[")[0] in long:
            item.add_marker(pytest.mark.slow)
    seed = config.getoption("--shuffle")
    if seed is None:
        rank = {f"test_{name}.py": place for place, name in enumerate(LONG)}
    else:
        files = sorted({item.path.name for item in items})
        random.Random(seed).shuffle(files)  # the same in every worker
        rank = {name: place for place, name in enumerate(files)}
    items.sort(key=lambda item: rank.get(item.path.name, len(rank)))  # keeps the order within files


@pytest.fixture
def small():
    """A setting that runs in a blink."""
    import giantstep as gs

    return gs.Setting(
        gs.Gaussian(30),
        gs.target("x1 + x1*x2", noise=0.3),
        gs.Network(40, "tanh"),
        gs.Protocol((gs.GiantStep(90, 2.0),), gs.Ridge(70, 0.05)),
    )


@pytest.fixture
def coarse(monkeypatch):
    """Moments of the conditional model on 256 points in place of thousands; test_equivalent_conditional.py has the fine ones."""
    for name in ("FEWEST", "MOST"):
        monkeypatch.setattr(f"giantstep.equivalent._moments.{name}", 256)
