"""simulate(setting, seed): what a finite network does, measured."""

import re
import sys
import time
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from giantstep import measure
from giantstep._backend import jnp
from giantstep._callable import callable_module
from giantstep._errors import InputError
from giantstep._record import choice, whole
from giantstep._watchdog import watchdog
from giantstep.outcome import Outcome, Status
from giantstep.setting import Setting
from giantstep.simulate import dense
from giantstep.simulate.plan import Plan, make_plan

MAX_SEEDS = 10**6  # in one call
SLOW = 1e11  # operations from which a progress bar is worth showing, a few seconds on two cores
SLOWEST_RATE = 2e8  # operations a second below which a run is taken to be stuck


def simulate(
    setting: Setting,
    seed: int | Iterable[int] = 0,
    *,
    method: str = "auto",
    n_test: int = 10_000,
    spectrum: bool = False,
    dtype: str = "float64",
    memory: float | None = None,
    progress: bool | None = None,
) -> Outcome:
    """Draw the network and the data, take the giant steps, fit the readout, and measure.

    Args:
        setting: the experiment.
        seed: a whole number, or several (a range or list): the outcome then has a seed axis.
        method: "dense" draws everything in d dimensions; "auto" picks the best method there is.
        n_test: number of test samples.
        spectrum: also the singular values of ``F / sqrt(n)``, their bulk edge and outliers.
        dtype: "float64", or "float32" for the matrix products (sums and the ridge fit stay in float64).
        memory: GiB to stay within; by default a share of what is free.
        progress: show a progress bar on stderr; by default on a terminal when the work takes a while.
    """
    _check(setting, "simulate")
    if spectrum and setting.protocol.readout is None:
        raise InputError("spectrum=True needs a readout: the features are taken on its samples")
    choice(method, ("auto", "dense"), "method")
    choice(dtype, ("float64", "float32"), "dtype")
    n_test = whole(n_test, "n_test", least=2)
    seeds, several = _seeds(seed)
    start = time.perf_counter()
    plan = make_plan(setting, len(seeds), n_test, 8 if dtype == "float64" else 4, memory)
    groups = [seeds[i : i + plan.seeds] for i in range(0, len(seeds), plan.seeds)]
    parts = []
    with _progress(progress, plan.work * len(seeds)) as tick:
        for group in groups:
            count = len(group)
            run = dense.Run(setting, group, plan, jnp.dtype(dtype), lambda work, count=count: tick(work * count))
            with watchdog(f"the simulation of {len(group)} seed(s)", 60 + len(group) * plan.work / SLOWEST_RATE):
                parts.append(_measured(run, n_test, spectrum))
    return _outcome(setting, seeds, several, parts, time.perf_counter() - start)


def _check(setting: Any, verb: str) -> None:
    if not isinstance(setting, Setting):
        raise InputError(f"{verb} takes a Setting, not {type(setting).__name__}")


def _seeds(seed: Any) -> tuple[tuple[int, ...], bool]:
    if isinstance(seed, str):
        raise InputError(f"seed must be a whole number or a list of them, not the text {seed!r}")
    several = isinstance(seed, Iterable)
    if isinstance(seed, Sized) and len(seed) > MAX_SEEDS:
        raise InputError(f"at most {MAX_SEEDS} seeds are run at once, not {len(seed)}")
    seeds = tuple(whole(s, "seed", least=0) for s in (seed if several else (seed,)))
    if not seeds or len(set(seeds)) < len(seeds):
        raise InputError("seed must be a whole number or a non-empty list of different ones")
    return seeds, several


@contextmanager
def _progress(wanted: bool | None, work: float) -> Iterator[Any]:
    """A function to call with the operations done; a bar on stderr if wanted."""
    if not (sys.stderr.isatty() and work > SLOW if wanted is None else wanted):
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("simulating", total=work)
        yield lambda done: bar.advance(task, done)


def _measured(run: dense.Run, n_test: int, spectrum: bool) -> dict[str, Any]:
    """Everything of one group of seeds as arrays (E, S, L, ...), and the sentences of the fits."""
    setting = run.setting
    trained = dense.train(run)
    a, layers = trained.a, trained.layers
    found: dict[str, Any] = {"notes": []}
    if setting.protocol.readout is None:
        own = np.asarray(a, dtype=float)[:, None, :] * setting.network.factor
        coefficients = [own] * len(layers)
    else:
        fits = dense.fit(run, layers, spectrum)
        coefficients = [f.coefficients for f in fits]
        for name in ("train_error", "train_objective", "penalty"):
            found[name] = np.stack([getattr(f, name) for f in fits])
        if spectrum:
            found["squares"] = np.stack([np.asarray(f.squares) for f in fits])
        found["notes"] = [note for f in fits for note in f.notes]
    found["risk"], found["risk_se"] = dense.test(run, layers, coefficients, n_test)
    seen = dense.learned(run, layers)
    found["overlaps"] = seen["overlaps"]
    found["null_level"] = np.mean(1 - seen["inside"], axis=2) / max(setting.d - setting.target.rank, 1)
    independent = setting.p // 2 if setting.network.symmetric else setting.p  # a pair starts from one draw
    found["captured"], found["captured_se"] = measure.mean_and_error(seen["shares"], axis=2)
    found["captured_se"] = found["captured_se"] * np.sqrt(setting.p / independent)
    return found


