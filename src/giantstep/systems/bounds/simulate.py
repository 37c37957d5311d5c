"""Gaps measured: SGD with a Lipschitz loss, its error on fresh and on training samples, and Wasserstein distances of samples."""

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from giantstep._machine import memory
from giantstep._machine.backend import alone, jax, jnp
from giantstep._machine.random import Stream, generator
from giantstep.errors import InputError
from giantstep.results.system import Curve, Number, Reading

if TYPE_CHECKING:
    from giantstep.systems.bounds import Bounds

ORACLE = 40_000  # fresh samples that stand for the law
LARGEST = 3000  # samples up to which an assignment is solved
ASSIGNED = 8  # pairs of samples for a Wasserstein distance

Weights = tuple[np.ndarray, np.ndarray, np.ndarray]


def draw(
    b: "Bounds", rng: np.random.Generator, *shape: int
) -> tuple[Float[np.ndarray, "... d_in"], Float[np.ndarray, "... d_out"]]:
    """Inputs (..., d_in) and labels (..., d_out)."""
    x = rng.uniform(-1, 1, (*shape, b.d_in)) if b.data == "cube" else rng.standard_normal((*shape, b.d_in))
    y = np.sin(b.frequency * x[..., np.arange(b.d_out) % b.d_in])
    return x, y + b.noise * rng.uniform(-1, 1, (*shape, b.d_out))


def output(weights, x, sigma):
    """W2 sigma(W1 (x, 1)) + b2 of one input."""
    W1, W2, b2 = weights
    return W2 @ sigma(W1[:, :-1] @ x + W1[:, -1]) + b2


def cost(e, loss: str):
    """The loss of an error e, with gradient zero at zero."""
    size = jnp.sqrt(jnp.sum(e**2, axis=-1) + 1e-300)
    return size if loss == "absolute" else jnp.where(size < 1, size**2 / 2, size - 0.5)


@partial(jax.jit, static_argnames=("sigma", "loss"))
def _trained(weights, x, y, rate, *, sigma, loss):
    """One step for every batch in turn, (trainings, steps, batch, .)."""

    def one(weights, x, y):
        def step(weights, sample):
            each = lambda w: cost(jax.vmap(lambda v: output(w, v, sigma))(sample[0]) - sample[1], loss)  # noqa: E731
            slope = jax.grad(lambda w: jnp.mean(each(w)))(weights)
            return jax.tree.map(lambda w, g: w - rate * g, weights, slope), None

        return jax.lax.scan(step, weights, (x, y))[0]

    return jax.vmap(one)(weights, x, y)


@partial(jax.jit, static_argnames=("sigma", "loss"))
def _losses(weights, x, y, *, sigma, loss):
    """Of every training on samples of its own, (trainings, samples)."""
    one = lambda w, x, y: cost(jax.vmap(lambda v: output(w, v, sigma))(x) - y, loss)  # noqa: E731
    return jax.vmap(one)(weights, x, y)


def initial(b: "Bounds", rng: np.random.Generator) -> Weights:
    """Draw the weights before training, one set for each training."""
    T, m = b.trainings, b.width
    W1 = rng.standard_normal((T, m, b.d_in + 1)) / np.sqrt(b.d_in + 1)
    return W1, rng.standard_normal((T, b.d_out, m)) / np.sqrt(m), np.zeros((T, b.d_out))


@alone()
def train(
    b: "Bounds", weights: Weights, x: Float[np.ndarray, "trainings n d_in"], y: Float[np.ndarray, "trainings n d_out"]
) -> Weights:
    """``steps`` steps through the samples (trainings, n, .), again and again."""
    order = np.arange(b.steps * b.batch).reshape(b.steps, b.batch) % x.shape[1]
    result = _trained(weights, x[:, order], y[:, order], b.rate, sigma=b.activation, loss=b.loss)
    return tuple(np.asarray(w) for w in result)  # type: ignore[return-value]


def modulus(b: "Bounds", weights: Weights) -> Float[np.ndarray, " trainings"]:
    """Lambda = sqrt((L_sigma ||W2|| ||W1||)^2 + 1) of every training, with operator norms."""
    first, second = (np.linalg.norm(w, 2, axis=(1, 2)) for w in (weights[0][:, :, :-1], weights[1]))
    return np.sqrt((b.lipschitz * first * second) ** 2 + 1)


