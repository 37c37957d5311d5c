"""What a network fits of every term of its target: risk and shares, at the best penalty."""

import numpy as np
from jaxtyping import Float

import giantstep as gs
from giantstep.checks.cache import one_blas_thread
from giantstep.simulate import train
from giantstep_papers.dandi.regime import Regime
from giantstep_papers.shared import fit

NAMES = {
    "x1": "$x_1$",
    "H2(x2)/sqrt(2)": "$H_2(x_2)$",
    "H2(x1)*x2/sqrt(2)": "$H_2(x_1)x_2$",
    "x1*x2": "$x_1x_2$",
    "H4(x1)*H2(x2)*x3/sqrt(48)": "$H_4(x_1)H_2(x_2)x_3$",
    "H2(x2)*H2(x3)/2": "$H_2(x_2)H_2(x_3)$",
}
PENALTIES = tuple(10.0**k for k in range(-6, 2))


def fitted(regime: tuple, d: int, seed: int, n_test: int) -> Float[np.ndarray, " 1+terms"]:
    """The risk at the best penalty, and the shares of the terms in that fit."""
    this = Regime._make(regime)
    found = at_penalties(this.setting(d), this.terms, seed, n_test, PENALTIES)
    return found[int(np.argmin(found[:, 0]))]


def at_penalties(
    setting: gs.Setting,
    terms: tuple[str, ...],
    seed: int,
    n_test: int,
    penalties: tuple[float, ...],
    constant: int = 1,
) -> Float[np.ndarray, "penalties 1+terms"]:
    """The risk and the shares of the terms in the fit, for every penalty.

    ``constant = 0`` leaves out the feature one.
    """
    W = train(setting, seed, dtype="float32").final.astype(float)
    X, y, Xt, _ = fit.samples(setting, seed, n_test)
    z = np.ascontiguousarray((Xt @ setting.target.orthonormal(setting.d).T).T)
    values = np.stack([np.asarray(gs.target(t)(z[: gs.target(t).rank])) for t in terms])
    sigma = setting.network.activation
    with one_blas_thread(setting.p):
        both = (np.asarray(sigma(x @ W.T)) for x in (X, Xt))
        F, Ft = (np.pad(each, ((0, 0), (0, constant)), constant_values=1.0) for each in both)
        fits = fit.path(F, y, Ft, penalties)
    # coefficients of the fit on the terms, by least squares
    # so the scatter of the terms' own squares drops out
    shares = np.linalg.lstsq(values.T, fits.T, rcond=None)[0].T
    # risk = sum_k (1 - share_k)^2 + E[rest^2], because the terms are orthonormal
    rests = fits - shares @ values
    risks = np.sum((1 - shares) ** 2, axis=1) + np.mean(rests**2, axis=1)
    return np.column_stack([risks, shares])
