"""Spectra after giant steps: those of one are of ``one_step.spectrum``, those of several come from the law of the rows.

The features are those of ``readout``. The weights are linear features of endless samples: given the learned coordinates kappa,

    <w_i, x> = sum_m u_m(a_i) kappa_m + <g_i, x>

with one pattern u_m for every learned direction and the law of g along the learned directions and the target's.
"""

import numpy as np
from jaxtyping import Float

from giantstep._given.declared import a, given, one_of
from giantstep._given.plain import flag
from giantstep._machine.backend import on_host
from giantstep.experiment.setting import Setting
from giantstep.theory._coverage import check_spectrum
from giantstep.theory.one_step._continuation import Bulk
from giantstep.theory.one_step._fixed_point import Features, spanning
from giantstep.theory.one_step.errors import Signal
from giantstep.theory.one_step.spectrum import ENDLESS, Law, Outlier, law, laws, outliers, powers
from giantstep.theory.steps._course import Course, course
from giantstep.theory.steps._predict import followed
from giantstep.theory.steps._readout import SMALL, problem, tables
from giantstep.theory.steps._residual import coordinates
from giantstep.theory.steps._rows import MovedRows

CELLS = 64  # of the density's grid: a point takes as long as there are groups of samples


@given(setting=a(Setting), of=one_of("features", "weights"), density=flag)
def spectrum(setting: Setting, of: str = "features", *, density: bool = True) -> Law | tuple[Law, ...]:
    """The law of the singular values of F/sqrt(n) on the readout's samples, or of="weights" of W; one a step size if listed.

    After several steps ``alignments`` are with powers of the first learned coordinate, and for W with the target's directions.
    ``density=False`` leaves the density out (empty arrays): the edge and the outliers alone are found sooner.

    Examples:
        >>> s = gs.presets.moniri(n=400, d=200, N=300, alpha=[0.0, 0.4], penalty=0.1)
        >>> before, after = gs.theory.spectrum(s, density=False)
        >>> len(before.outliers), len(after.outliers)
        (0, 2)
        >>> bool(after.outliers[0].position > after.edge)
        True
    """
    check_spectrum(setting)
    steps = setting.protocol.steps
    found = _several(setting, of, density) if len(steps) > 1 else laws(setting, of, density=density)
    return tuple(found) if any(step.listed for step in steps) else found[0]


def _several(setting: Setting, of: str, density: bool) -> list[Law]:
    with on_host():
        every = np.atleast_2d(setting.protocol.etas(setting.d, setting.p))
        made = _of_features if of == "features" else _of_weights
        own = course(setting)
        return [made(own, followed(own, etas)[-1], density) for etas in every]


def _of_features(own: Course, rows: MovedRows, density: bool) -> Law:
    (f, signal), n, p = problem(own, rows), own.n, own.p
    bulk = Bulk(f._replace(basis=None), n, p)
    full = bulk.full
    based = full._replace(
        basis=spanning(rows.omega, np.asarray(full.pi), [np.asarray(full.gain), *signal.tables], SMALL)
    )
    kappa = coordinates(rows, p).kappa[0]
    found = outliers(bulk, based, signal, powers(kappa, np.asarray(full.pi)))
    rank = min(n, p) if np.max(full.noise) > 1e-12 else min(n, p, own.d)
    return law(bulk, found, rank, density, share=n / rank, rows=False, cells=CELLS)


def _of_weights(own: Course, rows: MovedRows, density: bool) -> Law:
    """One group of endless samples; channels are the learned directions, the target's beyond them, and the patterns."""
    at, made, (weights, variance) = coordinates(rows, own.p), tables(own, rows), rows.modes
    d, p, J, m = own.d, own.p, rows.a.size, len(made.u)
    one = np.ones((J, 1))
    f = Features(rows.omega, np.ones(1), weights, one, 0 * one, variance[:, :J], p / d, ENDLESS)
    X = made.along.shape[-1]
    on = np.concatenate([np.eye(X), np.eye(m, X)])  # coordinates of every channel over (f, e)
    patterns = made.u[:, :, None]
    bulk = Bulk(f, 1 / ENDLESS, p)
    stars: Float[np.ndarray, "r X"] = np.concatenate([at.C, at.L], axis=1)  # the target's directions over (f, e)
    aligned = []
    for star in stars:
        mean = (on @ star)[None]
        signal = Signal(
            made.along, made.spread[:, :J], patterns, patterns[:0], mean, (on @ on.T)[None], mean, np.ones(1), p
        )
        aligned.append(outliers(bulk, bulk.full, signal, np.ones((1, 1))))
    found = [Outlier(same[0].position, tuple(o.constant for o in same)) for same in zip(*aligned, strict=True)]
    return law(bulk, found, min(p, d), density, share=p / min(p, d), rows=True)
