"""second_step(setting, seed): the spectrum of the first layer after two giant steps at linear width, predicted without W0.

W after the steps is in law a null matrix plus a matrix of low rank, S (see ``null`` and ``signal``). S comes from the seed's own
second layer and batches, the null matrix is drawn with numbers of its own, and the singular values and vectors of the sum are the
prediction, those above the bulk edge the outliers. In the limit n ~ d ~ p to infinity of step sizes p^(alpha_1), p^(alpha_2), in
the units where eta = O(1) makes the first outlier, their number is 1 + floor(alpha_2 / (1/2 - alpha_1)) (Moniri and Hassani 2026,
arXiv 2605.17767), if mu_(k+1) = E sigma^(k+1) is not zero and a, a^2, ... are linearly independent.
"""

from dataclasses import dataclass, replace
from math import floor
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep import measure
from giantstep._given.declared import a, at_least, given, number
from giantstep._machine import memory as _memory
from giantstep._machine.backend import one_blas_thread
from giantstep.errors import InputError
from giantstep.experiment.data.gaussian import Gaussian
from giantstep.experiment.protocol import GiantStep, Power
from giantstep.experiment.setting import Setting
from giantstep.measure import LayerSpectrum
from giantstep.results.table import aligned
from giantstep.theory._coverage import is_narrow
from giantstep.theory._refusal import (
    Refusal,
    only_gaussian,
    own_weights,
    refuse,
    with_dimension,
    with_network,
    with_steps,
)
from giantstep.theory.two_steps._null_matrix import null, shuffles
from giantstep.theory.two_steps.signal import NODES, POINTS, SignalMatrix, draws, second_slopes, signal

LIMITED = 5  # spikes of the limit that notes look at


