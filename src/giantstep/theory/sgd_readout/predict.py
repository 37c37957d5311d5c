"""SGD on the second layer over random features or those after giant steps; one pass: second moments of its path, step by step.

    theta_{t+1} = theta_t + g_t (y_t - <theta_t, phi_t>) phi_t,    phi = F / sqrt(p),    g_t = rate (t + 1)^-decay

With Sigma = E phi phi^T, its eigenvalues lam_i, m_i the mean of phi along its eigenvectors, ``theta*`` and s^2 = floor + noise^2
the least-squares coefficients and what they leave, ``c_i = E (theta_t - theta*)_i^2`` follows, for fourth moments as of
Gaussian phi,

    c_i <- ((1 - g lam_i)^2 + g^2 lam_i^2) c_i + g^2 (lam_i (sum_j lam_j c_j + s^2) - 2 m_i^2 sum_j m_j^2 c_j)

and the mean of the iterates with it. Linear in ``(theta*, s^2)``: the parts of the start and of the noise separate. Without the
terms of the random phi phi^T, (1 - g lam)^2 c + g^2 lam s^2, these are the parts that Liu et al. (2022) call B2 + B3 and V2 + V3.
Several passes are in ``passes``. ``theory.sgd`` is different: it follows SGD on the first layer of a narrow network (Saad and
Solla).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep._given.declared import a, at_least, given
from giantstep._machine.backend import on_host
from giantstep.errors import InputError
from giantstep.experiment import draw
from giantstep.experiment.data.dataset import Dataset
from giantstep.experiment.data.gaussian import Gaussian
from giantstep.experiment.protocol import SGD
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.results._bias_variance import Parts
from giantstep.results._far_step import FAR
from giantstep.theory._answer import Answer
from giantstep.theory._coverage import check
from giantstep.theory.sgd_readout import _passes as passes
from giantstep.theory.sgd_readout._from_rows import on_rows
from giantstep.theory.sgd_readout._moved import drawn
from giantstep.theory.sgd_readout.population import Population, population
from giantstep.theory.steps._course import course
from giantstep.theory.steps._predict import followed

DRAWS, NEURONS = 4, 4000  # first layers that a prediction is the mean of, at least; and so many neurons in all
FIRST = 10**9  # the seed of the first of them: none that a simulation is likely to have
DOUBT = 1e-6  # of the diagonal, left out of the second moments
NARROW = 100  # dimensions below which the law of the features is far from Gaussian
LONG = 1.0  # moves of a neuron, against its length, from which gaps of several percent were seen (relu, 7% at 1.7)


class Excess(NamedTuple):
    """``E |theta - theta*|^2`` in the norm of Sigma, (L,) each: from the start ``theta_0 - theta* = -theta*`` alone, and from
    residuals of unit variance alone."""

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

    def factors(g: Float[np.ndarray, "L 1"]) -> tuple[np.ndarray, ...]:
        shrunk = 1 - g * lam
        return shrunk, shrunk**2 + real * (g * lam) ** 2, g**2 * lam, 2 * real * g**2 * square

    same, along = factors(rates) if readout.decay == 0 else None, np.stack([lam, square], axis=1)
    for t in range(n):
        shrunk, kept, driven, around = same or factors(rates * (t + 1.0) ** -readout.decay)
        if readout.average:  # S_{t+1} = S_t + e_t,   E e_{t+1} S_{t+1} = (1 - g lam) E e_t (S_t + e_t)
            squares += 2 * with_sum + c
            with_sum = shrunk * (with_sum + c)
        # c_i <- ((1 - g lam_i)^2 + (g lam_i)^2) c_i + g^2 lam_i (<lam, c> + noise) - 2 g^2 m_i^2 <m^2, c>
        sums = c @ along
        c = kept * c + driven * (real * sums[..., :1] + noisy) - around * sums[..., 1:]
        if t % 64 == 0:
            c[:, ~(np.max(c @ lam, axis=0) < highest)] = np.nan
    final = (squares / n**2 + 0 * c if readout.average else c) @ lam
    return Excess(*final)


@given(setting=a(Setting), seed=at_least(0))
def parts(setting: Setting, seed: int | None = None) -> Parts:
    """The risk of an SGD readout on random features in its parts; over draws of the first layer, or given that of a seed.

    Examples:
        >>> readout = gs.SGD(n=200, rate=0.5)
        >>> s = gs.Setting(gs.Gaussian(100), gs.target("x1", noise=0.5), gs.Network(80, "relu"), gs.Protocol((), readout))
        >>> found = gs.theory.parts(s)
        >>> bool(found.bias > 0), bool(found.variance > 0)
        (True, True)
    """
    if not isinstance(setting.protocol.readout, SGD):
        raise InputError("theory.parts takes a Setting with an SGD readout: simulate.parts takes others")
    check(setting, ("sgd",))
    if setting.protocol.steps:
        raise InputError("theory.parts covers random features: gs.theory(setting) has the risk after giant steps")
    seeds = _seeds(setting) if seed is None else [seed]
    return _parts(setting, seeds, [draw.weights(setting, each)[0] for each in seeds])[0]


def predicted(setting: Setting) -> Answer:
    """Predict the test error and its spread over draws of the first layer; the arrays are (E, L)."""
    steps, notes, strength = setting.protocol.steps, [], 0.0
    seeds = _seeds(setting)
    if steps:
        with on_host():
            every = np.atleast_2d(setting.protocol.etas(setting.d, setting.p))
            laws = [followed(course(setting), etas)[-1] for etas in every]
        layers = ([drawn(setting, law, each) for each in seeds] for law in laws)
        strength = max(float(law.principal[1][0]) for law in laws)
        if LONG < strength <= FAR:
            notes.append(
                f"The steps move a neuron by {strength:.2g} times its length. Above {LONG:g} features are far from Gaussian, "
                "and the test error may be some percent too low."
            )
    else:
        layers = iter([[draw.weights(setting, each)[0] for each in seeds]])
    found = [_parts(setting, seeds, each, split=False) for each in layers]
    risk = np.stack([np.atleast_1d(one.risk) for one, _ in found])
    values = {"test_error": risk + setting.target.noise**2, "moved": np.array(strength)}
    features = "the features after the steps" if steps else "random features"
    moments = "exact second moments" if isinstance(setting.data, Gaussian) else "second moments on rows of the data"
    several = setting.protocol.readout.passes > 1  # type: ignore[union-attr]
    rest_of = "is otherwise as on Gaussian ones" if several else "has the fourth moments of Gaussian ones"
    notes.append(f"SGD on {features} is predicted from {moments}, and {rest_of}.")
    if found[0][0].risk_se is not None:
        values["test_error_se"] = np.stack([np.atleast_1d(one.risk_se) for one, _ in found])  # type: ignore[arg-type]
        notes.append(f"The prediction is the mean over {len(seeds)} first layers.")
    diverges = "SGD diverges at some rates, where there is no number. Keep them below 1 / E F^2."
    if (rest := max(own for _, own in found)) > DOUBT:
        notes.append(f"Neurons overlap so much that {rest:.1g} of the second moments is left out of their expansion.")
    if isinstance(setting.data, Dataset):
        notes.extend(setting.data.notes)
    if setting.d < NARROW:
        notes.append(f"Expect corrections of some percent at d = {setting.d}, where features are not Gaussian.")
    return Answer(values, notes, () if np.all(np.isfinite(risk)) else (diverges,))


def _parts(
    setting: Setting, seeds: Sequence[int], layers: Sequence[Float[np.ndarray, "p d"]], split: bool = True
) -> tuple[Parts, float]:
    """Compute the parts of the risk for these first layers, and the largest bound on what the moments leave out; without
    ``split`` those that add up to the risk, in half the time."""
    readout, n = setting.protocol.readout, setting.protocol.readout_size
    assert isinstance(readout, SGD)
    noise, rows, rest = setting.target.noise**2, [], 0.0
    for each, W in zip(seeds, layers, strict=True):
        of = population(setting, W) if isinstance(setting.data, Gaussian) else on_rows(setting, W, each)
        e = excess(of, readout, n)
        # labels without noise still have the residual variance of the floor
        bias = e.start + of.floor * e.noise
        floor = np.full_like(bias, of.floor)
        own = [floor + bias, noise * e.noise, floor]
        if readout.passes == 1 and split:
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


def _seeds(setting: Setting) -> Sequence[int]:
    """Seeds of the first layers to average over: more for narrow networks, which differ more and cost less in one pass."""
    readout = setting.protocol.readout
    assert isinstance(readout, SGD)
    if setting.network.weights is not None:
        return [FIRST]
    return range(FIRST, FIRST + int(np.clip(NEURONS // (setting.p * readout.passes), DRAWS, 40)))


def isotropic_variance(x: Float[np.ndarray, "..."] | float) -> Float[np.ndarray, "..."] | float:
    """n/p times V3 / noise^2 of the averaged iterates, at x = rate Var(sigma) n / p: features whose covariance is Var(sigma)/p I.

    Liu et al. (2022) take it for the part of the variance that survives both averages, over data and over weights; for a
    constant rate it is F(x) = 1 - 2 (1 - e^-x)/x + (1 - e^-2x)/(2x), which makes a peak of (p/n) F at p = 0.53 rate Var(sigma) n.
    """
    x = np.asarray(x, float)
    return 1 + 2 * np.expm1(-x) / x - np.expm1(-2 * x) / (2 * x)
