"""A whole run as one compiled program on the device: draws, steps, fit and test of a group of seeds at all step sizes.

Nothing of the size of a batch or of a Gram matrix leaves the device. Step sizes and penalties are arguments of the program, so
that runs of one shape share it. The formulas are those of ``first_layer``, ``features`` and ``ridge``; only the order of the
work is here: seeds side by side, step sizes side by side, chunks of rows one after the other.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from giantstep._machine.arrays import in_turn
from giantstep._machine.backend import jax, jnp
from giantstep._training import tf32
from giantstep._training.batches import Chunk
from giantstep._training.features import NetworkFeatures, Neurons, Recipe, averaged, error_sums, left_over, seen
from giantstep._training.first_layer import (
    GEOMETRY,
    Array,
    LinearPart,
    Run,
    directions_of,
    geometry,
    linear_part,
    start,
    train,
)
from giantstep._training.form import RunForm, arguments
from giantstep._training.plan import Plan
from giantstep.experiment import draw
from giantstep.ridge import _many as many
from giantstep.ridge._readout import TRUST
from giantstep.ridge._resolvent import gram, moment_error


# On an H200 XLA's trial of several kernels for each product doubles the time to compile, and those it takes are no faster.
@partial(jax.jit, static_argnames="form", compiler_options={"xla_gpu_autotune_level": 0})
def program(seeds: Array, etas: Array, penalties: Array, *, form: RunForm) -> dict[str, Array]:
    """All numbers of a group of seeds, on the device: a first axis of seeds, and then one of step sizes."""
    return in_turn(lambda seed: _one(seed, etas, penalties, form), seeds, at_once=form.seeds)


def _one(seed: Array, etas: Array, penalties: Array, form: RunForm) -> dict[str, Array]:
    """One seed. Arrays have an axis of one seed after that of the step sizes, as everywhere; it is dropped at the end."""
    plan = Plan(form.rows, 1, form.grams, 0.0, 0.0)
    run = start(form.setting, (seed,), plan, form.dtype, device=True)
    etas = etas.astype(form.dtype)
    last = etas.shape[1] - 1
    with tf32.rounded(form.precision):
        trained = train(run, [etas[:, t] if t == last else etas[0, t] for t in range(last + 1)])
    family, count = NetworkFeatures(Neurons(run.sigma), trained.layers), len(trained.layers)
    readout, low, numbers = form.setting.protocol.readout, None, {}
    if readout is None:
        b = jnp.broadcast_to(trained.a[:, None, :] * form.setting.network.factor, (count, 1, 1, form.setting.p))
    else:
        low = linear_part(run, run.batches.readout, readout.deflate)
        fit = _fit if form.precision == "full" else _fit_refined
        numbers = fit(run, family, low, penalties, form)
        b = numbers.pop("coefficients")
    lows = [low, *([linear_part(run, draw.test_batch(form.n_test), 2)] if form.printed else [])]
    with tf32.rounded(form.precision):
        numbers |= _tested(run, family, lows, b, form)
    given = directions_of(form.setting)
    measured = _each(lambda e: geometry(trained.layers[e], *given), count, at_once=form.members)
    numbers |= dict(zip(GEOMETRY, measured, strict=True))
    return {name: value[:, 0] for name, value in numbers.items()}


def _each(one: Callable[..., Any], count: int, *rows: Array, at_once: int = 1) -> Any:
    """``one(e, ...)`` for the members along the first axis of the arrays."""
    if count == 1:
        return jax.tree.map(lambda x: x[None], one(0, *(row[0] for row in rows)))
    return in_turn(one, jnp.arange(count), *rows, at_once=at_once)


def _fit(
    run: Run, family: NetworkFeatures, low: LinearPart | None, penalties: Array, form: RunForm
) -> dict[str, Array]:
    """The readout of every member."""
    dual = run.batches.readout.n <= run.setting.p
    if dual:
        return _fit_dual(run, family, low, penalties, form)
    count = len(family)
    if form.grams >= count:
        return _fit_primal(run, family, low, penalties, form, None if count == 1 else jnp.arange(count))
    groups = jnp.arange(count).reshape(-1, form.grams)
    found = in_turn(lambda group: _fit_primal(run, family, low, penalties, form, group), groups)
    return jax.tree.map(lambda x: x.reshape(count, *x.shape[2:]), found)


def _fit_refined(
    run: Run, family: NetworkFeatures, low: LinearPart | None, penalties: Array, form: RunForm
) -> dict[str, Array]:
    """Every member from rounded products, one after the other, and the gap of their predictions to float64."""
    sample = run.batches.some(draw.test_batch(form.n_test), tf32.SAMPLE)

    def one(e: Any) -> dict[str, Array]:
        solution, gap = tf32.fitted(run, family, e, low, penalties, sample)
        found = _fitted(solution.coefficients, solution.error, solution.condition, penalties)
        return found | {"residual": solution.residual[None], "gap": gap[None]}

    return _each(one, len(family))


def with_moments(A: Array, c: Array, F: Array, y: Array) -> tuple[Array, Array]:
    """A + F^T F and c + F^T y for one seed; y is no column of F, whose width suits the products of a GPU."""
    return A + gram(F[0])[None].astype(A.dtype), c + (y[0] @ F[0])[None].astype(c.dtype)


def _fit_primal(
    run: Run, family: NetworkFeatures, low: LinearPart | None, penalties: Array, form: RunForm, group: Array | None
) -> dict[str, Array]:
    """Some of the members, n > p: A = F^T F / n is summed over the chunks. The group is None for a single member."""
    batch, p, count = run.batches.readout, run.setting.p, 1 if group is None else group.shape[0]

    def member(e: Any) -> Any:
        return 0 if group is None else group[e]

    def add(state: tuple[Array, ...], chunk: Chunk) -> tuple[Array, ...]:
        A, c, yy = state
        parts, y = family.parts(chunk), left_over(chunk, low)

        def one(e: Any, A: Array, c: Array) -> tuple[Array, Array]:
            return with_moments(A, c, family.recipe(*parts(member(e))), y)

        A, c = _each(one, count, A, c, at_once=form.members)
        return A, c, yy + jnp.sum(y.astype(float) ** 2)

    zero = jnp.zeros((count, 1, p, p)), jnp.zeros((count, 1, p)), jnp.zeros(())
    A, c, yy = run.batches.fold(batch, add, zero)

    def solved(e: Any, A: Array, c: Array) -> dict[str, Array]:
        # (F^T F + n lam) b = F^T y, and the mean squared error is that of the sums over n: no matrix is divided
        b, bound = many.solve(A[0], c[0], batch.n * penalties, form.penalties, blocked=form.blocked)
        error = jax.vmap(lambda b: moment_error(A[0], c[0][:, None], yy, b[:, None]) / batch.n)(b)
        return _fitted(b, error, bound, penalties)

    return _each(solved, count, A, c, at_once=form.members)


def _fit_dual(
    run: Run, family: NetworkFeatures, low: LinearPart | None, penalties: Array, form: RunForm
) -> dict[str, Array]:
    """Every member, n <= p: a = (F F^T / n + lam)^{-1} y, b = F^T a / n and y - F b = lam a."""
    batch = run.batches.readout
    chunk = run.batches.whole(batch)
    parts, y = family.parts(chunk), left_over(chunk, low)[0].astype(float)

    def one(e: Any) -> dict[str, Array]:
        F = family.recipe(*parts(e))[0].astype(float)
        a, bound = many.solve(gram(F.T) / batch.n, y, penalties, form.penalties, blocked=form.blocked)
        return _fitted(a @ F / batch.n, penalties**2 * jnp.mean(a**2, axis=1), bound, penalties)

    return _each(one, len(family), at_once=form.members)


def _fitted(b: Array, error: Array, bound: Array, penalties: Array) -> dict[str, Array]:
    objective = error + penalties * jnp.sum(b**2, axis=1)
    found = {"coefficients": b, "train_error": error, "train_objective": objective, "condition": bound}
    return {name: value[None] for name, value in found.items()}


def _tested(
    run: Run, family: NetworkFeatures, lows: list[LinearPart | None], b: Array, form: RunForm
) -> dict[str, Array]:
    """The sums over the test samples of the squared and fourth-power error of every member, linear part and penalty."""
    recipe: Recipe = family.recipe

    def add(sums: tuple[Array, Array], chunk: Chunk) -> tuple[Array, Array]:
        parts, y = family.parts(chunk), tuple(left_over(chunk, low) for low in lows)
        squares, fourths = _each(
            lambda e, b: error_sums(parts(e), y, b, recipe=recipe), len(family), b, at_once=form.members
        )
        return sums[0] + squares, sums[1] + fourths

    zero = jnp.zeros((b.shape[0], len(lows), *b.shape[1:3]))
    sums = run.batches.fold(draw.test_batch(form.n_test), add, (zero, zero))
    return {name: jnp.swapaxes(x, 1, 2) for name, x in zip(("squares", "fourths"), sums, strict=True)}


def part(run: Run, form: RunForm) -> tuple[dict[str, Any], np.ndarray]:
    """Measure one group of seeds, (E, S, ...) each; and the seeds whose ridge problem needs more care than this."""
    etas, penalties = arguments(run.setting)
    seeds = jnp.asarray(np.array(run.seeds, np.uint64))
    found = jax.device_get(program(seeds, jnp.asarray(etas), jnp.asarray(penalties), form=form))
    found = {name: np.moveaxis(np.asarray(value, float), 0, 1) for name, value in found.items()}
    numbers: dict[str, Any] = {"notes": []} | seen(run, {name: found[name] for name in GEOMETRY})
    risk, error = averaged(found["squares"], found["fourths"], form.n_test)
    numbers |= {"risk": risk[:, :, 0], "risk_se": error[:, :, 0]}
    numbers |= {"printed": risk[:, :, 1]} if form.printed else {}
    run.tick(run.plan.work)
    if "condition" not in found:
        return numbers, np.zeros(0, int)
    numbers |= {name: found[name] for name in ("train_error", "train_objective")}
    numbers["penalty"] = np.broadcast_to(penalties, found["condition"].shape)
    if "gap" in found:
        numbers["notes"].append(tf32.sentence(found["gap"], found["residual"]))
    trusted = found["condition"] * np.finfo(float).eps < TRUST  # not of NaN
    return numbers, np.flatnonzero(~np.all(trusted, axis=(0, 2)))
