"""Field: a trained mean-field network on functions, particles that carry its law, and the certificate that it is optimal.

    minimise  P(mu) = (1/n) sum_i l(f_mu(x_i), y_i) + lam KL(mu | nu),    f_mu(x) = int B sigma(<theta, x>) mu(d theta)

over all laws mu of a neuron theta, a function itself; nu = N(0, C) with standard deviations c_j along the basis. Training is in
``_particles``, the dual problem in ``_dual`` (Nishikawa, Suzuki, Nitanda and Wu 2022).
"""

import time
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from giantstep._given.declared import given
from giantstep._given.plain import choice, numbers, real, settle, whole
from giantstep._machine import memory
from giantstep._machine.random import Stream, generator, normals
from giantstep.errors import InputError
from giantstep.functions import losses
from giantstep.functions.activation import activation
from giantstep.results.outcome import Status
from giantstep.results.system import Curve
from giantstep.systems.mean_field import dual

METHODS, SAMPLERS = ("finite", "online"), ("adjusted", "plain")
RECORDS = 400  # dual variables kept of an online run at most
TRUSTED = 0.1  # gap over objective up to which a network counts as certified
CARRIED = 30  # draws of the pool that must carry a law to say something about it


@given()
@dataclass(frozen=True)
class Training:
    """How a network is trained.

    Attributes:
        penalty: lam, of the entropy KL(mu | nu).
        loss: "square", (f - y)^2/2, or "logistic" for labels of +1 and -1.
        activation: sigma, a formula of absolute value at most 1.
        bound: B, the largest output of the network.
        method: "finite" ascends the dual one coordinate at a time; "online" averages the slopes of a stream of the curves.
        particles: neurons.
        passes: samples taken over n.
        inner: Crank-Nicolson steps when particles are refreshed.
        sampler: "adjusted" accepts and rejects them, and sets their size; "plain" takes all, with an error of order ``step``.
        step: size of a Crank-Nicolson step, for "adjusted" the first.
        pool: draws of the prior that follow the run and solve the dual problem.
    """

    penalty: float = 0.02
    loss: str = "square"
    activation: str = "tanh"
    bound: float = 1.0
    method: str = "finite"
    particles: int = 600
    passes: int = 30
    inner: int = 4
    sampler: str = "adjusted"
    step: float = 0.5
    pool: int = 8192

    def __post_init__(self) -> None:
        settle(self, whole, "particles", least=2)
        settle(self, whole, "passes", "inner", "pool")
        settle(self, real, "penalty", "bound", "step")
        for name in ("penalty", "bound", "step"):
            if getattr(self, name) <= 0:
                raise InputError(f"{name} must be above 0, not {getattr(self, name):g}")
        choice(self.loss, losses.LOSSES, "loss")
        choice(self.method, METHODS, "method")
        choice(self.sampler, SAMPLERS, "sampler")
        if self.step > 2:
            raise InputError(f"step must be at most 2, where a step forgets where it was; not {self.step:g}")
        if np.max(np.abs(activation(self.activation)(np.linspace(-60.0, 60.0, 24001)))) > 1 + 1e-9:
            raise InputError(
                f"activation must stay within -1 and 1, as tanh, erf and sin do; {self.activation!r} does not"
            )


def recipe(options: dict[str, Any], y: Float[np.ndarray, " n"], bound: float | None) -> Training:
    """A training with these options, and with the largest output by the labels if there is no bound."""
    known = [f.name for f in fields(Training)]
    for name in options:
        if name not in known:
            raise InputError(f"fit has no option {name!r}; those of training are {', '.join(known)}")
    largest = 4.0 if options.get("loss") == "logistic" else 2 * float(np.max(np.abs(y))) or 1.0
    return replace(Training(), **options, bound=largest if bound is None else bound)


def labels(y: npt.ArrayLike, n: int, loss: str) -> Float[np.ndarray, " n"]:
    """Labels as numbers, one for each of the n inputs."""
    choice(loss, losses.LOSSES, "loss")
    y = numbers(y, (n,), f"y must be {n} finite numbers, one an input")
    if loss == "logistic" and not np.all(np.abs(y) == 1):
        raise InputError("with the logistic loss the labels must be +1 and -1")
    return y


