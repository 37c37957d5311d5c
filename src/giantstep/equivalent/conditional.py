"""The conditional Gaussian equivalent: features that are Gaussian given what the giant steps have learned.

    kappa = V x,   w_i = s_i V + w_i_perp,   tau_i = ||w_i_perp||,   z ~ N(0, 1)
    sigma(<w_i, x>)  ->  m_i(kappa) + l_i(kappa) <w_i_perp, x> + nu_i(kappa) Z_i,   Z iid N(0, 1)
    m_i = E sigma(s_i kappa + tau_i z),   l_i = E sigma'(s_i kappa + tau_i z),   nu_i^2 = E sigma^2 - m_i^2 - tau_i^2 l_i^2

V holds the top right singular vectors of W_T - W_0, one a step by default. For n, p and d large and of one order, steps with
eta s of order one and a readout on samples of its own. Dandi et al. (arXiv 2305.18270) state it; Cui et al. (2024) and Dandi et
al. (arXiv 2410.18938) rest on it after one step; several steps are taken by the same formulas, as the claim dandi/conditional
tests. Without directions it is the Gaussian equivalent with the rows' own lengths.

Rows of different neurons are nearly orthogonal outside V, and their Z independent. The two neurons of a symmetric pair are not:
their Z have correlation rho^2, with rho the cosine of their w_perp, which is what the quadratic part of sigma gives.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from giantstep import measure
from giantstep._assemble import Part
from giantstep._backend import jax, jnp, one_blas_thread
from giantstep._errors import InputError
from giantstep._features import Parts, measured
from giantstep._record import whole
from giantstep._train import Array, Chunk, FirstLayers, Run, Trained, train
from giantstep.equivalent.gaussian import noise
from giantstep.equivalent.moments import WORST, Moments, Range, look_up, tabulate
from giantstep.setting import Setting

BESIDE = 8  # numbers beside a feature: u, its cell, m, l, nu, Z, and what the look-up holds
USELESS = 1e-2  # error of the moments' tables from which the status is not ok
STILL = 1e-6  # share of the rows' length below which a singular value of W_T - W_0 is no direction


def directions(setting: Setting, wanted: int | None) -> int:
    """How many directions to condition on: the number given, or one a step."""
    most = min(setting.p, setting.d - 1)
    if wanted is None:
        return min(len(setting.protocol.steps), most)
    count = whole(wanted, "directions", least=0)
    if count > most:
        raise InputError(f"directions must be at most {most} here (the width p, and one less than d), not {count}")
    if count and not setting.protocol.steps:
        raise InputError(f"directions are those along which steps move W, and this protocol has no step, not {count}")
    return count


@dataclass(frozen=True)
class Conditioned:
    """m(u) + l(u) (h - u) + nu(u) Z with h = H + eta * slope = X W^T and u = kappa s^T."""

    def __call__(self, H: Array, slope: Array | None, eta: float, member: "Member", kappa: Array, Z: Array, own: Array):
        h = H if slope is None else H + eta * slope
        u = jnp.einsum("snk,spk->snp", kappa, member.s)
        mean, gain, nu = look_up(member.moments, u)
        if member.rho is not None:
            rho = member.rho[:, None, :]
            Z = rho * Z + jnp.sqrt(1 - rho**2) * own
        return mean + gain * (h - u) + nu * Z


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Member:
    """One first layer: V (S, k, d), s (S, p, k), the moments of its neurons, |cos| of pairs' rows outside V (S, p) or None."""

    V: Array
    s: Array
    moments: Moments
    rho: Array | None


@dataclass(frozen=True)
class ConditionalFeatures:
    """The equivalent for every first layer; all share Z."""

    run: Run
    layers: FirstLayers
    members: tuple[Member, ...]

    @property
    def recipe(self) -> Conditioned:
        return Conditioned()

    def __len__(self) -> int:
        return len(self.layers)

    def parts(self, chunk: Chunk) -> Parts:
        before, Z = self.layers.preactivations(chunk.X), noise(self.run, chunk)
        own = noise(self.run, chunk, apart=True) if self.run.setting.network.symmetric else None
        return lambda e: (*before[e], self.members[e], _coordinates(chunk.X, self.members[e].V), Z, own)


@jax.jit
def _coordinates(X, V):
    return jnp.einsum("snd,skd->snk", X, V)


@partial(jax.jit, static_argnames="k")
def _moved(D, *, k):
    """Singular values of D (p, d) in decreasing order and its top k right vectors (k, d), through the smaller Gram matrix."""
    D = D.astype(jnp.float64)
    wide = D.shape[0] < D.shape[1]
    squares, vectors = jnp.linalg.eigh(D @ D.T if wide else D.T @ D)
    values, top = jnp.sqrt(jnp.maximum(squares[::-1], 0.0)), vectors[:, ::-1][:, :k]
    right = (D.T @ top) / jnp.maximum(values[:k], jnp.finfo(float).tiny) if wide else top
    return values, right.T


