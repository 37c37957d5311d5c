"""One giant step on a mixture with spikes: the conditional theory with groups (component, coordinates along spikes and step).

Samples are grouped by (c, kappa, kappa_v), kappa the coordinates inside the span B of spikes and means; neurons by (a_i, u_i), u_i
their own coordinates there, which are not small against 1/sqrt(theta). With t = <u_j, kappa_k> + U_j kappa_v and b_j^2 = E ||g_j||^2

    sigma(<w_i, x>) ~ m(t; b) + l(t; b) <g_i, x> + c(t; b) xi_i                          (as in ``conditional``)

The features that are Gaussian given (c, kappa) are those of Demir and Dogan (2025), Theorem 3; the errors that follow are ours.
Coordinates are few: products of Gauss rules. More than three: scrambled Sobol points, several times, whose spread is the error.
"""

from typing import Any, NamedTuple

import numpy as np

from giantstep._backend import jax, jnp, on_host
from giantstep.measure import mean_and_error
from giantstep.setting import Setting
from giantstep.theory.errors import Errors, Signal, errors
from giantstep.theory.finite import lowest_gcv
from giantstep.theory.fixed_point import TOLERANCE, Features, solve
from giantstep.theory.nodes import FEW
from giantstep.theory.published import Found, penalties_of
from giantstep.theory.rows import Rows, after_step, label, table
from giantstep.theory.structure import Structure, samples, structure

COUNT = 512  # Sobol points of the neurons, and of the samples of all components
SCRAMBLES = 4  # how often they are drawn
SMALL = 1e-6  # singular values left out of the basis, against the largest
ROUND = 32  # to which sizes are rounded up, so that few programs are compiled
SEEN = 100  # sizes below which corrections are worth a word


class Problem(NamedTuple):
    """Ready to be solved at any penalty."""

    features: Features
    signal: Signal


def problem(setting: Setting, of: Structure, rows: Rows, count: int, seed: int) -> Problem:
    """Tables of the features' and the labels' law given (a_i, u_i) and (c, kappa, kappa_v)."""
    d, p = float(setting.d), float(setting.p)
    typical = np.sqrt(rows.u**2 @ rows.omega)
    along = float(np.sqrt(rows.omega @ rows.U**2))
    each = max(2 ** int(np.log2(count / len(of.parts))), 32)
    found = [samples(part, of, typical, [along], each, seed + 31 + i) for i, part in enumerate(of.parts)]
    pairs = list(zip(of.parts, found, strict=True))
    pi = np.concatenate([part.weight * n.weights for part, n in pairs])
    bulk = np.concatenate([np.full(n.weights.size, part.bulk) for part, n in pairs])
    kappa, kappa_v = (np.concatenate([n.points[cut] for n in found], axis=-1) for cut in (slice(of.k), of.k))
    variance = rows.variance(rows.modes.nodes)
    b2 = rows.modes.weights @ variance
    t = rows.u.T @ kappa + rows.U[:, None] * np.sqrt(bulk) * kappa_v
    sigma = setting.network.activation
    mean, gain, square, curve = table(sigma, t, np.sqrt(b2[:, None] * bulk))
    gain = gain * np.sqrt(bulk)  # x outside B is sqrt(bulk) times a standard Gaussian
    noise = np.maximum(square - mean**2 - b2[:, None] * gain**2, 0.0)
    rest = np.sqrt(1 - rows.rho**2)
    width = of.outside * rest
    labels = [
        label(part, of.inside @ n.points[: of.k] + of.outside * rows.rho * part.bulk**0.5 * n.points[of.k], width * part.bulk**0.5)
        for part, n in pairs
    ]  # fmt: skip
    y, slope, power = (np.concatenate([x[i] for x in labels]) for i in range(3))
    length = curve / np.sqrt(2 * d)  # of the inputs, as in ``conditional``
    spread = np.sqrt(2 * rows.modes.weights @ variance**2) if setting.network.rows != "sphere" else 0.0 * b2
    scatter = curve * (spread / (2 * b2) / np.sqrt(d))[:, None]
    one, zero = np.ones(pi.size), np.zeros(pi.size)
    # every channel's coordinate over (1, tau, length): v, e, the mean, the inputs' length, the rows' lengths
    on = np.array([[kappa_v, zero, zero], [zero, one, zero], [one, zero, zero], [zero, zero, one], [one, zero, zero]])
    signal = Signal(
        weights=rows.along.weights,
        variance=rows.variance(rows.along.nodes),
        patterns=np.stack([mean, length]),
        scatter=scatter[None],
        mean=on[:, 0].T,
        second=np.einsum("csk,dsk->kcd", on, on),
        label=(on[:, 0] * y + on[:, 1] * width * np.sqrt(bulk) * slope).T,
        power=power + setting.target.noise**2,
        p=np.asarray(p),
    )  # type: ignore[arg-type]
    features = Features(
        rows.omega, pi, rows.modes.weights, gain, noise, variance, np.asarray(p / d),
        np.asarray(p / setting.protocol.readout_size), _basis(rows.omega, pi, [gain, mean, length, scatter]),
        mean[None], np.asarray(p),
    )  # type: ignore[arg-type]  # fmt: skip
    return _padded(Problem(features, signal))