@dataclass(frozen=True, eq=False)
class SecondStep:
    """What the first layer is predicted to look like.

    Attributes:
        setting: the experiment.
        seed: of its second layer and batches.
        eta: the two step sizes.
        signal: S: its ``strengths`` theta_k, and left and right directions.
        layer: the predicted spectrum of W, read off as a measured one is by ``measure.layer``: edge, outliers with their left and
            right directions, and ``alignment``, cos^2 of every outlier with the target's orthonormal directions.
        own: how many of the outliers the null matrix has without any signal.
        limit: 1 + floor(alpha_2 / (1/2 - alpha_1)), None where the step sizes are no powers or alpha_1 is not below 1/2.
        notes: sentences.
    """

    setting: Setting
    seed: int
    eta: tuple[float, float]
    signal: SignalMatrix
    layer: LayerSpectrum
    own: int
    limit: int | None
    notes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Number of outliers."""
        return self.layer.count

    @property
    def positions(self) -> Float[np.ndarray, " k"]:
        """Singular values of the outliers."""
        return self.layer.positions

    def moved(self, count: int) -> Float[np.ndarray, "d count"]:
        """S^T p_k, (d, count), for p_k = a, a^2, ... made orthonormal: beside ``measure.moved`` of a simulation."""
        from giantstep.experiment import draw

        return self.signal.moved(measure.gram_schmidt_powers(draw.second_layer(self.setting, self.seed), count))

    def to_dict(self) -> dict[str, Any]:
        return {
            "eta": list(self.eta),
            "strengths": self.signal.strengths.tolist(),
            "edge": self.layer.edge,
            "count": self.count,
            "positions": self.positions.tolist(),
            "alignment": self.layer.alignment.tolist(),
            "own": self.own,
            "limit": self.limit,
            "singular_values": self.layer.values.tolist(),
            "seed": self.seed,
            "notes": list(self.notes),
            "setting": self.setting.to_plain(),
        }

    def __str__(self) -> str:
        s = self.setting
        names = [f"cos² x{k + 1}" for k in range(s.target.rank)]
        rows = [
            [str(k + 1), f"{self.signal.strengths[k]:.4g}" if k < len(self.signal.strengths) else "", f"{value:.4g}"]
            + [f"{c:.3f}" for c in cosines]
            for k, (value, cosines) in enumerate(zip(self.positions, self.layer.alignment, strict=True))
        ]
        limit = "" if self.limit is None else f"; {self.limit} in the limit"
        return "\n".join(
            [
                f"theory of the second step: {s.target.name}, {s.network.activation.name}, d = {s.d}, p = {s.p}, "
                f"n = {', '.join(map(str, dict.fromkeys(s.protocol.sizes())))}, eta = {self.eta[0]:.4g}, {self.eta[1]:.4g}, "
                f"seed {self.seed}",
                f"singular values of W: bulk edge {self.layer.edge:.4g}, {self.count} above it{limit}",
                *aligned(["outlier", "strength", "position", *names], rows),
                *self.notes,
            ]
        )


@given(setting=a(Setting), seed=at_least(0), memory=number(1e-3))
def second_step(setting: Setting, seed: int = 0, *, memory: float | None = None) -> SecondStep | tuple[SecondStep, ...]:
    """Predict the first layer after two giant steps, for the second layer and the batches that ``simulate`` has for this seed.

    Args:
        setting: two steps on isotropic Gaussian data, at a width of the order of d; its readout is left out.
        seed: a whole number.
        memory: GiB to stay within.

    Returns:
        One prediction, or a tuple where the step sizes are lists; the dear part is shared where the first of them is the same.

    Examples:
        >>> s = gs.presets.moniri_hassani(N=300, d=100, n=200, alpha1=0.4, alpha2=0.4)
        >>> found = gs.theory.second_step(s, seed=3)
        >>> bool(found.count >= 1), bool(found.positions[0] > found.layer.edge)
        (True, True)
    """
    check(setting)
    _check_memory(setting, memory)
    etas = setting.protocol.etas(setting.d, setting.p)
    with one_blas_thread(setting.d):
        predictions = _predicted(setting, seed, [(float(x), float(y)) for x, y in np.atleast_2d(etas)])
    return predictions[0] if etas.ndim == 1 else tuple(predictions)


def _predicted(setting: Setting, seed: int, pairs: list[tuple[float, float]]) -> list[SecondStep]:
    given, basis = draws(setting, seed), setting.target.orthonormal(setting.d)
    sphere, shared, result = setting.network.rows == "sphere", {}, []
    for e, etas in enumerate(pairs):
        if etas[0] not in shared:
            shared[etas[0]] = (slopes := second_slopes(given, etas[0])), shuffles(given, slopes)
        slopes, mixing = shared[etas[0]]
        S, Y = signal(given, slopes, etas), null(given, slopes, mixing, etas, seed, sphere)
        layer = measure.layer(Y + S.matrix(), basis)
        own = int(np.sum(measure.spectrum(Y).values > layer.threshold))
        result.append(SecondStep(setting, seed, etas, S, layer, own, limit(setting, e), notes(setting, own)))
    return result


def exponents(setting: Setting) -> Float[np.ndarray, "pairs 2"] | None:
    """alpha_1 and alpha_2 with eta s sqrt(p) ~ p^alpha, (pairs, 2); None where a step size is no power."""
    steps = setting.protocol.steps
    if not all(isinstance(step.eta, Power) for step in steps):
        return None
    offset = {"1/sqrt(p)": 0.0, "1/p": -0.5, "1": 0.5}[
        setting.network.scale
    ]  # of s sqrt(p); n, d and p are of one order
    return np.stack(np.broadcast_arrays(*[np.atleast_1d(step.eta.alpha) for step in steps]), axis=-1) + offset  # type: ignore[union-attr]


def limit(setting: Setting, e: int = 0) -> int | None:
    """The number of outliers as n ~ d ~ p grow, at the e-th step sizes: 1 + floor(alpha_2 / (1/2 - alpha_1))."""
    alphas = exponents(setting)
    if alphas is None or alphas[e, 0] >= 0.5 or alphas[e].min() < 0:
        return None
    return 1 + floor(alphas[e, 1] / (0.5 - alphas[e, 0]) + 1e-9)


def notes(setting: Setting, own: int) -> tuple[str, ...]:
    """What the limit's count leaves out, and what this prediction does."""
    network, sentences = setting.network, []
    vanishing = [k for k, c in enumerate(network.activation.hermite(LIMITED)) if k and abs(c) < 1e-9]
    if vanishing:
        sentences.append(
            f"E sigma^(k) = 0 for k = {', '.join(map(str, vanishing))}: spike k of the limit's count is missing"
        )
    if network.second_layer != "gaussian":
        most = {
            "rademacher": "a^3 = a: the second step adds two spikes at most",
            "constant": "a^2 = a: there is one spike",
        }
        sentences.append(most[network.second_layer])
    if own:
        sentences.append(
            f"{own} of the outliers are there without signal: the steps shuffle the initial weights that much"
        )
    if setting.protocol.steps[0].residual == "full" or setting.protocol.steps[1].residual == "full":
        sentences.append("the network's output enters by its mean over the initial weights, up to a relative 1/sqrt(p)")
    if setting.protocol.readout is not None:
        sentences.append("gs.theory(setting) has the errors of the readout")
    return tuple(sentences)