def _spectra(trained: Trained, k: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Singular values (S, m) of W_T - W_0 and directions (S, k, d) of every first layer."""
    layers, W0 = trained.layers, trained.W0
    one_step = layers.slope is not None and layers.members[0] is W0  # all step sizes move along one slope
    moves = [layers.slope] if one_step else [layers[e] - W0 for e in range(len(layers))]
    found = []
    with one_blas_thread(min(W0.shape[1:])):
        for move in moves:
            each = [[np.asarray(x) for x in _moved(D, k=k)] for D in move]  # type: ignore[union-attr]
            found.append((np.stack([v for v, _ in each]), np.stack([V for _, V in each])))
    if one_step:
        found = [(abs(eta) * found[0][0], found[0][1]) for eta in layers.etas]
    return found


def _split(W: Array, V: np.ndarray, pairs: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """s (S, p, k), tau (S, p) and, for pairs, |cos| of the two rows outside V; weights that overflow stay in X W^T alone."""
    s, tau, rho = (np.asarray(x) for x in _outside(W, V))
    good = np.isfinite(tau) & np.all(np.isfinite(s), axis=2)
    rho = np.minimum(np.abs(np.where(good, rho, 0.0)), 1.0) if pairs else None
    return np.where(good[:, :, None], s, 0.0), np.where(good, tau, 1.0), rho


@jax.jit
def _outside(W, V):
    W = W.astype(jnp.float64)
    s = jnp.einsum("spd,skd->spk", W, V)
    outside = W - jnp.einsum("spk,skd->spd", s, V)
    tau = jnp.linalg.norm(outside, axis=2)
    return s, tau, jnp.sum(outside * outside[:, ::-1], axis=2) / jnp.maximum(tau * tau[:, ::-1], 1e-300)


def part(run: Run, count: int, n_test: int, spectrum: bool) -> Part:
    """One group of seeds, with the singular values of W_T - W_0 (E, S, m) and the error of the tables (E, S)."""
    trained = train(run)
    layers, spectra = trained.layers, _spectra(trained, count)
    length = np.asarray(jnp.linalg.norm(trained.W0, axis=(1, 2)))[:, None]
    seen = [np.where((v[:, :count] > STILL * length)[:, :, None], V, 0.0) for v, V in spectra]
    splits = [_split(layers[e], V, run.setting.network.symmetric) for e, V in enumerate(seen)]
    ranges = [[Range.of(*of) for of in zip(np.linalg.norm(s, axis=2), tau, strict=True)] for s, tau, _ in splits]
    cells = max(one.cells for each in ranges for one in each)  # one shape for all, compiled once
    members, errors = [], []
    for V, (s, tau, rho), each in zip(seen, splits, ranges, strict=True):
        moments, error = tabulate(run.sigma, each, tau, cells, run.dtype)
        errors.append(error)
        given = [None if x is None else jnp.asarray(x, run.dtype) for x in (V, s, rho)]
        members.append(Member(given[0], given[1], moments, given[2]))
    family = ConditionalFeatures(run, layers, tuple(members))
    found = measured(run, family, layers, n_test, spectrum)
    return {**found, "moved": np.stack([v for v, _ in spectra]), "table": np.stack(errors)}


def known(parts: list[Part]) -> bool:
    """Whether the moments are known well enough for numbers to be trusted."""
    return bool(np.max([part["table"].max() for part in parts]) < USELESS)


def notes(setting: Setting, count: int, parts: list[Part]) -> list[str]:
    """The directions and how far they stand out, and what the model does not cover."""
    said = []
    moved = np.concatenate([part["moved"] for part in parts], axis=1)
    if count:
        said.append(_standing_out(moved, count))
    readout = setting.protocol.readout
    if readout is not None and readout.batch == "reuse":
        said.append("the readout reuses the batch of the last step, on which W depends: the model supposes new samples")
    worst = float(np.max([part["table"].max() for part in parts]))
    if not worst < WORST:
        said.append(
            f"the step is too large for the grid of the moments: they are known to {worst:.1g} of their size only"
        )
    return said


def _standing_out(moved: np.ndarray, count: int) -> str:
    """Singular values of W_T - W_0 (E, S, m), averaged over seeds, against the edge of their bulk, at the largest move."""
    mean = moved.mean(axis=1)
    e = int(np.argmax(mean[:, 0]))
    values = ", ".join(f"{v:.3g}" for v in mean[e, :count])
    many = f"{count} direction{'s' * (count > 1)}"
    if moved.shape[2] < measure.FEWEST or not np.all(np.isfinite(moved[e])):
        return f"conditioned on {many}: singular values of W_T - W_0 {values}"
    edge = np.mean([measure.bulk_edge(v) for v in moved[e]])
    out = int(np.min([len(measure.outliers(v)) for v in moved[e]]))
    told = "" if out == count else f", and {out} stand{'s' * (out == 1)} out in every run"
    return f"conditioned on {many}: singular values of W_T - W_0 {values}, bulk edge {edge:.3g}{told}"
