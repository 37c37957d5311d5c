"""Tasks whose truth is known: Gaussian rows (uniform ones for Friedman's functions), noise on the training labels alone."""

import numpy as np
from sklearn import datasets

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
# (name, formula, noise, whether turned, d, n): curved links, products of three, a gate, and laws along the axes
OTHERS = (
    ("leap", "x1*x2*x3 + x1", 0.15, True, 40, 3000),
    ("leap-many", "x1*x2*x3 + x1", 0.15, True, 40, 10_000),
    ("cubic", "(H3(x1)/sqrt(6) + 0.3*x1)", 0.1, True, 100, 3000),
    ("gate", "relu(x1)*sign(x2) + 0.3*x1", 0.1, True, 150, 3000),
    ("ring", "tanh(x1^2 + x2^2 - 2)", 0.1, True, 60, 3000),
    ("jumps", "sign(x1) + sign(x2 - 0.5)*relu(x3) + sign(x4)/2", 0.3, False, 30, 3000),
    ("many-terms", "sin(2*x1) + abs(x2) + tanh(2*x3) + x4*x5 + x6^2/2 + sin(3*x7) + x8", 0.3, False, 20, 3000),
    ("noise", "x1", 3.0, True, 20, 3000),
)


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
    return Task(f"{name}-{d}", group, REGRESSION, about, n, SEEDS, load)


def friedman(number: int) -> Task:
    """One of Friedman's functions (1991) from scikit-learn, with noise of a tenth of its deviation on the training labels."""
    make, n = getattr(datasets, f"make_friedman{number}"), 3000

    def load(seed: int) -> Split:
        X, y = make(n_samples=n + TEST, random_state=seed)
        noise = 0.1 * y[:n].std() * np.random.default_rng(seed).standard_normal(n)
        centre, unit = y[:n].mean(), y[:n].std()  # methods with fixed penalties need labels of variance one
        return Split(X[:n], (y[:n] + noise - centre) / unit, X[n:], (y[n:] - centre) / unit)

    columns = 10 if number == 1 else 4
    about = f"`make_friedman{number}` of scikit-learn, {columns} columns, n = {n}, noise a tenth of the deviation"
    return Task(f"friedman{number}", "other", REGRESSION, about, n, SEEDS, load)


STAIRCASE = "(x1 + x1*x2)/sqrt(2)"
TASKS = (
    *(task("staircase", "staircase", STAIRCASE, 0.0, False, d, n) for d, n in ((128, 2048), (512, 4096))),
    *(task(name, "index", formula, noise, turned, d, n) for d, n in SIZES for name, formula, noise, turned in INDEX),
    *(task(name, "other", formula, noise, turned, d, n) for name, formula, noise, turned, d, n in OTHERS),
    *(friedman(number) for number in (1, 2, 3)),
)
