"""How one giant step reshapes the function space: the kernel's eigenmodes before and after it, from the law of the rows alone.

The step moves neuron i by s a_i along u = beta/||beta|| and spreads the rest of its row (Lobo, Loureiro, Tran-Thanh and Liu 2026,
arXiv 2605.17718, state the spiked law; rho and the formulas are ours). With eta~ = eta times the scale of the network:

    w_i | a_i ~ N(s a_i u, b_i^2 I/d),   s = eta~ c_1 ||beta||,   b_i^2 = (1 + 2 eta~ c_2 E[r] a_i)^2 + rho a_i^2
    rho = eta~^2 (d/n) E[r^2] Var sigma'(z),   ||beta||^2 = ||E r x||^2 + (d/n) E r^2

So the rows' covariance is [(1 + rho) I + d s^2 u u^T]/d where E r = 0. Of d W^T W/p, with g = d/p, b = 1 + rho, l = b + d s^2:

    edge = b (1 + sqrt(g))^2,   top = l (1 + g q),   overlap with u = (1 - g q^2)/(1 + g q),   q = b/(l - b) < 1/sqrt(g)   (BBP)

The kernel is the average of sigma(⟨w, x⟩) sigma(⟨w, x'⟩) over that law, in the basis of ``eigenmodes``, at the setting's own d;
p enters the covariance alone. With rho=False the rows are not spread: b_i = 1.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from giantstep._given.arrays import FINITE, ArrayCheck
from giantstep._given.callable import callable_module
from giantstep._given.declared import a, given, number
from giantstep._given.plain import flag, real
from giantstep._machine.backend import on_host
from giantstep.errors import InputError
from giantstep.experiment.protocol import Ridge
from giantstep.experiment.setting import Setting
from giantstep.functions.hermite import gauss_hermite, offset_trapezoid
from giantstep.measure.kernel_modes import COUNT, KernelModes, galerkin
from giantstep.theory._coverage import check
from giantstep.theory.one_step._direction import push
from giantstep.theory.one_step.parameters import activation_of, label_of, parameters

LARGEST = 1e50  # length of a gradient, of which powers are taken
SECOND_NODES, GIVEN_NODES = 240, 48  # of a Gaussian second layer, and of one that is given
OWN_NODES, LENGTH_NODES = 3, 2  # of a row's own part along u, and of its length: exact to the order 1/d^2 and 1/d


@dataclass(frozen=True)
class Reshaped:
    """The function space before and after the step.

    Attributes:
        before: eigenmodes of the kernel before the step.
        after: those after it.
        strength: s, how far a neuron with a = 1 moves along u.
        cosine: of u with the target's direction, or with the span of its directions if it has several.
        spread: 1 + rho, d times the mean variance of a row across u.
        top: the largest eigenvalue of d W^T W/p. Below the threshold l/b = 1 + sqrt(d/p) it is the edge.
        overlap: cos^2 of its eigenvector with u; 0 below the threshold.
        edge: the end of the bulk of d W^T W/p.
    """

    before: KernelModes
    after: KernelModes
    strength: float
    cosine: float
    spread: float
    top: float
    overlap: float
    edge: float

    @property
    def amplification(self) -> float:
        """The eigenvalue of the mode aligned with u, after over before."""
        return float(self.after.values[self.after.aligned] / self.before.values[self.before.aligned])

    @property
    def mixing(self) -> float:
        """Angle, in degrees, by which the top radial mode has turned towards h_2(⟨u, x⟩)."""
        return self.after.mixing


@dataclass(frozen=True)
class RowLaw:
    """The law of the rows at one step size: nodes of a with their weights, s, what u leans on W before, the widths b, and the
    cosines of u with the target's orthonormal directions."""

    a: Float[np.ndarray, " J"]
    weights: Float[np.ndarray, " J"]
    strength: float
    lean: float
    width: Float[np.ndarray, " J"]
    cosines: Float[np.ndarray, " r"]

    @property
    def cosine(self) -> float:
        """Of u with the target's span; with a sign for one direction."""
        return float(self.cosines[0] if self.cosines.size == 1 else np.linalg.norm(self.cosines))


class WeightSpectrum(NamedTuple):
    """1 + rho, and of d W^T W/p the largest eigenvalue, cos^2 of its vector with u, and the edge."""

    spread: float
    top: float
    overlap: float
    edge: float


@given(setting=a(Setting), rho=flag, second_layer=ArrayCheck(("p",), entries=FINITE), beta=number(1 / LARGEST, LARGEST))
def kernel(
    setting: Setting, rho: bool = True, *, second_layer: npt.ArrayLike | None = None, beta: float | None = None
) -> Reshaped | tuple[Reshaped, ...]:
    """Predict the kernel's eigenmodes before and after one giant step, and the spectrum of W; one a step size if listed.

    Args:
        setting: Gaussian data, one step; a readout plays no part. Of a target of several directions the step follows one, u.
        rho: keep the spread of the rows by the gradient's noise, of order (d/n) eta~^2.
        second_layer: a network's own a in the place of its law: fluctuations of order 1/sqrt(p) are then predicted too.
        beta: the length of a batch's own X^T r/n in the place of its limit: those of order 1/sqrt(n) are then predicted too.

    Examples:
        >>> s = gs.presets.moniri(n=400, d=200, N=300, alpha=0.3, penalty=0.1)
        >>> found = gs.theory.kernel(s)
        >>> bool(found.after.values[0] > 5 * found.before.values[0])  # the aligned mode is amplified
        True
    """
    laws = rows(setting, rho, second_layer, beta)
    if not all(np.all(np.isfinite(law.width)) and np.isfinite(law.strength**2) for law in laws):
        raise InputError("the step is so long that its numbers are not finite: give a smaller eta or beta")
    before = _modes(setting, replace(laws[0], strength=0.0, width=np.ones_like(laws[0].width)))
    reshaped = tuple(
        Reshaped(before, _modes(setting, law), law.strength, law.cosine, *layer(setting, law)) for law in laws
    )
    return reshaped if setting.protocol.steps[0].listed else reshaped[0]