def _basis(omega: np.ndarray, pi: np.ndarray, tables: list[np.ndarray]) -> np.ndarray:
    """Functions of k, orthonormal under pi, that span the rows of all tables."""
    weighted = [np.sqrt(omega)[:, None] * x * np.sqrt(pi) for x in tables]
    _, values, rows = np.linalg.svd(
        np.concatenate([x / max(np.linalg.norm(x), 1e-300) for x in weighted]), full_matrices=False
    )
    return rows[values > SMALL * values[0]] / np.sqrt(pi)


def _padded(made: Problem) -> Problem:
    """Groups of weight zero and empty functions up to round sizes."""
    f, s = made
    J, K, r = (-size % ROUND for size in (*f.gain.shape, f.basis.shape[0]))  # type: ignore[union-attr]
    grow = lambda x, *by: np.pad(np.asarray(x), [(0, 0)] * (np.ndim(x) - len(by)) + [(0, n) for n in by], mode="edge")  # noqa: E731
    none = lambda x, *by: np.pad(np.asarray(x), [(0, n) for n in by])  # noqa: E731
    first = lambda x: np.moveaxis(grow(np.moveaxis(np.asarray(x), 0, -1), K), -1, 0)  # noqa: E731
    features = f._replace(
        omega=none(f.omega, J), pi=none(f.pi, K), gain=grow(f.gain, J, K), noise=grow(f.noise, J, K), variance=grow(f.variance, J),
        basis=none(grow(f.basis, K), r, 0), leverage=grow(f.leverage, J, K),
    )  # fmt: skip
    signal = s._replace(
        variance=grow(s.variance, J), patterns=grow(s.patterns, J, K), scatter=grow(s.scatter, J, K), mean=first(s.mean),
        second=first(s.second), label=first(s.label), power=first(s.power),
    )  # fmt: skip
    return Problem(features, signal)


@jax.jit
def _answers(made: Problem, penalties: Any) -> tuple[Errors, Any, Any]:
    def one(penalty):
        at = solve(made.features, penalty)
        return errors(made.features, made.signal, penalty, at), at.residual

    return jax.lax.map(one, penalties)


class Predicted(NamedTuple):
    """Errors (E, L) with the spread over scrambled nodes, residuals of the fixed points, and the rows at every step size."""

    errors: Errors
    spread: Errors
    residual: np.ndarray
    rows: tuple[Rows, ...]