@dataclass(frozen=True, repr=False, eq=False)
class Field:
    """A trained network.

    Attributes:
        training: how it was trained.
        neurons: theta, one row a particle, drawn from the law ``mu_g`` independently of the particles that found g.
        objective: P of that law.
        gap: P - D(g) >= P less the smallest possible P: the certificate.
        kl: KL(mu | nu).
        ess: particles that carried the weight at the end of training.
        errors: standard errors of objective, gap and kl that the number of particles leaves.
        history: the gap along the run, on a pool of draws of the prior.
        duals: g along the run, one row a record.
        train_loss: mean loss on the curves.
        refreshes: how often particles were drawn anew.
        acceptance: share of accepted Crank-Nicolson steps.
        status: whether the certificate is good enough.
        seconds: how long it took.
    """

    training: Training
    neurons: Float[np.ndarray, "particles J"]
    objective: float
    gap: float
    kl: float
    ess: float
    errors: dict[str, float]
    history: Curve
    duals: Float[np.ndarray, "records n"]
    train_loss: float
    refreshes: int
    acceptance: float
    status: Status
    seconds: float

    def outputs(self, X: Float[np.ndarray, "rows J"]) -> Float[np.ndarray, " rows"]:
        """f(x) for coefficients, one row an input."""
        sigma = activation(self.training.activation)
        blocks = np.array_split(X, max(1, X.shape[0] * len(self.neurons) // 2**22))
        return self.training.bound * np.concatenate(
            [np.asarray(sigma(x @ self.neurons.T)).mean(axis=1) for x in blocks]
        )

    def __repr__(self) -> str:
        t, e = self.training, self.errors
        return (
            f"{len(self.neurons)} neurons in {self.neurons.shape[1]} dimensions, {t.method} method, {t.loss} loss\n"
            f"objective {self.objective:.4g} ± {e['objective']:.1g}, gap {self.gap:.2g} ± {e['gap']:.1g} "
            f"({self.gap / self.objective:.1%}), KL {self.kl:.3g} ± {e['kl']:.1g}\n"
            f"training loss {self.train_loss:.4g}, {self.refreshes} refreshes, {self.acceptance:.0%} of moves accepted\n"
            f"status: {self.status}  ({self.seconds:.1f} s)"
        )


def features(
    X: Float[np.ndarray, "n J"], u: Float[np.ndarray, "draws J"], training: Training
) -> Float[np.ndarray, "draws n"]:
    """h of rows u, in units of the prior's deviations, at inputs X in the same units: (rows of u, rows of X)."""
    return training.bound * np.asarray(activation(training.activation)(u @ X.T))


def pool(X: Float[np.ndarray, "n J"], training: Training, seed: int, *stream: int) -> Float[np.ndarray, "draws n"]:
    """Features of draws of the prior, (draws, n)."""
    u = normals(seed, (Stream.SKETCH, *stream), 0, training.pool, X.shape[1])
    return features(X, u, training)


def needs(n: int, J: int, t: Training) -> None:
    """Refuse a training that does not fit in memory."""
    needed, allowed = (
        8.0 * (3 * n * t.particles + 2 * n * t.pool + (3 + t.inner) * t.particles * J),
        memory.budget(None),
    )
    if needed > allowed:
        most = int(max(2, allowed / (8.0 * (5 * n + (3 + t.inner) * J))))
        raise memory.refuse(needed, allowed, f"particles and pool of {most}")


def train(
    X: Float[np.ndarray, "n J"],
    y: Float[np.ndarray, " n"],
    deviations: Float[np.ndarray, " J"],
    training: Training,
    seed: int = 0,
) -> Field:
    """Train on coefficients X (n, J) with the prior's standard deviations (J,), and certify what was found."""
    from giantstep._machine.backend import jnp
    from giantstep.systems.mean_field import particles as engine

    begun, t, (n, J) = time.perf_counter(), training, X.shape
    needs(n, J, t)
    white = X * deviations
    problem = engine.ParticleProblem(*(jnp.asarray(v, float) for v in (white, y, t.penalty, t.bound)))
    how = engine.How(t.loss, activation(t.activation), t.inner, t.sampler == "adjusted")
    rng, steps = generator(seed, Stream.STEP), t.passes * n
    every = n if t.method == "finite" else -(-steps // RECORDS)
    cloud = engine.start(normals(seed, (Stream.ROWS,), 0, t.particles, J), problem, how, t.step)
    run = engine.run(rng, cloud, rng.integers(0, n, steps), problem, how, t.method, every=every)
    others = normals(seed, (Stream.ROWS, 1), 0, t.particles, J)
    made = engine.annealed(generator(seed, Stream.TEST), others, run.cloud.g, problem, how, t.step)
    numbers, errors = certificate(made, np.asarray(run.cloud.g), y, t)
    history, notes = _history(white, y, run.duals, every, t, seed)
    certified = numbers["gap"] <= TRUSTED * numbers["objective"]
    if not certified:
        share = numbers["gap"] / numbers["objective"]
        notes = (f"The gap is {share:.0%} of the objective. Take more passes or particles.", *notes)
    return Field(
        t, made.u * deviations, **numbers, ess=1 / float(np.sum(np.exp(2 * np.asarray(run.cloud.log_w)))), errors=errors,
        history=history, duals=run.duals, refreshes=run.refreshes, acceptance=run.acceptance,
        status=Status(certified, notes), seconds=time.perf_counter() - begun,
    )  # fmt: skip


def certificate(
    made: Any, g: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"], t: Training
) -> tuple[dict[str, float], dict[str, float]]:
    """Objective, gap, entropy and loss of mu_g on particles that never saw how g was found, and standard errors."""
    n, M = made.F.shape
    f = made.F.mean(axis=1)
    # KL = -E U - log Z with U = g F/(lam n)
    U = g @ made.F / (t.penalty * n)
    kl, loss = -float(U.mean()) - made.log_z, float(np.mean(losses.value(t.loss, f, y)))
    # to first order the gap moves by sum_i (l'_i - g_i) df_i / n; to second, noise in f adds l'' Var f_i / 2
    first = (losses.slope(t.loss, f, y) - g) @ made.F / n
    second = float(np.mean(losses.bend(t.loss, f, y) * made.F.var(axis=1))) / (2 * M)
    gap_error = float(first.std() / M**0.5) + second
    numbers = {"objective": loss + t.penalty * kl, "gap": dual.young(f, g, y, t.loss), "kl": kl, "train_loss": loss}
    objective_error = (gap_error**2 + (t.penalty * made.log_z_error) ** 2) ** 0.5
    return numbers, {
        "objective": objective_error,
        "gap": gap_error,
        "kl": float((U.var() / M + made.log_z_error**2) ** 0.5),
    }


def _history(
    X: Float[np.ndarray, "n J"],
    y: Float[np.ndarray, " n"],
    duals: Float[np.ndarray, "records n"],
    every: int,
    t: Training,
    seed: int,
) -> tuple[Curve, tuple[str, ...]]:
    """The gap along the run: at most 60 records of it."""
    H = pool(X, t, seed, 1)
    chosen = np.unique(np.round(np.geomspace(1, len(duals), 60)).astype(int)) - 1
    states = [dual.at(H, y, duals[k], t.penalty, t.loss) for k in chosen]
    known = [(every * (k + 1) / len(y), s.gap) for k, s in zip(chosen, states, strict=True) if np.isfinite(s.gap)]
    x, gap = np.array(known).reshape(-1, 2).T
    few = states[-1].ess < CARRIED
    note = (
        (f"Only {states[-1].ess:.0f} of {t.pool} draws of the prior carry weight in the history. Take a larger pool.",)
        if few
        else ()
    )
    return Curve("passes", x, gap, log="xy"), note
