"""Spectra from the fixed point: the law of the bulk, its edge, and the outliers with their directions.

The features' Gram matrix F F^T/n has its bulk where the fixed point at the penalty -z turns complex, with density
Im m(z)/pi, m(z) = -(1/z) sum_k pi_k/(1 + delta_k). Above the edge the fixed point is real; there an outlier of position
x = sqrt(z) is a zero of det(I + Delta S) (see ``errors``): with -S = L L^T an eigenvalue of L^T Delta L, which falls with z,
passes one. Where it does, at a slope -e' and with eigenvector u, the sample-space vector has

    cos^2 with a function h(kappa) of unit square = (sum_k alpha_k h_k E[z|k] . (L u)_k)^2 / (e' z)

The same equations with linear features and endless samples give the spectrum of W itself.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import brentq

from giantstep._backend import jax, jnp, one_blas_thread
from giantstep._record import choice
from giantstep.protocol import GiantStep
from giantstep.setting import Setting
from giantstep.theory.conditional import Problem, problem, second_layer
from giantstep.theory.errors import Signal, channels
from giantstep.theory.fixed_point import Features, alphas, system
from giantstep.theory.parameters import Form, Parameters, check, parameters

POWERS = 4  # of kappa that outliers are compared with
ENDLESS = 1e-9  # p/n of as good as infinitely many samples


@dataclass(frozen=True)
class Outlier:
    """A singular value above the bulk, and cos^2 of its left vector with the constant and with kappa, kappa^2, ... in turn
    (Gram-Schmidt, without the constant); for W, cos^2 of its right vector with v alone."""

    position: float
    alignments: tuple[float, ...]
    constant: float = 0.0


@dataclass(frozen=True)
class Law:
    """The bulk of a matrix's non-zero singular values (density on a grid, integrating to one), its edge, and the outliers."""

    edge: float
    x: np.ndarray
    density: np.ndarray
    outliers: tuple[Outlier, ...]


def spectrum(setting: Setting, of: str = "features") -> Law | tuple[Law, ...]:
    """The law of the singular values of F/sqrt(n) on the readout's samples, or of="weights" of W; one a step size if listed."""
    choice(of, ("features", "weights"), "of")
    check(setting)
    steps = setting.protocol.steps
    if not steps:  # a step of size zero
        zero = GiantStep(setting.protocol.readout_size, 0.0, update="rank1")
        setting = replace(setting, protocol=replace(setting.protocol, steps=(zero,)))
    numbers, form = parameters(setting)
    laws = []
    for eta in np.atleast_1d(numbers.eta):
        with one_blas_thread():
            made = jax.block_until_ready(_problem(numbers._replace(eta=jnp.asarray(eta)), form))
        laws.append(of_features(made) if of == "features" else of_weights(made, form))
    return tuple(laws) if steps and steps[0].listed else laws[0]


@partial(jax.jit, static_argnames="form")
def _problem(numbers: Parameters, form: Form) -> Problem:
    return problem(numbers, form)


def of_features(made: Problem, points: int = 160) -> Law:
    """The singular values of F/sqrt(n)."""
    h = _powers(np.asarray(made.features.pi))
    return _law(made.features, made.signal, h, 1 / float(made.features.p_over_n), points)


def of_weights(made: Problem, form: Form, points: int = 160) -> Law:
    """The singular values of W after the step: linear features of endless samples, with the one pattern U a along v."""
    f, s = made.features, made.signal
    a, _ = second_layer(form.second_layer)
    one = jnp.ones((f.omega.size, 1))
    linear = f._replace(pi=jnp.ones(1), gain=one, noise=0 * one, p_over_n=jnp.asarray(ENDLESS))
    pattern = (made.step.strength * a)[None, :, None]
    # Along v a sample's coordinate meets the direction and the pattern: Xi = [[1, 1], [1, 1]]
    signal = Signal(
        s.weights[:, :1, :1], s.variance, pattern, pattern[:0], jnp.ones((1, 2)), jnp.ones((1, 2, 2)), jnp.ones((1, 2)),
        jnp.ones(1), s.p,
    )  # fmt: skip
    return _law(linear, signal, np.ones((1, 1)), None, points)


def _powers(pi: np.ndarray) -> np.ndarray:
    """The constant, then kappa, kappa^2, ... made orthonormal in that order without it: rows over the nodes."""
    from giantstep._hermite import gauss_hermite

    kappa, _ = gauss_hermite(pi.size)
    columns = np.stack([kappa**k for k in range(1, POWERS + 1)], axis=1) * np.sqrt(pi)[:, None]
    basis, _ = np.linalg.qr(columns)
    return np.concatenate([np.ones((1, pi.size)), (basis / np.sqrt(pi)[:, None]).T])


def _law(f: Features, signal: Signal, h: np.ndarray, samples: float | None, points: int) -> Law:
    with one_blas_thread():
        path = _Path(f)
        edge = float(np.sqrt(path.edge))
        found = tuple(_outliers(path, signal, h, samples is None))
        x = np.linspace(0, edge, points + 1)[1:] - edge / (2 * points)
        density = np.asarray(jax.block_until_ready(_density(f, jnp.asarray(x), samples is None)))
    share = 1.0 if samples is None else 1 / min(1.0, 1 / samples)  # of the n singular values that are not zero
    if samples is None:
        share = max(1.0, float(f.p_over_d))  # p values, of which min(p, d) are not zero
    return Law(edge, x, density * share, found)