def predicted(setting: Setting, etas: np.ndarray, penalties: np.ndarray, count: int = COUNT) -> Predicted:
    """Errors at every step size and its penalties (E, L)."""
    of = structure(setting)
    scrambles = SCRAMBLES if of.k + 1 > FEW else 1
    found, residuals, rows = [], [], []
    with on_host():
        for seed in range(scrambles):
            for eta, own in zip(etas.tolist(), penalties, strict=True):
                rows.append(after_step(setting, of, eta, count, seed))
                made = jax.tree.map(jnp.asarray, problem(setting, of, rows[-1], count, seed))
                values, residual = _answers(made, jnp.asarray(own))
                found.append(np.stack([np.asarray(x) for x in values]))
                residuals.append(np.asarray(residual))
    values = np.array(found).reshape(scrambles, len(etas), 4, -1)
    mean, spread = mean_and_error(values, axis=0)
    spread = spread if scrambles > 1 else np.zeros_like(mean)
    each = [Errors(*np.moveaxis(x, 1, 0)) for x in (mean, spread)]  # type: ignore[arg-type]
    return Predicted(
        each[0],
        each[1],
        np.max(np.array(residuals).reshape(scrambles, *penalties.shape), axis=0),
        tuple(rows[: len(etas)]),
    )


def mixed(setting: Setting) -> Found:
    """The theory at a setting's own sizes, step sizes and penalties; arrays (E, L)."""
    notes: list[str] = []
    protocol = setting.protocol
    etas = (
        np.atleast_1d(protocol.steps[0].etas(protocol.sizes()[0], setting.d, setting.p))
        if protocol.steps
        else np.zeros(1)
    )
    if protocol.readout.penalty == "gcv":  # type: ignore[union-attr]
        penalties = lowest_gcv(lambda grid: predicted(setting, etas, grid).errors.gcv, etas.size)
    else:
        penalties = np.tile(penalties_of(setting, notes), (etas.size, 1))
    found = predicted(setting, etas, penalties)
    notes += _notes(setting, found)
    learned = [_learned(setting, rows) for rows in found.rows]
    values = {
        "test_error": found.errors.test, "train_error": found.errors.train, "train_objective": found.errors.objective,
        "captured": np.array([[c] for c, _ in learned]), "null_level": np.array([n for _, n in learned]), "penalty": penalties,
    }  # fmt: skip
    if np.any(found.spread.test > 0):
        values["test_error_se"] = found.spread.test
    return Found(values, notes)


def _learned(setting: Setting, rows: Rows) -> tuple[float, float]:
    """E cos^2(w_i, xi), and what a direction that was not learned captures."""
    of = structure(setting)
    length2 = float(of.inside @ of.inside + of.outside**2)
    b2 = rows.modes.weights @ rows.variance(rows.modes.nodes)
    along = of.inside @ rows.u + of.outside * rows.rho * rows.U
    shares = (along**2 + of.outside**2 * b2 / setting.d) / length2 / (np.sum(rows.u**2, axis=0) + rows.U**2 + b2)
    captured = float(rows.omega @ shares)
    return captured, (1 - captured) / (setting.d - 1)


def _notes(setting: Setting, found: Predicted) -> list[str]:
    """What the prediction is made of, and a sentence for each assumption that does not hold."""
    of, notes = structure(setting), []
    if np.any(found.residual > TOLERANCE):
        notes.append(f"not converged: the largest residual is {np.max(found.residual):.1e}")
    small = min(setting.d, setting.p, setting.protocol.readout_size)
    if small < SEEN:
        notes.append(f"the smallest size is {small}: expect corrections of order 1/{small} times a constant")
    rows = found.rows[int(np.argmax([r.omega @ r.U**2 for r in found.rows]))]
    neurons, along = rows.a.size, float(np.sqrt(rows.omega @ rows.U**2))
    notes.append(
        f"conditional theory given the component and {of.k} + 1 coordinates, {neurons} groups of neurons: the step moves them by "
        f"{along:.3g} of unit length outside the spikes"
    )
    if np.any(found.spread.test > 0):
        worst = float(np.max(found.spread.test / found.errors.test))
        notes.append(f"{SCRAMBLES} sets of Sobol nodes: standard error {100 * worst:.1g}% of the test error")
    return notes
