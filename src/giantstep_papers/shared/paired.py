"""A giant step and random features on the same draws: errors, gains, and what theory says."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import linalg

import giantstep as gs
from giantstep.checks import cache
from giantstep.checks.cache import one_blas_thread
from giantstep.experiment import draw
from giantstep.experiment.target import Target
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.simulate import train
from giantstep_papers.moniri import talk
from giantstep_papers.shared import population
from giantstep_papers.shared.controls import controlled

PENALTY = 0.1
# L_te, and L_tr with its penalty
ERRORS = {"test_error": "test error", "train_objective": "training objective"}
N_TEST = 3000
STEP_SIZE = r"$\alpha$, step size $\eta = n^\alpha$"
OPAQUE: dict[str, Any] = {  # for legends
    "frameon": True,
    "facecolor": "white",
    "edgecolor": "none",
    "framealpha": 1.0,
}


def experiment(
    n: int,
    alphas: Sequence[float],
    target: Target,
    *,
    activation: str = "relu",
    update: str = "gradient",
    penalty: Any = PENALTY,
    centred: bool = True,
) -> gs.Setting:
    """The talk's experiment at step sizes 0, which leaves random features, and n^alpha."""
    base = talk.experiment(n, 0.0, target, activation=activation)
    etas = (0.0, *(float(n) ** a for a in alphas))
    step = replace(base.protocol.steps[0], eta=etas, update=update)
    network = base.network
    if not centred:
        network = replace(network, activation=activation, centred=False)
    return replace(base, network=network, protocol=gs.Protocol((step,), gs.Ridge(n, penalty)))


def simulated(setting: gs.Setting, seeds: range) -> gs.Outcome:
    """All step sizes on the same draws, for every seed; the ridge fit stays in float64."""
    return cache.simulate(setting, seeds, n_test=N_TEST, dtype="float32")


def fits(setting: gs.Setting, seed: int) -> np.ndarray:
    """Exact test error and training objective, (2, step sizes, penalties).

    The test error is E (y - F b)^2 over all inputs, not over a sample. The ridge fit
    b = (F^T F/n + lambda)^(-1) F^T y/n, in float64, has the loss mean y^2 - b^T F^T y/n.
    """
    X, y = draw.rows(setting, seed, draw.readout_batch(setting), dtype=np.float32)
    sigma, readout = setting.network.activation, setting.protocol.readout
    penalties = np.atleast_1d(readout.penalty)  # type: ignore[union-attr]
    layers, found = train(setting, seed, dtype="float32"), []
    W0, G = layers.initial, np.asarray(layers.descent)
    with one_blas_thread(setting.p):
        before, along = X @ W0.T, X @ G.T  # of every step size
        for eta in setting.protocol.etas(setting.d, setting.p).ravel().tolist():
            W, F = np.add(W0, eta * G, dtype=float), np.asarray(sigma(before + eta * along))
            gram, right = (F.T @ F).astype(float) / len(y), F.T @ y / len(y)
            b = np.array([_ridge(gram, right, penalty) for penalty in penalties])
            test_error = population.moments(setting, W).error(b)
            found.append((test_error, np.mean(y**2) - b @ right))
    return np.moveaxis(np.array(found), 1, 0)


def _ridge(gram: np.ndarray, right: np.ndarray, penalty: float) -> np.ndarray:
    """(gram + penalty)^(-1) right."""
    lifted = gram.copy()
    np.fill_diagonal(lifted, gram.diagonal() + penalty)
    factor = linalg.cho_factor(lifted, overwrite_a=True, check_finite=False)
    return linalg.cho_solve(factor, right, check_finite=False)


def draws(setting: gs.Setting, seed: int) -> list[float]:
    """Numbers of mean zero, of both batches.

    They are mean y^2, mean y x_1, mean x_1^2 and |X^T y/n|^2, each less its expectation.
    E |X^T y/n|^2 = ((d - 1) E y^2 + E y^2 x_1^2)/n + (1 - 1/n) (E y x_1)^2.
    """
    target, found = setting.target, []
    first = float(target.hermite.get((1,), 0.0))
    power, fourth = target.power + target.noise**2, _weighted_power(target)
    for batch in (draw.step_batches(setting)[0], draw.readout_batch(setting)):
        X, y = draw.rows(setting, seed, batch)
        n, z = batch.n, X[:, 0]
        length = ((setting.d - 1) * power + fourth) / n + (1 - 1 / n) * first**2
        found += [np.mean(y**2) - power, np.mean(y * z) - first, np.mean(z**2) - 1]
        found.append(np.sum((X.T @ y / n) ** 2) - length)
    return [float(x) for x in found]


@lru_cache
def _weighted_power(target: Target) -> float:
    """E y^2 x_1^2, by quadrature; every seed asks for it."""
    z, weight = np.polynomial.hermite_e.hermegauss(40)
    squares = np.asarray(target(z[None])) ** 2 * z**2
    return float(weight @ squares / weight.sum()) + target.noise**2


def one_run(
    n: int,
    alphas: tuple[float, ...],
    name: str,
    activation: str,
    update: str,
    centred: bool,
    seed: int,
) -> dict[str, Any]:
    """Errors (2, step sizes) and controls of one seed."""
    target = talk.TARGETS[name]
    setting = experiment(n, alphas, target, activation=activation, update=update, centred=centred)
    return {"errors": fits(setting, seed)[..., 0], "controls": draws(setting, seed)}


def measured(
    n: int,
    alphas: tuple[float, ...],
    name: str,
    seeds: range,
    activation: str = "relu",
    update: str = "gradient",
    centred: bool = True,
) -> np.ndarray:
    """Test error and training objective, (2, step sizes, seeds), with control variates."""
    found = cache.over(one_run, (n, alphas, name, activation, update, centred), seeds)
    return controlled(found["errors"], found["controls"])


def predicted(setting: gs.Setting, regime: str = "finite") -> np.ndarray:
    """Test error and training objective, (2, step sizes)."""
    outcome = gs.theory(setting, regime)
    return np.stack([getattr(outcome, error) for error in ERRORS])


def gains(errors: np.ndarray) -> np.ndarray:
    """Errors of random features, the first step size, less those after the step.

    (2, step sizes - 1) and seeds if there are any.
    """
    return errors[:, :1] - errors[:, 1:]


def over_line(
    ax: Any,
    x: Any,
    samples: np.ndarray,
    fine: Any,
    line: Any,
    *,
    colour: str,
    label: str,
    marker: str = "o",
) -> None:
    """Simulated values (x, seeds) as dots with error bars over a predicted line."""
    ax.plot(fine, line, color=colour)
    style.dots(ax, x, *mean_and_error(samples), color=colour, label=label, marker=marker)


def step_axis(ax: Any, threshold: float) -> None:
    """Name the axis of exponents, and mark where a regime ends by a thin vertical line."""
    ax.axvline(threshold, color=style.INK, linewidth=0.7, linestyle=":", zorder=0)
    ax.set_xlabel(STEP_SIZE)
