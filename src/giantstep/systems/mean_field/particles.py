"""Particles that carry a mean-field network: weighted along a path of dual variables, and moved when few carry the weight.

The law is ``mu_g = exp(-U_g) nu / Z`` with ``U_g(theta) = (1/(lam n)) sum_i g_i h_theta(x_i)`` (see ``_dual``). A change of g
multiplies the weight of every particle by ``exp(-change of U)``; when the effective number of particles is below half, they
are drawn anew by their weights and take a few Crank-Nicolson steps at the present g. Two methods move g:

    finite   pick i; g_i <- argmax -l*(g') + g' f_i - (B^2/(2 n lam)) (g' - g_i)^2      (dual coordinate ascent)
    online   pick the t-th sample i; g <- 2/((t+1)(t+2)) sum_{s<=t} s n l'_s e_{i_s}     (dual averaging)

for which n curves are the law of the stream, or the sample (Nishikawa, Suzuki, Nitanda and Wu 2022; in finite dimensions
Nitanda, Wu and Suzuki 2021; Oko, Suzuki, Nitanda and Wu 2022). With ``refresh = 0`` particles never move: the same methods on
a pool of draws that stands for the prior itself, without sampling error.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from giantstep._machine.arrays import Array
from giantstep._machine.backend import alone, jax, jnp
from giantstep.functions import losses
from giantstep.functions._gaussian_averages import Scalar
from giantstep.systems.mean_field._crank_nicolson import Walker, walk

STAGES = 500  # of an annealing at most


class ParticleProblem(NamedTuple):
    """Inputs times prior deviations (n, J), labels, penalty and bound: h = bound sigma(X u)."""

    X: Float[Array, "n J"]
    y: Float[Array, " n"]
    lam: Scalar
    bound: Scalar


class Cloud(NamedTuple):
    """Particles u (M, J), logarithms of their weights, features (n, M), dual variables, and the step size of moves."""

    u: Float[Array, "M J"]
    log_w: Float[Array, " M"]
    F: Float[Array, "n M"]
    g: Float[Array, " n"]
    h: Scalar


class How(NamedTuple):
    """What a run is compiled for: loss, activation, Crank-Nicolson steps at a refresh, and whether they are adjusted."""

    loss: str
    sigma: Any
    inner: int = 4
    adjusted: bool = True


def features(u: Float[Array, "M J"], p: ParticleProblem, how: How) -> Float[Array, "n M"]:
    """The features h_theta(x_i) of all particles, (n, M)."""
    return p.bound * how.sigma(p.X @ u.T)


def potential(
    u: Float[Array, "M J"], g: Float[Array, " n"], p: ParticleProblem, how: How
) -> tuple[Float[Array, " M"], Float[Array, "M J"]]:
    """The potential U_g of every particle, and its gradient in u."""
    z = p.X @ u.T
    c = p.bound * g / (p.lam * len(p.y))
    return c @ how.sigma(z), (c[:, None] * how.sigma.slope(z)).T @ p.X


def start(u: Float[Array, "M J"], p: ParticleProblem, how: How, h: float) -> Cloud:
    """Start from draws of the prior, at g = 0."""
    F = np.asarray(p.bound) * np.asarray(how.sigma(np.asarray(p.X) @ np.asarray(u).T))
    even = np.full(len(u), -np.log(len(u)))
    return Cloud(*(jnp.asarray(v, float) for v in (u, even, F, np.zeros(len(p.y)), h)))


def weighted(c: Cloud, g: Float[Array, " n"], p: ParticleProblem) -> Cloud:
    """Reweight the same particles to the dual variables g."""
    log_w = c.log_w - (g - c.g) @ c.F / (p.lam * len(p.y))
    return c._replace(log_w=log_w - jax.nn.logsumexp(log_w), g=g)


def carried(log_w: Float[Array, " M"]) -> Scalar:
    """The share of the particles that carry the weight, 1 / (M sum of squared weights)."""
    return jnp.exp(-jax.nn.logsumexp(2 * log_w)) / len(log_w)


def refreshed(rng: np.random.Generator, c: Cloud, p: ParticleProblem, how: How) -> tuple[Cloud, float]:
    """Particles of equal weight at the same g, drawn by their weights and moved; and the share of accepted moves."""
    M, J = c.u.shape
    # evenly spread over the sum of the weights
    places = (np.arange(M) + rng.random()) / M
    chosen = np.minimum(np.searchsorted(np.cumsum(np.exp(np.asarray(c.log_w))), places), M - 1)
    u = np.asarray(c.u)[chosen]
    xi, coins = rng.standard_normal((how.inner, M, J)), rng.random((how.inner, M))
    w, F = _moves(u, _potential(u, c.g, p, how), xi, coins, c.g, c.h, p, how)
    return Cloud(w.u, jnp.asarray(np.full(M, -np.log(M))), F, c.g, w.h), float(w.accepted)


_potential = jax.jit(potential, static_argnames="how")


@partial(jax.jit, static_argnames="how")
def _moves(
    u: Float[Array, "M J"],
    here: tuple[Float[Array, " M"], Float[Array, "M J"]],
    xi: Float[Array, "steps M J"],
    coins: Float[Array, "steps M"],
    g: Float[Array, " n"],
    h: Scalar,
    p: ParticleProblem,
    how: How,
) -> tuple[Walker, Float[Array, "n M"]]:
    w = walk(u, here, xi, coins, lambda v: potential(v, g, p, how), h, how.adjusted)
    return w, features(w.u, p, how)


class ParticleRun(NamedTuple):
    """The cloud at the end, dual variables after every so many samples (records, n), refreshes, and accepted moves."""

    cloud: Cloud
    duals: Float[np.ndarray, "records n"]
    refreshes: int
    acceptance: float


@alone()
def run(
    rng: np.random.Generator,
    c: Cloud,
    indices: Int[np.ndarray, " samples"],
    p: ParticleProblem,
    how: How,
    method: str,
    *,
    every: int = 1,
    refresh: float = 0.5,
    first: int = 1,
    last: int | None = None,
) -> ParticleRun:
    """Take these samples one after the other, from the ``first`` to the ``last``, counted from 1; a cloud that has taken samples
    before goes on. ``refresh`` is the share of particles that must carry the weight."""
    n, last = len(p.y), len(indices) if last is None else last
    # of online steps: g = 2 total/((t + 1)(t + 2)) after t = first - 1 samples
    state = (c, jnp.asarray(first, int), c.g * (first * (first + 1) / 2), jnp.zeros((-(-len(indices) // every), n)))
    shares = []
    while True:
        state = _until_few(state, jnp.asarray(indices), p, refresh, last, how, method, every)
        if int(state[1]) > last:
            return ParticleRun(state[0], np.asarray(state[3]), len(shares), float(np.mean(shares)) if shares else 1.0)
        cloud, share = refreshed(rng, state[0], p, how)
        state = (cloud, *state[1:])
        shares.append(share)


@partial(jax.jit, static_argnames=("how", "method", "every"))
def _until_few(
    state: tuple, indices: Array, p: ParticleProblem, refresh: Array, last: Array, how: How, method: str, every: int
) -> tuple:
    """Take samples until few particles carry the weight, and one at least."""
    n, first = len(p.y), state[1]

    def step(state: tuple) -> tuple:
        c, t, total, duals = state
        i = indices[t - 1]
        f = jnp.exp(c.log_w) @ c.F[i]
        if method == "finite":
            g = c.g.at[i].set(losses.ascent(how.loss, c.g[i], f, p.y[i], p.bound**2 / (n * p.lam)))
        else:
            total = total.at[i].add(t * n * losses.slope(how.loss, f, p.y[i]))
            g = 2 * total / ((t + 1) * (t + 2))
        return weighted(c, g, p), t + 1, total, duals.at[(t - 1) // every].set(g)

    def goes_on(state: tuple) -> Array:
        return (state[1] <= last) & ((state[1] == first) | (carried(state[0].log_w) >= refresh))

    return jax.lax.while_loop(goes_on, step, state)


class Certified(NamedTuple):
    """Independent particles of mu_g, their features on the curves, log Z and its standard error, and how they were made."""

    u: Float[np.ndarray, "M J"]
    F: Float[np.ndarray, "n M"]
    log_z: float
    log_z_error: float
    stages: int
    acceptance: float


def annealed(
    rng: np.random.Generator, u: Float[Array, "M J"], g: Float[Array, " n"], p: ParticleProblem, how: How, h: float
) -> Certified:
    """Draws of the prior brought to mu_g along ``exp(-b U_g) nu``, b from 0 to 1, half of the particles carrying every stage.

    They know nothing of the particles that found g, so what is measured on them is a certificate. log Z is the sum over the
    stages of ``log E exp(-(change of b) U)`` (Neal 2001; Del Moral, Doucet and Jasra 2006).
    """
    c, b, log_z, variance, shares = start(u, p, how, h), 0.0, 0.0, 0.0, []
    while b < 1 and len(shares) < STAGES:
        U = np.asarray(_potential(c.u, g, p, how)[0])
        change = _stage(U, 1 - b)
        w = np.exp(-change * (U - U.min()))
        log_z += float(np.log(w.mean())) - change * float(U.min())
        variance += float(np.sum(w**2) / np.sum(w) ** 2) - 1 / len(w)
        b = b + change
        c, share = refreshed(rng, c._replace(log_w=jnp.asarray(np.log(w / w.sum())), g=b * g), p, how)
        shares.append(share)
    return Certified(
        np.asarray(c.u),
        np.asarray(c.F),
        log_z if b >= 1 else np.nan,
        variance**0.5,
        len(shares),
        float(np.mean(shares)),
    )


def _stage(U: Float[np.ndarray, " M"], most: float) -> float:
    """The change of b at which half of the particles carry the weight, by bisection; all that is left if more do."""

    def carried(change: float) -> float:
        w = np.exp(-change * (U - U.min()))
        return float(np.sum(w) ** 2 / np.sum(w**2)) / len(U)

    if carried(most) >= 0.5:
        return most
    low, high = 0.0, most
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if carried(middle) > 0.5 else (low, middle)
    return high