def covers(setting: Setting) -> bool:
    """Whether this is the theory to ask: two steps on Gaussian data, at a width of the order of d."""
    return isinstance(setting.data, Gaussian) and len(setting.protocol.steps) == 2 and not is_narrow(setting)


def _two(setting: Setting) -> Setting:
    """The same with two steps."""
    old = setting.protocol.steps
    more = replace(old[0], update="gradient") if old else GiantStep(2 * setting.d, 1.0)
    steps = (*old, more, more)[:2]
    return replace(setting, protocol=replace(setting.protocol, steps=steps))


REFUSALS = (
    only_gaussian("second_step"),
    Refusal(
        "second_step predicts the first layer after two steps, and this protocol has {steps}",
        lambda s: len(s.protocol.steps) != 2, _two, "two steps",
    ),
    own_weights("second_step"),
    Refusal(
        "second_step covers independent neurons, and symmetric=True has them in pairs", lambda s: s.network.symmetric,
        with_network(symmetric=False), "symmetric=False",
    ),
    Refusal(
        "second_step covers update='gradient' and deflate = 0 only",
        lambda s: any(step.update != "gradient" or step.deflate for step in s.protocol.steps),
        with_steps(update="gradient", deflate=0), "update='gradient' and deflate=0 in every step",
    ),
    Refusal(
        "second_step covers residual='full' with scale='1/p' only, where the initial output is small",
        lambda s: s.network.scale != "1/p" and any(step.residual == "full" for step in s.protocol.steps),
        with_steps(residual="target"), "residual='target'",
    ),
    Refusal(
        f"second_step needs at least {measure.FEWEST} singular values to know an edge",
        lambda s: min(s.d, s.p) < measure.FEWEST,
        lambda s: with_dimension(with_network(width=max(s.p, measure.FEWEST))(s), max(s.d, measure.FEWEST)),
        f"d and p of at least {measure.FEWEST}",
    ),
)  # fmt: skip


def check(setting: Any) -> None:
    """Refuse, in one sentence, what is not covered."""
    if not isinstance(setting, Setting):
        raise InputError(f"second_step takes a Setting, not {type(setting).__name__}")
    refuse(setting, REFUSALS, "second_step")


def _check_memory(setting: Setting, memory: float | None) -> None:
    """Both batches and their products, the averages over z, a few p x d and d x d matrices."""
    n, d, p = max(setting.protocol.sizes()), setting.d, setting.p
    reused = setting.protocol.steps[1].batch == "reuse"
    needed = 8.0 * (4 * n * d + n * (5 * NODES + 6 * POINTS * reused) + 6 * p * d + (NODES + 3) * d * d)
    allowed = _memory.budget(memory)
    if needed > allowed:
        raise _memory.refuse(needed, allowed, "fewer samples or a smaller d")