@partial(jax.jit, static_argnames="steps")
def _real(f: Features, z, x, steps: int = 12):
    """Newton at the penalty -z above the bulk: the solution, its residual and the sign of the Jacobian's determinant."""
    step = lambda _, x: x + jnp.clip(-jnp.linalg.solve((m := system(f, -z, x, -1))[1], m[0]), -1.0, 1.0)  # noqa: E731
    x = jax.lax.fori_loop(0, steps, step, x)
    residual, matrix = system(f, -z, x, -1)
    return x, jnp.max(jnp.abs(residual)), jnp.linalg.slogdet(matrix)[0]


class _Path:
    """The real solution followed down from a large z to the edge of the bulk, where its Jacobian turns singular."""

    def __init__(self, f: Features) -> None:
        self.f = f
        scale = float(jnp.max(f.noise + (f.modes @ f.variance)[:, None] * f.gain**2))
        top = 50 * scale * float((1 + jnp.sqrt(f.p_over_n)) ** 2 * (1 + jnp.sqrt(f.p_over_d)) ** 2)
        J, K = f.gain.shape
        trace = f.omega @ (f.noise + (f.modes @ f.variance)[:, None] * f.gain**2) / top
        start = jnp.log(jnp.concatenate([jnp.full(J, 1 / top), f.p_over_n * trace]))
        x, residual, _ = _real(f, top, start, 40)
        self.points: list[tuple[float, Any]] = [(top, x)]
        step = 0.25
        while step > 1e-8:
            z = self.points[-1][0] * np.exp(-step)
            x, residual, sign = _real(f, z, self.points[-1][1])
            if bool(residual < 1e-9) and float(sign) > 0:
                self.points.append((z, x))
            else:
                step /= 2
        self.edge = self.points[-1][0]

    def at(self, z: float) -> Any:
        """The solution at z, from the nearest point above it."""
        start = next(x for above, x in reversed(self.points) if above >= z)
        return _real(self.f, z, start)[0]


@jax.jit
def _spikes(f: Features, signal: Signal, x):
    """Eigenvalues of L^T Delta L in falling order, and the vectors alpha_k E[z|k] . (L u)_k, one row an eigenvalue."""
    J = f.omega.size
    q, alpha = -jnp.exp(x[:J]), alphas(f, -jnp.exp(x[J:]))
    S, excess, _, _ = channels(f, signal, q, alpha)
    C, K = S.shape[:2]
    values, vectors = jnp.linalg.eigh(-S.reshape(C * K, C * K))
    L = vectors * jnp.sqrt(jnp.maximum(values, 0.0))
    delta = jnp.einsum("k,kcd,kl->ckdl", alpha, excess, jnp.eye(K)).reshape(C * K, C * K)
    e, u = jnp.linalg.eigh(L.T @ delta @ L)
    reach = jnp.einsum("k,kc,cki->ik", alpha, signal.mean, (L @ u).reshape(C, K, C * K))
    return e[::-1], reach[::-1]


def _outliers(path: _Path, signal: Signal, h: np.ndarray, weights: bool) -> list[Outlier]:
    f, top = path.f, path.points[0][0]
    count = int(np.sum(np.asarray(_spikes(f, signal, path.points[-1][1])[0]) > 1))
    found = []
    for i in range(count):
        excess = lambda z, i=i: float(_spikes(f, signal, path.at(z))[0][i]) - 1  # noqa: E731
        high = top
        while excess(high) > 0:
            high *= 4
            path.points.insert(0, (high, _real(f, high, path.points[0][1] - np.log(4), 40)[0]))
        z = float(brentq(excess, path.edge, high, xtol=1e-10 * path.edge, rtol=1e-12))  # type: ignore[arg-type]
        slope = (
            -(excess(z * (1 + 1e-5)) - excess(z * (1 - 1e-5))) / (2e-5 * z) if z * (1 - 1e-5) > path.edge else np.inf
        )
        reach = np.asarray(_spikes(f, signal, path.at(z))[1][i])
        cosines = (h @ reach) ** 2 / (slope * z)
        found.append(
            Outlier(
                float(np.sqrt(z)),
                tuple((cosines if weights else cosines[1:]).tolist()),
                0.0 if weights else float(cosines[0]),
            )
        )
    return found


@partial(jax.jit, static_argnames="rows")
def _density(f: Features, x, rows: bool):
    """Density of the singular values at x: the fixed point followed from a large imaginary part down to none."""
    J, K = f.gain.shape
    heights = jnp.concatenate([jnp.geomspace(30.0, 1e-6, 40), jnp.zeros(2)])
    top = x[-1] ** 2

    def solve(value):
        def lower(state, height):
            z = value**2 + 1j * top * height

            def newton(_, state):
                residual, matrix = system(f, -z, state)
                return state - jnp.linalg.solve(matrix, residual)

            return jax.lax.fori_loop(0, 3, newton, state), None

        z = value**2 + 1j * top * heights[0]
        trace = f.omega @ (f.noise + (f.modes @ f.variance)[:, None] * f.gain**2)
        start = jnp.log(jnp.concatenate([jnp.full(J, -1 / z), -f.p_over_n * trace / z]))
        state, _ = jax.lax.scan(lower, start, heights)
        m = f.omega @ jnp.exp(state[:J]) if rows else -(f.pi @ (1 / (1 + jnp.exp(state[J:])))) / value**2
        return 2 * value * jnp.imag(m) / jnp.pi

    return jax.lax.map(solve, x, batch_size=16)
