"""The conditional Gaussian equivalent: features that are Gaussian given the component and what the giant steps have learned.

    x ~ N(mu, Sigma) in its component,   kappa = Q x,   s_i = w_i Sigma Q^T (Q Sigma Q^T)^-1,   r_i = w_i - s_i Q,   z ~ N(0, 1)
    u_i = s_i (kappa - Q mu) + <w_i, mu>,   tau_i^2 = r_i Sigma r_i^T
    sigma(<w_i, x>)  ->  m_i(u_i) + l_i(u_i) (<w_i, x> - u_i) + nu_i(u_i) Z_i,   Z iid N(0, 1)
    m_i = E sigma(u + tau_i z),   l_i = E sigma'(u + tau_i z),   nu_i^2 = E sigma^2 - m_i^2 - tau_i^2 l_i^2

Q holds the top right singular vectors of W_T - W_0, one a step by default, and the spikes and the mean of the component: u is the
mean of <w_i, x> given them and tau its width. For n, p and d large and of one order, steps with eta s of order one and a readout
on samples of its own. Dandi et al. (arXiv 2305.18270) state it for N(0, I), where s_i = w_i Q^T and r_i is the rest of the row;
Cui et al. (2024) and Dandi et al. (arXiv 2410.18938) rest on it after one step; several steps are taken by the same formulas, as
the claim dandi/conditional tests. Demir and Dogan (arXiv 2503.00856) state it for mixtures. Without directions it is the Gaussian
equivalent with the rows' own lengths.

Rows of different neurons are nearly orthogonal outside Q, and their Z independent. The two neurons of a symmetric pair are not:
their Z have correlation rho^2, with rho the cosine of their r, which is what the quadratic part of sigma gives.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from giantstep._given.plain import whole
from giantstep._machine.arrays import compiled, xp
from giantstep._machine.backend import jax
from giantstep._training.batches import Chunk
from giantstep._training.features import Parts, measured
from giantstep._training.first_layer import Array, FirstLayers, Run, train
from giantstep._training.job import Part
from giantstep.equivalent import _moved_directions as moved_directions
from giantstep.equivalent._law import ComponentLaw, laws
from giantstep.equivalent._moments import WORST, Moments, joined, look_up, tabulate
from giantstep.equivalent._split import SplitRows, basis, split
from giantstep.errors import InputError
from giantstep.experiment.setting import Setting

EXTRA = 8  # more numbers for every feature: u, its cell, m, l, nu, Z, and the work space of the look-up
USELESS = 1e-2  # the status is not ok if the error of the moments' tables is above this


def directions(setting: Setting, wanted: int | None) -> int:
    """The number of directions to condition on: the one given, or one for each step."""
    most = min(setting.p, setting.d - 1)
    if wanted is None:
        return min(len(setting.protocol.steps), most)
    count = whole(wanted, "directions", least=0)
    if count > most:
        raise InputError(f"directions must be at most {most} here (the width p, and one less than d), not {count}")
    if count and not setting.protocol.steps:
        raise InputError(
            f"directions must be 0, not {count}: this protocol has no steps, which would move W along directions"
        )
    return count


@dataclass(frozen=True)
class Conditioned:
    """m(u) + l(u) (h - u) + nu(u) Z with h = H + eta * slope = X W^T and u = kappa s^T; c is the component of every row."""

    def __call__(
        self, H: Array, slope: Array | None, eta: float, member: "Member", kappa: Array, c: Array, Z: Array, own: Array
    ):
        h = H if slope is None else H + eta * slope
        u = kappa @ xp.swapaxes(member.s, 1, 2)
        mean, gain, nu = look_up(member.moments, u, c)
        if member.rho is not None:
            rho = xp.take_along_axis(member.rho, c[:, :, None], axis=1)
            Z = rho * Z + xp.sqrt(1 - rho**2) * own
        return mean + gain * (h - u) + nu * Z


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Member:
    """One first layer in C components: Q (S, C, q, d); s (S, p, C (q + 1)), with the part of u that is not random after that of
    every Q; the moments of its neurons; |cos| of pairs' rows outside Q (S, C, p) or None."""

    Q: Array
    s: Array
    moments: Moments
    rho: Array | None


