"""Upper bounds on generalisation gaps, all known before training.

The loss is 1-Lipschitz in f and in y, so in z = (x, y) it has the modulus Lambda = sqrt(A^2 + 1), A = L_sigma ||W2|| ||W1||.
Then on n samples, R_n the mean loss and R its expectation,

    (a) fresh samples:      E|R_n - R| <= n^{-1/2} E[Lambda] sqrt(tr Cov Z)                        (Var g(Z) <= Lambda^2 tr Cov Z)
    (b) training samples:   E|R_n - R| <= sqrt(E Lambda^2) sqrt((E W1(mu, mu_n))^2 + tr Cov Z/n)   (Kantorovich, Efron and Stein)

For a law on a cube of side s, by halving it,

    E W1(mu, mu_n) <= sqrt(D) s min_J [2^{-J} + (1/(2 sqrt(n))) sum_{j<=J} 2^{(D/2 - 1) j}]  ~ n^{-1/D} for D >= 3

and Gaussian inputs are cut to a cube, at the price of twice the mean length of what is outside. In a step v = ||W2||_F and
w = ||W1||_F change by |dv| <= rate min(S sqrt(m), L_sigma w r + |sigma(0)| sqrt(m)) and |dw| <= rate L_sigma v r, r = ||(x, 1)||.
In a step on a batch r is the mean of its samples, whose moments are at most those of one (Jensen): the bounds are the same.
(The rates are those of Nguwi and Privault 2026, arXiv 2604.06281; the coefficients are derived here, not compared with theirs.)
"""

from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from scipy.special import ndtr

from giantstep.results.system import Curve, Reading

if TYPE_CHECKING:
    from giantstep.systems.bounds import Bounds

DEPTH = 60  # halvings of the cube that are tried
CUTS = np.linspace(1.0, 12.0, 111)  # half sides of the cube that Gaussian inputs are cut to
DRAWS = 100_000  # of y, for the error of predicting zero


def input_moment(b: "Bounds", q: int) -> float:
    """||r||_q = (E ||(x, 1)||^q)^(1/q) for q = 2 or 4."""
    var, fourth = (1 / 3, 1 / 5) if b.data == "cube" else (1.0, 3.0)
    second = 1 + b.d_in * var
    return sqrt(second) if q == 2 else (second**2 + b.d_in * (fourth - var**2)) ** 0.25


def spread(b: "Bounds") -> float:
    """The trace of Cov Z; E sin(c x) = 0 by symmetry, and E sin^2 = (1 - E cos 2cx)/2."""
    c = 2 * b.frequency
    wave = (np.sinc(c / np.pi) if b.data == "cube" else np.exp(-(c**2) / 2)) if c else 1.0
    return float(b.d_in * (1 / 3 if b.data == "cube" else 1.0) + b.d_out * ((1 - wave) / 2 + b.noise**2 / 3))


def start(entries: int, variance: float, q: int) -> float:
    """(E ||W||_F^q)^(1/q) of a matrix of N(0, variance) entries."""
    second = entries * variance
    return sqrt(second) if q == 2 else (second**2 + 2 * entries * variance**2) ** 0.25


def growing(b: "Bounds", q: int) -> float:
    """A bound of ||v w||_{q/2} by v w <= (v + w)^2/4: any Lipschitz activation, through the samples once.

    A step multiplies ||v + w||_q by ||1 + rate L_sigma r||_q, r independent of the weights, and adds rate |sigma(0)| sqrt(m).
    """
    c, two, four = b.rate * b.lipschitz, input_moment(b, 2), input_moment(b, 4)
    # E r <= ||r||_2 and E r^3 <= ||r||_4^3
    fourth = 1 + 4 * c * two + 6 * (c * two) ** 2 + 4 * (c * four) ** 3 + (c * four) ** 4
    factor = 1 + c * two if q == 2 else fourth**0.25
    added = b.rate * abs(float(b.activation(0.0))) * sqrt(b.width)
    total = start(b.width * (b.d_in + 1), 1 / (b.d_in + 1), q) + start(b.d_out * b.width, 1 / b.width, q)
    with np.errstate(over="ignore"):
        power = float(np.exp(np.minimum(b.steps * np.log(factor), 700.0)))
        total = total * power + (added * (power - 1) / (factor - 1) if factor > 1 else added * b.steps)
        return total**2 / 4


def polynomial(b: "Bounds", q: int) -> float:
    """A bound of ||v w||_{q/2}, q = 2 or 4, for |sigma| <= S, in any order of the samples.

    v_k <= v_0 + c_k, c_k = rate S sqrt(m) k, whatever the samples, and w_K <= w_0 + rate L_sigma sum_k r_k v_k, so by Minkowski
    ||v_K w_K|| <= ||v_0 + c_K|| ||w_0|| + rate L_sigma ||r|| sum_k ||v_0 + c_K|| ||v_0 + c_k||, with norms of the right order.
    """
    each = b.rate * b.height * sqrt(b.width)
    first = start(b.width * (b.d_in + 1), 1 / (b.d_in + 1), 2)
    v = lambda power: start(b.d_out * b.width, 1 / b.width, power)  # noqa: E731
    pushed = b.rate * b.lipschitz * input_moment(b, 2)
    # E[v w] with q = 2: E v_0 <= ||v_0||_2; products of v with itself need one moment order more, ||.||_q
    total = b.steps * v(q) + each * b.steps * (b.steps - 1) / 2
    return (v(2) + each * b.steps) * first + pushed * (v(q) + each * b.steps) * total


