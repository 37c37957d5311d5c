"""A mean-field network that learns from a stream: every curve is seen once, predicted first and learned then.

After t curves the law is exp(-U) nu / Z with the weighted slopes of all of them (dual averaging, as in ``particles``),

    U(theta) = 2 / (lam (t + 1)(t + 2)) sum_{s<=t} s l'_s h_theta(x_s),    l'_s the slope of the loss on the s-th curve

As no curve comes twice, the objective is the expected loss over the law of the stream, and the losses met on the way estimate it
without bias. With exact sampling the mean over s <= T, weighted by s, of its excess is at most ``dual.averaging``.

The first curves move the law far, further than a few moves can follow. A batch after which few particles carry the weight
therefore ends with fresh ones, brought from the prior to the present law in stages.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep._given.declared import at_least, given
from giantstep._given.plain import real
from giantstep._machine.random import Stream, generator, normals
from giantstep.errors import InputError, quoted
from giantstep.functions import losses
from giantstep.functions.activation import activation
from giantstep.results.outcome import Status
from giantstep.results.system import Curve
from giantstep.systems.mean_field._fit_curves import FittedCurves
from giantstep.systems.mean_field.curve_inputs import coefficients, described, deviations, spanning
from giantstep.systems.mean_field.training import Field, Training, certificate, labels, needs, recipe

CARRY = 0.5  # share of the particles that must carry the weight after a batch
ROOM = 128  # curves that there is room for at first; it doubles as they come


@dataclass(frozen=True, repr=False, eq=False)
class Followed:
    """What a stream has taught.

    Attributes:
        fit: the network at the end, with the objective on the curves that came; a stream has no certificate, so the gap is NaN.
        losses: the loss on every curve before it was learned.
    """

    fit: FittedCurves
    losses: Float[np.ndarray, " n"]

    def predict(self, curves: Any, grid: Any = None) -> Float[np.ndarray, " curves"]:
        """f of other curves."""
        return self.fit.predict(curves, grid)

    def __repr__(self) -> str:
        late, f = self.losses[len(self.losses) // 2 :], self.fit.field
        mean, error = late.mean(), late.std() / len(late) ** 0.5
        return (
            f"{len(f.neurons)} neurons in {f.neurons.shape[1]} dimensions, {f.training.loss} loss\n"
            f"{len(self.losses)} curves, each predicted before it was learned: loss {mean:.3g} ± {error:.1g} on the later half\n"
            f"training loss {f.train_loss:.4g}, KL {f.kl:.3g} ± {f.errors['kl']:.1g}  ({f.seconds:.1f} s)"
        )


class _Seen(NamedTuple):
    """Inputs in units of the prior and labels, with room for more, how many there are, and the particles that know them."""

    X: Float[np.ndarray, "room J"]
    y: Float[np.ndarray, " room"]
    known: int
    cloud: Any


@given(bound=real, seed=at_least(0))
def follow(
    batches: Iterable[tuple[Any, ...]], grid: Any = None, *, bound: float | None = None, seed: int = 0, **options: Any
) -> Followed:
    """Learn from a stream of curves, each of which is predicted, learned and never seen again.

    Args:
        batches: yields (curves, y) for curves on ``grid``, or (curves, y, grids) for curves with grids of their own; it may be a
            generator. A batch is predicted as a whole before it is learned. The first one sets the scale of the prior and,
            without ``bound``, the largest output.
        grid: where the values were taken; not needed if batches have grids of their own, but then ``domain`` is.
        bound: the largest output, as in ``fit``.
        seed: of the method.
        **options: those of ``fit``; ``method`` and ``passes`` do not apply.
    """
    for name in ("method", "passes"):
        if name in options:
            raise InputError(f"follow takes every curve once, so it has no option {name!r}")
    inputs, training = described(options)
    if grid is None and inputs.domain is None:
        raise InputError("follow needs a grid, or a domain if every batch has grids of its own")
    inputs = inputs if grid is None else spanning(inputs, grid)
    begun, lost, t, c, seen = time.perf_counter(), [], Training(), np.zeros(0), None
    rng = generator(seed, Stream.STEP)
    for curves, y, *own in _batches(batches):
        X = coefficients(inputs, curves, own[0] if own else grid)
        y = labels(y, len(X), training.get("loss", "square"))
        if seen is None:
            t, c = recipe({**training, "method": "online"}, y, bound), deviations(inputs, X)
            seen = _started(len(c), t, seed)
        seen, each = _learned(seen, X * c, y, t, rng)
        lost.append(each)
    if seen is None:
        raise InputError("the stream has no batch")
    met = np.concatenate(lost)
    field = _field(seen, met, c, t, seed, begun)
    return Followed(FittedCurves(field, None if grid is None else np.asarray(grid, float), inputs), met)


def _batches(batches: Any) -> Iterator[tuple[Any, ...]]:
    """The batches of a stream, which may have no end."""
    wanted = "batches must yield (curves, y), or (curves, y, grids)"
    if isinstance(batches, str | bytes | type) or not isinstance(batches, Iterable):
        raise InputError(f"{wanted}, and {quoted(batches)} does not")
    try:
        stream = iter(batches)
    except Exception:  # whatever the object raises
        raise InputError(f"{wanted}, and {quoted(batches)} does not") from None
    for batch in stream:
        if not isinstance(batch, tuple | list) or len(batch) not in (2, 3):
            raise InputError(f"{wanted}, not {quoted(batch)}")
        yield tuple(batch)


def _problem(X: Float[np.ndarray, "n J"], y: Float[np.ndarray, " n"], t: Training) -> tuple[Any, Any]:
    from giantstep._machine.backend import jnp
    from giantstep.systems.mean_field import particles as engine

    problem = engine.ParticleProblem(*(jnp.asarray(v, float) for v in (X.copy(), y.copy(), t.penalty, t.bound)))
    return problem, engine.How(t.loss, activation(t.activation), t.inner, t.sampler == "adjusted")


def _started(J: int, t: Training, seed: int) -> _Seen:
    from giantstep.systems.mean_field import particles as engine

    X, y = np.zeros((ROOM, J)), np.zeros(ROOM)
    return _Seen(X, y, 0, engine.start(normals(seed, (Stream.ROWS,), 0, t.particles, J), *_problem(X, y, t), t.step))


def _learned(
    seen: _Seen, X: Float[np.ndarray, "m J"], y: Float[np.ndarray, " m"], t: Training, rng: np.random.Generator
) -> tuple[_Seen, Float[np.ndarray, " m"]]:
    """The losses on a batch, and what is known after it."""
    from giantstep._machine.backend import jnp
    from giantstep.systems.mean_field import particles as engine

    first, last = seen.known, seen.known + len(y)
    while len(seen.y) < last:
        seen = _with_room(seen, t)
    F = t.bound * np.asarray(activation(t.activation)(X @ np.asarray(seen.cloud.u).T))
    met = np.asarray(losses.value(t.loss, F @ np.exp(np.asarray(seen.cloud.log_w)), y))
    seen.X[first:last], seen.y[first:last] = X, y
    cloud = seen.cloud._replace(F=jnp.asarray(seen.cloud.F).at[first:last].set(F))
    room = len(seen.y)
    problem, how = _problem(seen.X, seen.y, t)
    done = engine.run(rng, cloud, np.arange(room), problem, how, "online", every=room, first=first + 1, last=last)
    cloud = done.cloud
    if done.refreshes or float(engine.carried(cloud.log_w)) < CARRY:
        fresh = engine.annealed(rng, rng.standard_normal(cloud.u.shape), cloud.g, problem, how, t.step)
        even = jnp.full(t.particles, -np.log(t.particles))
        cloud = cloud._replace(u=jnp.asarray(fresh.u), log_w=even, F=jnp.asarray(fresh.F))
    return _Seen(seen.X, seen.y, last, cloud), met


def _with_room(seen: _Seen, t: Training) -> _Seen:
    """Twice the room. U = g F / (lam room), so g doubles too; zeros for curves to come change nothing."""
    from giantstep._machine.backend import jnp

    room, J = seen.X.shape
    needs(2 * room, J, t)
    cloud = seen.cloud
    F = jnp.concatenate([cloud.F, jnp.zeros_like(cloud.F)])
    g = jnp.concatenate([2 * cloud.g, jnp.zeros(room)])
    return _Seen(np.pad(seen.X, ((0, room), (0, 0))), np.pad(seen.y, (0, room)), seen.known, cloud._replace(F=F, g=g))


def _field(
    seen: _Seen, met: Float[np.ndarray, " n"], c: Float[np.ndarray, " J"], t: Training, seed: int, begun: float
) -> Field:
    """Fresh particles of the law at the end, and their numbers on the curves that came."""
    from giantstep.systems.mean_field import particles as engine

    n = seen.known
    X, y, g = seen.X[:n], seen.y[:n], np.asarray(seen.cloud.g)[:n] * (n / len(seen.y))
    others = normals(seed, (Stream.ROWS, 1), 0, t.particles, X.shape[1])
    made = engine.annealed(generator(seed, Stream.TEST), others, g, *_problem(X, y, t), t.step)
    numbers, errors = certificate(made, g, y, t)
    numbers["gap"] = errors["gap"] = np.nan  # g is no dual variable of the curves that came: its weights grow with time
    carried = 1 / float(np.sum(np.exp(2 * np.asarray(seen.cloud.log_w))))
    every = np.arange(1, n + 1)
    history = Curve("curves", every.astype(float), np.cumsum(met) / every)
    return Field(
        t, made.u * c, **numbers, ess=carried, errors=errors, history=history, duals=g[None], refreshes=made.stages,
        acceptance=made.acceptance, status=Status(),
        seconds=time.perf_counter() - begun,
    )  # fmt: skip