def rows(
    setting: Setting, rho: bool = True, second_layer: npt.ArrayLike | None = None, beta: float | None = None
) -> list[RowLaw]:
    """The law of the rows, one a step size."""
    keep, own = flag(rho, "rho"), None if beta is None else real(beta, "beta", least=0.0)
    if not isinstance(setting, Setting) or len(setting.protocol.steps) != 1:
        raise InputError("theory.kernel takes a Setting with one giant step")
    read = replace(setting, protocol=replace(setting.protocol, readout=Ridge(1, 1.0)))  # theory asks for one
    check(read)
    numbers, form = parameters(read)
    a, weights = _second_layer(setting, second_layer)
    with on_host():
        sigma, star = activation_of(numbers, form), label_of(numbers, form)
        c1, c2, slope = float(sigma.coefficients[1]), float(sigma.coefficients[2]), float(sigma.slope_square)
        if abs(c1) < 1e-12:
            raise InputError(
                "theory.kernel needs an activation with c_1 = E sigma'(z) not zero: the step has no direction"
            )
        laws = []
        for eta in np.atleast_1d(numbers.eta):
            step, limit, cosine, r = push(numbers._replace(eta=eta), form, sigma, star)
            step, length, square = float(step), float(limit) if own is None else own, float(r.square)
            mean = float(star.mean - r.shift)  # E r
            noise = step**2 * square / float(numbers.n1_over_d) * max(slope - c1**2, 0.0)
            spread = keep and not form.rank_one
            width = np.sqrt((1 + 2 * step * c2 * mean * a) ** 2 + noise * a**2) if spread else np.ones_like(a)
            # with f_0 in the residual beta leans on -c_1 s sum_i a_i w_i: <u, w_i> = -c_1 s a_i/||beta|| before the step
            lean = setting.network.factor * c1 / length if form.full else 0.0
            laws.append(RowLaw(a, weights, step * c1 * length, lean, width, np.asarray(cosine)))
    return laws


def _second_layer(
    setting: Setting, own: npt.ArrayLike | None
) -> tuple[Float[np.ndarray, " J"], Float[np.ndarray, " J"]]:
    if own is not None:
        return _gauss(np.asarray(own))
    law = setting.network.second_layer
    if law == "gaussian":
        return offset_trapezoid(SECOND_NODES)
    return (np.array([-1.0, 1.0]), np.full(2, 0.5)) if law == "rademacher" else (np.ones(1), np.ones(1))


def _gauss(a: Float[np.ndarray, " p"]) -> tuple[Float[np.ndarray, " J"], Float[np.ndarray, " J"]]:
    """Gauss quadrature of the mean over given numbers, by Lanczos' recursion: all their moments below twice its nodes."""
    different, counts = np.unique(a, return_counts=True)
    if different.size <= GIVEN_NODES:
        return different, counts / a.size
    Q = np.zeros((GIVEN_NODES, a.size))
    Q[0] = a.size**-0.5
    for k in range(1, GIVEN_NODES):
        rest = a * Q[k - 1]
        for _ in range(2):  # orthogonal to rounding
            rest = rest - Q[:k].T @ (Q[:k] @ rest)
        Q[k] = rest / np.linalg.norm(rest)
    nodes, vectors = np.linalg.eigh((Q * a) @ Q.T)
    return nodes, vectors[0] ** 2


def layer(setting: Setting, law: RowLaw) -> WeightSpectrum:
    """The spectrum of d W^T W/p for that law of the rows."""
    g, b = setting.d / setting.p, float(law.weights @ law.width**2)
    signal = setting.d * (law.strength - law.lean) ** 2 * float(law.weights @ law.a**2)  # l - b
    q = b / signal if signal > 0 else np.inf
    edge = b * (1 + g**0.5) ** 2
    if q >= g**-0.5:
        return WeightSpectrum(b, edge, 0.0, edge)
    return WeightSpectrum(b, (b + signal) * (1 + g * q), (1 - g * q**2) / (1 + g * q), edge)


def _modes(setting: Setting, law: RowLaw) -> KernelModes:
    """The average over a row's own part along u, N(0, b^2/d), and over its length: b^2 chi^2_{d-1}/d, or on the sphere 1 less
    the part along u, and what the step adds."""
    d, (z, w) = setting.d, gauss_hermite(OWN_NODES)
    y, v = gauss_hermite(LENGTH_NODES) if setting.network.rows == "gaussian" else (np.zeros(1), np.ones(1))
    a, z, y = np.meshgrid(law.a, z, y, indexing="ij")
    weights = law.weights[:, None, None] * w[:, None] * v
    width = law.width[:, None, None]
    along = (law.strength - law.lean) * a + width * z / d**0.5
    if setting.network.rows == "gaussian":
        square = width**2 * (d - 1) / d * (1 + (2 / max(d - 1, 1)) ** 0.5 * y)
    else:
        square = 1 - z**2 / d + (width**2 - 1) * (d - 1) / d
    across = np.sqrt(np.maximum(square, 0.0))
    return galerkin(setting.network.activation, along.ravel(), across.ravel(), weights.ravel(), d, count=COUNT)


callable_module(__name__, kernel)