def wasserstein(b: "Bounds", n: int, rng: np.random.Generator) -> float:
    """W1 between two independent samples of size n: between E W1(mu, mu_n) and twice of it, in the mean."""
    z, other = (np.concatenate(draw(b, rng, n), axis=1) for _ in range(2))
    distances = cdist(z, other)
    return float(distances[linear_sum_assignment(distances)].mean())


class TrainedNetworks(NamedTuple):
    """After trainings on n samples each: the mean loss on them, (trainings,), losses on fresh ones, and Lambda."""

    own: Float[np.ndarray, " trainings"]
    fresh: Float[np.ndarray, "trainings samples"]
    modulus: Float[np.ndarray, " trainings"]

    @property
    def risk(self) -> Float[np.ndarray, " trainings"]:
        return self.fresh.mean(axis=1)

    @property
    def train_gap(self) -> Float[np.ndarray, " trainings"]:
        """|R_n - R| on the training samples."""
        return np.abs(self.own - self.risk)

    def test_gap(self, n: int) -> Float[np.ndarray, " trainings"]:
        """|R_n - R| in the mean over samples of size n among the fresh ones, R the mean over all."""
        count = self.fresh.shape[1] // n
        blocks = self.fresh[:, : count * n].reshape(len(self.fresh), count, n).mean(axis=2)
        return np.mean(np.abs(blocks - self.risk[:, None]), axis=1)


def trained(b: "Bounds", n: int, seed: int, oracle: int = ORACLE) -> TrainedNetworks:
    """Train on n samples, and test on ``oracle`` fresh ones."""
    rng = generator(seed, Stream.STEP, n)
    weights, (x, y) = initial(b, rng), draw(b, rng, b.trainings, n)
    weights = train(b, weights, x, y) if b.steps else weights
    far = draw(b, rng, b.trainings, oracle)
    own, fresh = (np.asarray(_losses(weights, *data, sigma=b.activation, loss=b.loss)) for data in ((x, y), far))
    return TrainedNetworks(own.mean(axis=1), fresh, modulus(b, weights))


def check(b: "Bounds") -> None:
    """Refuse samples or trainings that are too many."""
    largest = max(*b.samples, b.n)
    if largest > LARGEST:
        raise InputError(
            f"the Wasserstein distance is an assignment of n samples: n is at most {LARGEST}, not {largest}"
        )
    needed = 8.0 * b.trainings * (ORACLE + b.steps * b.batch) * (b.dimension + b.width)
    memory.check(needed, None, lambda share: f"{max(int(b.trainings * share), 2)} trainings")


def measured(b: "Bounds", seed: int) -> Reading:
    """Means over the trainings of one seed."""
    check(b)
    rng, mean = generator(seed, Stream.TEST), Number.of
    runs = {n: trained(b, n, seed) for n in dict.fromkeys((*b.samples, b.n))}
    apart = {n: mean([wasserstein(b, n, rng) for _ in range(ASSIGNED)]) for n in runs}
    own, trace = runs[b.n], float(np.var(np.concatenate(draw(b, rng, ORACLE), axis=1), axis=0).sum())
    numbers = {
        "test_gap": mean(own.test_gap(b.n)),
        "train_gap": mean(own.train_gap),
        "lipschitz": mean(own.modulus),
        "wasserstein": apart[b.n],
        "realised_test_gap": float(own.modulus.mean()) * np.sqrt(trace / b.n),
        "realised_train_gap": np.sqrt(float(np.mean(own.modulus**2)) * (apart[b.n].value ** 2 + trace / b.n)),
        "risk": mean(own.risk),
        "trivial": float(np.mean(cost(draw(b, rng, ORACLE)[1], b.loss))),
    }
    curves = {
        "test_gap": _curve(b, [mean(own.test_gap(n)) for n in b.samples]),
        "train_gap": _curve(b, [mean(runs[n].train_gap) for n in b.samples]),
        "wasserstein": _curve(b, [apart[n] for n in b.samples]),
    }
    return Reading(numbers, curves, ("W1 is measured between two samples: an upper value, at most twice the true one",))


def _curve(b: "Bounds", values: list[Number]) -> Curve:
    y, se = np.array(values, dtype=float).T
    return Curve("n", np.array(b.samples, dtype=float), y, se, log="xy")