def _outcome(setting: Setting, seeds: tuple[int, ...], several: bool, parts: list[dict], seconds: float) -> Outcome:
    """Join the groups and drop the axes that were not asked for."""
    protocol = setting.protocol
    etas = protocol.etas(setting.d, setting.p)
    readout = protocol.readout
    lists = [t for t, step in enumerate(protocol.steps) if step.listed]
    path = readout is not None and isinstance(readout.penalty, tuple)
    axes = (*(("eta",) if lists else ()), *(("penalty",) if path else ()), *(("seed",) if several else ()))
    joined = {k: np.concatenate([p[k] for p in parts], axis=1) for k in parts[0] if k != "notes"}

    def errors(array: np.ndarray) -> Any:  # (E, S, L) -> (E, L, S), unused axes dropped
        return _drop(np.moveaxis(array, 2, 1), (bool(lists), path, several))

    def layers(array: np.ndarray) -> Any:  # (E, S, ...)
        return _drop(array, (bool(lists), several))

    values: dict[str, Any] = {
        k: errors(joined[k]) for k in ("risk", "risk_se", "train_error", "train_objective") if k in joined
    }
    values["test_error"] = errors(joined["risk"] + setting.target.noise**2)
    values["test_error_se"] = values["risk_se"]
    values |= {k: layers(joined[k]) for k in ("overlaps", "captured", "captured_se", "null_level")}
    if "squares" in joined:
        singular = np.sqrt(np.maximum(joined["squares"], 0.0))
        values["singular_values"] = layers(singular)
        if singular.shape[-1] >= measure.FEWEST and np.all(np.isfinite(singular)):
            values["bulk_edge"] = layers(np.apply_along_axis(measure.bulk_edge, -1, singular))
            values["outliers"] = layers(np.apply_along_axis(lambda v: len(measure.outliers(v)), -1, singular))
    if readout is not None:
        values["penalty"] = layers(joined["penalty"][:, :, 0]) if readout.penalty == "gcv" else readout.penalty
    notes = _merged([note for part in parts for note in part["notes"]])
    finite = all(
        np.all(np.isfinite(v)) for k, v in values.items() if k in ("risk", "train_error", "overlaps", "captured")
    )
    if not finite:
        notes.insert(0, "some numbers are not finite: the step size or the weights overflow")
    eta = tuple(np.atleast_2d(etas)[:, lists[0]].tolist()) if lists else (float(etas[0]) if etas.size == 1 else None)
    return Outcome(
        setting, "simulate", axes, eta, seeds=seeds if several else None, seconds=seconds,
        status=Status(finite, tuple(notes)), **values,
    )  # fmt: skip


def _merged(notes: list[str]) -> list[str]:
    """One sentence of each kind (they differ in their numbers), with how often it was said."""
    kinds: dict[str, list[str]] = {}
    for note in notes:
        kinds.setdefault(re.sub(r"[-+.e\d]+", "#", note), []).append(note.rstrip("."))
    return [said[0] if len(said) == 1 else f"{said[0]} (and {len(said) - 1} more such)" for said in kinds.values()]


def _drop(array: np.ndarray, keep: tuple[bool, ...]) -> Any:
    index = tuple(slice(None) if k else 0 for k in keep)
    result = array[index]
    return result.item() if np.ndim(result) == 0 else result


@dataclass(frozen=True)
class Trained:
    """The weights of one seed.

    Attributes:
        initial: W before the first step (p x d).
        second_layer: a (p).
        descent: minus the gradient of the first step (p x d); None without steps.
        final: W after all steps; a first axis of step sizes when the protocol lists them.
    """

    initial: np.ndarray
    second_layer: np.ndarray
    descent: np.ndarray | None
    final: np.ndarray


def train(setting: Setting, seed: int = 0, *, memory: float | None = None) -> Trained:
    """The weights themselves, for measurements of one's own; the readout and the test are left out."""
    _check(setting, "train")
    seed = whole(seed, "seed", least=0)
    plan: Plan = make_plan(setting, 1, 2, 8, memory)
    found = dense.train(dense.Run(setting, (seed,), plan, jnp.dtype("float64"), lambda work: None))
    several = any(step.listed for step in setting.protocol.steps)
    final = np.stack([np.asarray(found.layers[e][0]) for e in range(len(found.layers))])
    descent = None if found.descent is None else np.asarray(found.descent[0])
    return Trained(np.asarray(found.W0[0]), np.asarray(found.a[0]), descent, final if several else final[0])


__all__ = ["Trained", "simulate", "train"]
callable_module(__name__, simulate)