def modulus(b: "Bounds") -> tuple[float, float, str]:
    """Bounds of E Lambda and of sqrt(E Lambda^2), and which of the two ways gave them; infinite where neither applies."""
    ways = {}
    if b.steps * b.batch <= b.n:
        ways["any Lipschitz activation, one pass"] = (growing(b, 2), growing(b, 4))
    if np.isfinite(b.height):
        ways["bounded activation"] = (polynomial(b, 2), polynomial(b, 4))
    if not ways:
        return float("inf"), float("inf"), "none"
    name = min(ways, key=lambda way: ways[way][1])
    mean, square = (b.lipschitz * min(way[k] for way in ways.values()) for k in (0, 1))
    root = sqrt(square**2 + 1)
    return min(mean + 1, root), root, name


def box(n: int, sides: Float[np.ndarray, " D"]) -> float:
    """The bound of E W1(mu, mu_n) for a law on a box of those sides, all halved together: its diagonal stands for sqrt(D) s."""
    with np.errstate(over="ignore"):
        terms = np.cumsum(2.0 ** ((sides.size / 2 - 1) * np.arange(1, DEPTH + 1))) / (2 * sqrt(n))
    halvings = float(np.min(2.0 ** -np.arange(DEPTH + 1) + np.concatenate([[0.0], terms])))
    return float(np.linalg.norm(sides)) * halvings


def cube(n: int, dimension: int, side: float) -> float:
    """The bound of E W1(mu, mu_n) for a law on a cube of that side."""
    return box(n, np.full(dimension, side))


def wasserstein(b: "Bounds", n: int) -> float:
    """The bound of E W1(mu, mu_n): on the cube that holds Z, or on the best cut of it."""
    reach = 1 + b.noise  # of y
    if b.data == "cube":
        return cube(n, b.dimension, 2 * max(reach, 1.0))
    # outside: E[||Z||; some |x_i| > R] <= sqrt(E ||Z||^2) sqrt(2 d_in Phi(-R))
    outside = sqrt(spread(b)) * np.sqrt(np.minimum(2 * b.d_in * ndtr(-CUTS), 1.0))
    return float(np.min([cube(n, b.dimension, 2 * max(R, reach)) + 2 * o for R, o in zip(CUTS, outside, strict=True)]))


def on_fresh(b: "Bounds", n: int) -> float:
    """The bound (a) on the gap on n fresh samples, after training on b.n."""
    return modulus(b)[0] * sqrt(spread(b) / n)


def on_training(b: "Bounds", n: int) -> float:
    """The bound (b) on the gap on the training samples, after training on n of them."""
    return modulus(replace(b, n=n))[1] * sqrt(wasserstein(b, n) ** 2 + spread(b) / n)


def trivial(b: "Bounds") -> float:
    """The error of predicting zero, E loss(0, y), by draws of the law of y."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (DRAWS, b.d_in)) if b.data == "cube" else rng.standard_normal((DRAWS, b.d_in))
    y = np.sin(b.frequency * x[:, np.arange(b.d_out) % b.d_in]) + b.noise * rng.uniform(-1, 1, (DRAWS, b.d_out))
    size = np.linalg.norm(y, axis=1)
    return float(np.mean(size if b.loss == "absolute" else np.where(size < 1, size**2 / 2, size - 0.5)))


def predicted(b: "Bounds") -> Reading:
    """Bounds under the names of what they bound; where the weights have none, it is left out and said."""
    mean, _, way = modulus(b)
    numbers = {
        "test_gap": on_fresh(b, b.n),
        "train_gap": on_training(b, b.n),
        "lipschitz": mean,
        "wasserstein": wasserstein(b, b.n),
        "trivial": trivial(b),
    }
    lines = {"test_gap": on_fresh, "train_gap": on_training, "wasserstein": wasserstein}
    curves = {name: _line(b, [bound(b, n) for n in b.samples]) for name, bound in lines.items()}
    notes = ["These are upper bounds, known before training."]
    if way == "none":
        notes.append(
            "No bound on the weights is known: an unbounded activation goes through its samples more than once."
        )
    else:
        notes.append(f"The weights are bounded by the way for {way}.")
    for name, said in (("test_gap", "on fresh samples"), ("train_gap", "on training samples")):
        if numbers["trivial"] < numbers[name] < np.inf:
            notes.append(
                f"The bound {said} is vacuous: it is {numbers[name]:.3g}, and predicting zero has the error "
                f"{numbers['trivial']:.3g}."
            )
    known = {name: value for name, value in numbers.items() if np.isfinite(value)}
    return Reading(known, {name: line for name, line in curves.items() if line.x.size}, tuple(notes))


def _line(b: "Bounds", values: list[float]) -> Curve:
    x, y = np.array(b.samples, dtype=float), np.array(values)
    return Curve("n", x[np.isfinite(y)], y[np.isfinite(y)], log="xy")
