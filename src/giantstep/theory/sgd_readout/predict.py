"""SGD on the second layer alone over random features; one pass: second moments of the coefficients, step by step.

    theta_{t+1} = theta_t + g_t (y_t - <theta_t, phi_t>) phi_t,    phi = F / sqrt(p),    g_t = rate (t + 1)^-decay

With Sigma = E phi phi^T, its eigenvalues lam_i, m_i the mean of phi along its eigenvectors, theta* and s^2 = floor + noise^2 the
least-squares coefficients and what they leave, c_i = E (theta_t - theta*)_i^2 follows, for fourth moments as of Gaussian phi,

    c_i <- ((1 - g lam_i)^2 + g^2 lam_i^2) c_i + g^2 (lam_i (sum_j lam_j c_j + s^2) - 2 m_i^2 sum_j m_j^2 c_j)

and the mean of the iterates with it. Linear in (theta*, s^2): the parts of the start and of the noise separate. Without the terms
of the random phi phi^T, (1 - g lam)^2 c + g^2 lam s^2, these are the parts that Liu et al. (2022) call B2 + B3 and V2 + V3.
Several passes are in ``passes``. ``theory.sgd`` is different: it follows SGD on the first layer of a narrow network (Saad and
Solla).
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep.errors import InputError
from giantstep.experiment import draw
from giantstep.experiment.data import Gaussian
from giantstep.experiment.dataset import Dataset
from giantstep.experiment.protocol import SGD
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.results.bias_variance import Parts
from giantstep.theory.answer import Answer
from giantstep.theory.coverage import check
from giantstep.theory.sgd_readout import passes
from giantstep.theory.sgd_readout.from_rows import on_rows
from giantstep.theory.sgd_readout.population import Population, population

DRAWS, NEURONS = 4, 4000  # first layers that a prediction is the mean of, at least; and so many neurons in all
FIRST = 10**9  # the seed of the first of them: none that a simulation is likely to have
DOUBT = 1e-6  # of the diagonal, left out of the second moments
NARROW = 100  # dimensions below which the law of the features is far from Gaussian


class Excess(NamedTuple):
    """E |theta - theta*|^2 in the norm of Sigma, (L,) each: from the start theta_0 - theta* = -theta* alone, and from residuals
    of unit variance alone."""

    start: Float[np.ndarray, " L"]
    noise: Float[np.ndarray, " L"]


def excess(of: Population, readout: SGD, n: int, *, averaged: bool = False) -> Excess:
    """After n samples, once or in several passes, for every rate; ``averaged`` puts Sigma in place of the random phi phi^T."""
    rates = np.atleast_1d(np.asarray(readout.rate, float))[:, None]
    lam, square = of.values, of.mean**2
    if readout.passes > 1:
        each = [
            passes.excess_after(of, float(rate), n, readout.passes, average=readout.average) for rate in rates[:, 0]
        ]
        return Excess(*np.array(each).T)
    noisy, real = np.array([0.0, 1.0])[:, None, None], 0.0 if averaged else 1.0
    c = np.zeros((2, rates.size, lam.size))  # the start or the noise; rates; eigenvectors
    c[0] = of.best**2
    with_sum, squares = np.zeros_like(c), np.zeros_like(c)  # E e_t S_t and E S_t^2, S_t = e_0 + ... + e_{t-1}
    highest = passes.HIGHEST * max(float(lam @ of.best**2), 1.0)
    for t in range(n):
        g = rates * (t + 1.0) ** -readout.decay
        shrunk = 1 - g * lam
        if readout.average:  # S_{t+1} = S_t + e_t,   E e_{t+1} S_{t+1} = (1 - g lam) E e_t (S_t + e_t)
            squares += 2 * with_sum + c
            with_sum = shrunk * (with_sum + c)
        drive = real * (c @ lam)[..., None] + noisy
        around = real * (c @ square)[..., None]
        c = (shrunk**2 + real * (g * lam) ** 2) * c + g**2 * (lam * drive - 2 * square * around)
        if t % 64 == 0:
            c[:, ~(np.max(c @ lam, axis=0) < highest)] = np.nan
    final = (squares / n**2 + 0 * c if readout.average else c) @ lam
    return Excess(*final)


def parts(setting: Setting, seed: int | None = None) -> Parts:
    """The risk of an SGD readout in its parts; over draws of the first layer, or given that of a seed."""
    if not isinstance(setting, Setting) or not isinstance(setting.protocol.readout, SGD):
        raise InputError("theory.parts takes a Setting with an SGD readout: simulate.parts takes others")
    check(setting, ("sgd",))
    return _parts(setting, seed)[0]


def predicted(setting: Setting) -> Answer:
    """Predict the test error and its spread over draws of the first layer; the arrays are (1, L)."""
    parts, rest = _parts(setting, None)
    noise = setting.target.noise**2
    values = {"test_error": np.atleast_1d(parts.risk + noise)[None]}
    moments = "exact second moments" if isinstance(setting.data, Gaussian) else "second moments on rows of the data"
    several = setting.protocol.readout.passes > 1  # type: ignore[union-attr]
    rest_of = "otherwise as of Gaussian ones in several passes" if several else "fourth moments as of Gaussian ones"
    notes = [f"SGD on random features: {moments}, {rest_of}"]
    if parts.risk_se is not None:
        values["test_error_se"] = np.atleast_1d(parts.risk_se)[None]
        notes[0] += f"; mean of {_draws(setting)} first layers"
    if not np.all(np.isfinite(parts.risk)):
        notes.append("not converged: SGD diverges at some rates, where NaN stands; keep them below 1 / E F^2")
    if rest > DOUBT:
        notes.append(f"neurons overlap so much that {rest:.1g} of the second moments is left out of their expansion")
    if isinstance(setting.data, Dataset):
        notes.extend(setting.data.notes)
    if setting.d < NARROW:
        notes.append(f"d = {setting.d}: expect corrections of some percent, as the features are not Gaussian")
    return Answer(values, notes)


def _parts(setting: Setting, seed: int | None) -> tuple[Parts, float]:
    """Compute the parts of the risk, and the largest bound on what the moments leave out."""
    readout, n = setting.protocol.readout, setting.protocol.readout_size
    assert isinstance(readout, SGD)
    own = setting.network.weights is not None
    seeds = [seed] if seed is not None else [FIRST] if own else range(FIRST, FIRST + _draws(setting))
    noise, rows, rest = setting.target.noise**2, [], 0.0
    for each in seeds:
        W = draw.weights(setting, each)[0]
        of = population(setting, W) if isinstance(setting.data, Gaussian) else on_rows(setting, W, each)
        e = excess(of, readout, n)
        # labels without noise still have the residual variance of the floor
        bias = e.start + of.floor * e.noise
        floor = np.full_like(bias, of.floor)
        own = [floor + bias, noise * e.noise, floor]
        if readout.passes == 1:
            without = excess(of, readout, n, averaged=True)
            own += [bias - without.start - of.floor * without.noise, noise * (e.noise - without.noise)]
        rows.append(own)
        rest = max(rest, of.rest)
    table = np.array(rows)  # (draws, parts, L)
    table = table if isinstance(readout.rate, tuple) else table[..., 0]
    risk = table[:, 0] + table[:, 1]
    if len(rows) == 1:
        return Parts(*table[0]), rest
    (mean, error), total = mean_and_error(table, axis=0), mean_and_error(risk, axis=0)[1]
    return Parts(*mean, bias_se=error[0], variance_se=error[1], risk_se=total), rest


def _draws(setting: Setting) -> int:
    """The number of first layers to average over: more for narrow networks, which differ more and cost less in one pass."""
    readout = setting.protocol.readout
    assert isinstance(readout, SGD)
    return int(np.clip(NEURONS // (setting.p * readout.passes), DRAWS, 40))


def isotropic_variance(x: Float[np.ndarray, "..."] | float) -> Float[np.ndarray, "..."] | float:
    """n/p times V3 / noise^2 of the averaged iterates, at x = rate Var(sigma) n / p: features whose covariance is Var(sigma)/p I.

    Liu et al. (2022) take it for the part of the variance that survives both averages, over data and over weights; for a
    constant rate it is F(x) = 1 - 2 (1 - e^-x)/x + (1 - e^-2x)/(2x), which makes a peak of (p/n) F at p = 0.53 rate Var(sigma) n.
    """
    x = np.asarray(x, float)
    return 1 + 2 * np.expm1(-x) / x - np.expm1(-2 * x) / (2 * x)
