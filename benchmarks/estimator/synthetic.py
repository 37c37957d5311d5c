"""Tasks whose truth is known: Gaussian rows, a target of a few directions, noise on the training labels alone."""

import numpy as np

import giantstep as gs
from benchmarks.estimator.task import REGRESSION, Split, Task

TEST = 10_000
SEEDS = 3
# (name, formula, noise, whether the directions are turned at random)
INDEX = (
    ("single-index", "tanh(2*x1) + H2(x1)/(2*sqrt(2))", 0.3, True),
    ("even", "abs(x1)", 0.1, True),
    ("additive", "(sin(2*x1) + abs(x2) + x3 + x4^2/2)/2", 0.2, False),
    ("multi-index", "x1 + x1*x2 + tanh(x3)", 0.3, True),
    ("product", "x1*x2", 0.1, True),
)
SIZES = ((64, 2048), (256, 4000))  # (d, n)


def drawn(formula: str, noise: float, turned: bool, d: int, n: int, seed: int) -> Split:
    """x ~ N(0, I), y = f(U x) + noise N(0, 1); U the first coordinates, or orthonormal and uniformly distributed."""
    f, rng = gs.target(formula), np.random.default_rng(seed)
    U = np.linalg.qr(rng.standard_normal((d, f.rank)))[0].T if turned else np.eye(f.rank, d)
    X, X_test = rng.standard_normal((n, d)), rng.standard_normal((TEST, d))
    y = f(U @ X.T) + noise * rng.standard_normal(n)
    return Split(X, y, X_test, f(U @ X_test.T))


def task(name: str, group: str, formula: str, noise: float, turned: bool, d: int, n: int) -> Task:
    """A law as a task; the labels it is tested on have no noise."""
    about = f"`{formula}`, d = {d}, n = {n}, noise {noise:g}{', turned' if turned else ''}"
    load = lambda seed: drawn(formula, noise, turned, d, n, seed)  # noqa: E731
    return Task(f"{name}-{d}", group, REGRESSION, about, SEEDS, load)


STAIRCASE = "(x1 + x1*x2)/sqrt(2)"
TASKS = (
    *(task("staircase", "staircase", STAIRCASE, 0.0, False, d, n) for d, n in ((128, 2048), (512, 4096))),
    *(task(name, "index", formula, noise, turned, d, n) for d, n in SIZES for name, formula, noise, turned in INDEX),
)
