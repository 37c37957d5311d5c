"""Bounds for a user's own network, table and loss.

With z = (x, y), the loss has the modulus Lambda = sqrt((L1 Lip f)^2 + L2^2) in z. On n rows, R_n their mean loss,

    fresh rows:       E|R_n - R| <= n^{-1/2} min(Lambda sqrt(tr Cov Z), L1 s_f + L2 sqrt(tr Cov Y))
    training rows:    |R_n - R| <= Lambda W1(mu, mu_n),   E W1^2 <= (E W1)^2 + tr Cov Z/n

s_f^2 >= tr Cov f(X) uses the covariance C of the inputs itself, with m, r and S of ``lipschitz``,

    s_f = |m| sqrt(tr A W C W^T A^T) + r ||A S|| sqrt(tr S^-1 W C W^T S^-1)

E W1 has the bound of ``theory.box`` for the box that holds the rows, and, measured, W1 between two halves of the table, whose
mean is above it (W1 is convex, so its mean falls with the size of a sample).
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from jaxtyping import Float
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from giantstep._given.declared import given, number
from giantstep._given.plain import as_numbers, several, whole
from giantstep.errors import InputError
from giantstep.experiment.layers import Layers
from giantstep.measure import operator_norm
from giantstep.results.table import aligned
from giantstep.systems.bounds._own_training import growth
from giantstep.systems.bounds.lipschitz import NetworkLipschitz, balance, network_lipschitz
from giantstep.systems.bounds.own_loss import ON_ROWS, OwnLoss
from giantstep.systems.bounds.theory import box

LARGEST = 1e50  # a rate
HALF = 800  # rows of each half between which W1 is measured
SEED = 0  # of the choice of the halves


@dataclass(frozen=True)
class GapBounds:
    """How far the mean loss R_n on a table can be from its expectation R.

    Attributes:
        n: rows of the table.
        d_in: columns of the inputs.
        d_out: columns of the labels.
        loss: the name of the loss.
        mean_loss: R_n of the network as given.
        constants: L1 and L2, the Lipschitz constants of the loss in the prediction and in the label.
        network: the Lipschitz constants of the network as given.
        constant: the one that the bounds use: of the network as given, or after training.
        modulus: Lambda.
        spread: tr Cov Z.
        distance: the bound of the root mean square of W1(mu, mu_n), for rows in the box.
        measured_distance: the same from W1 between two halves of the table.
        fresh: the bound of E|R_n - R| on n rows that the network was not trained on.
        training: the bound on the rows that it was trained on, Lambda times ``distance``.
        measured_training: the same with ``measured_distance``.
        expected: E|R_n - R| on n fresh rows by the central limit theorem, sqrt(2/(pi n)) times the deviation of the losses;
            an estimate for the network as given, and no bound.
        zero: the mean loss of predicting zero: a bound above it says nothing.
        notes: sentences on what was assumed.
    """

    n: int
    d_in: int
    d_out: int
    loss: str
    mean_loss: float
    constants: tuple[float, float]
    network: NetworkLipschitz
    constant: float
    modulus: float
    spread: float
    distance: float
    measured_distance: float
    fresh: float
    training: float
    measured_training: float
    expected: float
    zero: float
    notes: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        rows = {
            "mean loss on the table": self.mean_loss,
            "mean loss of predicting zero": self.zero,
            "L1 of the loss, in the prediction": self.constants[0],
            "L2 of the loss, in the label": self.constants[1],
            "Lipschitz constant of the network, norms": self.network.product,
            "with balanced neurons": self.network.balanced,
            "with centred slopes": self.network.centred,
            "largest gradient on the rows": self.network.on_rows,
            "modulus of the loss": self.modulus,
            "bound of W1, box": self.distance,
            "bound of W1, measured on halves": self.measured_distance,
            "gap to expect on fresh rows": self.expected,
            "bound on fresh rows": self.fresh,
            "bound on training rows, box": self.training,
            "bound on training rows, measured W1": self.measured_training,
        }
        head = f"bounds for {self.n} rows, d_in = {self.d_in}, d_out = {self.d_out}, {self.loss} loss"
        body = [[name, f"{value:.4g}"] for name, value in rows.items() if value is not None]
        return "\n".join([head, *aligned(["quantity", "value"], body), *(f"  {note}" for note in self.notes)])


@given(rate=number(0.0, LARGEST), epochs=whole, batch=whole)
def bounds(
    network: Any,
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    loss: Any = "absolute",
    *,
    lipschitz: Any = None,
    support: tuple[Any, Any] | None = None,
    rate: float | None = None,
    epochs: int = 1,
    batch: int = 1,
) -> GapBounds:
    """Bounds on the gap between the mean loss of a network on a table and its expectation.

    Args:
        network: ``gs.Layers(W, A, ...)``, a ``Network`` with weights of its own, or a fitted MLP of scikit-learn with one
            hidden layer; with any number of outputs.
        X: the inputs of the table, (n, d_in).
        y: its labels: numbers (n,) or (n, d_out), +1 and -1, or classes 0, 1, ...
        loss: "absolute", "huber", "square", "logistic", "cross_entropy", or a function (outputs, y) -> losses (n,).
        lipschitz: (L1, L2) of a function: its Lipschitz constants in the prediction and in the label.
        support: (low, high) of all coordinates of x and y, numbers or arrays; the box of the rows if left out.
        rate: with a rate, the network is taken as it is before training, and the bounds hold after SGD on this table, whatever
            the order of the rows.
        epochs: passes of SGD through the table.
        batch: rows of a step of SGD.

    Examples:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> X, W, A = rng.uniform(-1, 1, (200, 2)), rng.standard_normal((20, 2)), rng.standard_normal(20) / 20
        >>> found = gs.bounds(gs.Layers(W, A, activation="tanh"), X, np.sin(X[:, 0]))
        >>> found.expected < found.fresh < found.training  # the gap to expect, and two bounds
        True
    """
    layers, read = Layers.of(network), OwnLoss.of(loss, lipschitz)
    rows = layers.inputs(X)
    if len(rows) < 4:
        raise InputError(f"bounds need a table of at least 4 rows, not {len(rows)}")
    labels = read.labels(y, len(rows), layers.outputs)
    output = layers(rows)
    losses = read.values(output, labels)
    notes = []
    known = network_lipschitz(layers, rows)
    if rate is None:
        first, second = read.constants(output, labels)
        constant, spread_f = known.constant, _spread_of_outputs(layers, rows, known)
        if read.name in ON_ROWS and read.function is None:
            notes.append(f"The constants of the {read.name} loss are the largest on the rows of this table.")
    else:
        first, _ = read.constants_up_to(0.0)
        grown = growth(layers, rows, first, rate, epochs, min(batch, len(rows)))
        first, second = read.constants_up_to(grown.height)
        constant = max(abs(s) for s in known.slopes) * grown.product
        spread_f = constant * float(np.sqrt(np.sum(np.var(rows, axis=0))))
        notes.append(f"The weights after training are bounded by the way for {grown.way}.")
    z = np.concatenate([rows, labels], axis=1)
    spread, modulus = float(np.sum(np.var(z, axis=0))), float(np.hypot(first * constant, second))
    low, high, whose = _box(z, support)
    notes.append(whose)
    ends = high - low
    distance = float(np.hypot(box(len(rows), ends[ends > 0]), np.sqrt(spread / len(rows))))
    halves = float(np.hypot(_between_halves(z), np.sqrt(spread / len(rows))))
    parts = first * spread_f + second * float(np.sqrt(np.sum(np.var(labels, axis=0))))
    fresh = min(modulus * spread**0.5, parts) / len(rows) ** 0.5
    zero = float(np.mean(read.values(np.zeros_like(output), labels)))
    for name, bound in (("fresh", fresh), ("training", modulus * halves)):
        if bound > zero:
            notes.append(
                f"The bound on {name} rows is vacuous: {bound:.3g}, where predicting zero has the loss {zero:.3g}."
            )
    expected = float(np.sqrt(2 / np.pi) * np.std(losses) / len(rows) ** 0.5)
    return GapBounds(
        len(rows), layers.d, labels.shape[1], read.name, float(np.mean(losses)), (first, second), known, constant, modulus,
        spread, distance, halves, fresh, modulus * distance, modulus * halves, expected, zero, tuple(notes),
    )  # fmt: skip


def _spread_of_outputs(layers: Layers, rows: Float[np.ndarray, "n d"], known: NetworkLipschitz) -> float:
    """s_f, a bound of the deviation of the outputs, by the covariance of the inputs."""
    centred = rows - rows.mean(axis=0)
    deviation = lambda M: float(np.sqrt(np.sum((centred @ M.T) ** 2) / len(rows)))  # noqa: E731
    (low, high), scale = known.slopes, balance(layers)
    ways = []
    for S in (np.ones(layers.p), scale):
        through = operator_norm(layers.A * S) * deviation(layers.W / S[:, None])
        middle = abs(low + high) / 2 * deviation(layers.A @ layers.W) + (high - low) / 2 * through
        ways += [max(abs(low), abs(high)) * through, middle]
    return min(ways)


def _box(
    z: Float[np.ndarray, "n D"], support: tuple[Any, Any] | None
) -> tuple[Float[np.ndarray, " D"], Float[np.ndarray, " D"], str]:
    """The ends of a box that holds all samples, and whose they are."""
    if support is None:
        return (
            z.min(axis=0),
            z.max(axis=0),
            "The box is that of the rows: a law that reaches further has a larger bound.",
        )
    ends = [as_numbers(end) for end in several(support, "support") or ()]
    if len(ends) != 2 or any(end is None or end.shape not in ((), z.shape[1:]) for end in ends):
        raise InputError(f"support must be (low, high), each a number or {z.shape[1]} numbers, for x and then y")
    low, high = (np.broadcast_to(np.asarray(end, dtype=float), z.shape[1:]) for end in ends)
    if np.any(np.isnan(low) | np.isnan(high)):
        raise InputError("support must be numbers, and has NaN")
    if np.any(low > z.min(axis=0)) or np.any(high < z.max(axis=0)):
        raise InputError("support must hold every row of the table")
    return low, high, "The box is the support that was given."


def _between_halves(z: Float[np.ndarray, "n D"]) -> float:
    """W1 between two halves of the table, at most ``HALF`` rows each."""
    order, half = np.random.default_rng(SEED).permutation(len(z)), min(len(z) // 2, HALF)
    distances = cdist(z[order[:half]], z[order[half : 2 * half]])
    return float(distances[linear_sum_assignment(distances)].mean())