@dataclass(frozen=True)
class ConditionalFeatures:
    """The equivalent for every first layer; all share Z."""

    run: Run
    layers: FirstLayers
    members: tuple[Member, ...]
    recipe: Conditioned = Conditioned()

    def __len__(self) -> int:
        return len(self.layers)

    def parts(self, chunk: Chunk) -> Parts:
        before, Z = self.layers.preactivations(chunk.X), self.run.batches.noise(chunk)
        own = self.run.batches.noise(chunk, separate=True) if self.run.setting.network.symmetric else None
        c = self.run.batches.components(chunk)
        return lambda e: (*before[e], self.members[e], _coordinates(chunk.X, self.members[e].Q, c), c, Z, own)


@compiled
def _coordinates(X, Q, c):
    """(Q x, 1) in the place of the row's own component and zeros in those of the others, (S, rows, C (q + 1))."""
    S, C, q, d = Q.shape
    kappa = (X @ xp.swapaxes(Q.reshape(S, C * q, d), 1, 2)).reshape(*X.shape[:2], C, q)
    kappa = xp.concatenate([kappa, xp.ones((*kappa.shape[:3], 1), X.dtype)], axis=3)
    return (kappa * (c[..., None] == np.arange(C)).astype(X.dtype)[..., None]).reshape(*c.shape, -1)


def _member(run: Run, Q: list[np.ndarray], splits: list[SplitRows], cells: int) -> tuple[Member, np.ndarray]:
    """Make a first layer from its parts in every component; the second result is the error of its tables (S,)."""
    tables = [tabulate(run.sigma, each.ranges, each.tau, cells, run.batches.put) for each in splits]
    s = np.concatenate([np.concatenate([x.s, x.rest[:, :, None]], axis=2) for x in splits], axis=2)
    rho = np.stack([x.rho for x in splits], axis=1) if run.setting.network.symmetric else None
    given = [None if x is None else run.batches.put(x) for x in (np.stack(Q, axis=1), s, rho)]
    return Member(given[0], given[1], joined([t for t, _ in tables]), given[2]), np.max([e for _, e in tables], axis=0)


def part(run: Run, count: int, spikes: int, n_test: int, spectrum: bool) -> Part:
    """Measure one group of seeds, with the singular values of W_T - W_0 (E, S, m) and the error of the tables (E, S)."""
    trained, parts = train(run), laws(run.setting, spikes)
    layers, spectra = trained.layers, moved_directions.directions(trained, count)
    size = count + max(len(law.given) for law in parts)
    bases = [[basis(law.given, V, size) for law in parts] for _, V in spectra]
    splits = [[split(layers[e], Q, law) for Q, law in zip(each, parts, strict=True)] for e, each in enumerate(bases)]
    cells = max(one.cells for each in splits for x in each for one in x.ranges)  # one shape for all, compiled once
    made = [_member(run, Q, each, cells) for Q, each in zip(bases, splits, strict=True)]
    family = ConditionalFeatures(run, layers, tuple(member for member, _ in made))
    numbers = measured(run, family, layers, n_test, spectrum)
    return {**numbers, "moved": np.stack([v for v, _ in spectra]), "table": np.stack([error for _, error in made])}


def known(parts: list[Part]) -> bool:
    """Whether the moments are accurate enough for the numbers to be trusted."""
    return bool(np.max([part["table"].max() for part in parts]) < USELESS)


def notes(setting: Setting, count: int, spikes: int, parts: list[Part]) -> list[str]:
    """Sentences about the directions, about how far they stand out, and about what the model does not cover."""
    sentences = []
    if count:
        sentences += moved_directions.told(np.concatenate([part["moved"] for part in parts], axis=1), count)
    sentences += _given(laws(setting, spikes))
    readout = setting.protocol.readout
    if readout is not None and readout.batch == "reuse":
        sentences.append(
            "The readout reuses the batch of the last step, on which W depends, and the model assumes new samples."
        )
    worst = float(np.max([part["table"].max() for part in parts]))
    if not worst < WORST:
        sentences.insert(0, f"The step is too large for the grid of the moments, whose relative error is {worst:.1g}.")
    return sentences


def _given(parts: Sequence[ComponentLaw]) -> list[str]:
    """A sentence about the directions of the data that are given, for each component or for all at once."""
    if not any(len(law.given) for law in parts):
        return []
    same = len({law.description for law in parts}) == 1
    each = (
        [parts[0].description] if same else [f"{law.description} in component {c + 1}" for c, law in enumerate(parts)]
    )
    every = ", ".join(each) + " of each" * (same and len(parts) > 1)
    return [f"The model takes the component as given, and {every}."]
