"""compare(setting) puts theory, simulation and perhaps an equivalent model side by side; predict(setting) is the theory alone."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from giantstep._given.callable import callable_module
from giantstep._given.declared import a, at_least, given, number, one_of
from giantstep._given.plain import flag
from giantstep._given.seeds import seeds
from giantstep._training.job import DTYPES
from giantstep.equivalent import MODELS
from giantstep.equivalent import equivalent as _equivalent
from giantstep.errors import InputError
from giantstep.experiment.finer import finer
from giantstep.experiment.setting import Setting
from giantstep.lab.compare.comparison import COMPARED, Comparison, ComparisonRow, Gap, Prediction
from giantstep.results.outcome import SCALARS, Outcome
from giantstep.simulate import simulate
from giantstep.theory import REGIMES, Law, theory
from giantstep.theory import spectrum as predicted_spectrum
from giantstep.theory.coverage import check_theory

__all__ = ["Comparison", "Prediction", "compare", "predict"]


@given(
    setting=a(Setting),
    seed=seeds,
    equivalent=one_of(*MODELS),
    spectrum=flag,
    n_test=at_least(2),
    dtype=one_of(*DTYPES),
    memory=number(1e-3),
    progress=flag,
)
def compare(
    setting: Setting,
    seed: int | Iterable[int] = range(10),
    *,
    equivalent: str | None = None,
    spectrum: bool = False,
    n_test: int = 10_000,
    dtype: str = "float64",
    memory: float | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Predict a setting, simulate it, and compare the two.

    Args:
        setting: an experiment that ``theory`` covers; any other is refused before anything is simulated.
        seed: seeds of the simulation; standard errors are taken over them.
        equivalent: also run "gaussian", "spiked", "conditional" or "hermite" features on the same draws.
        spectrum: also the spectrum of the features, measured and predicted.
        n_test: number of test samples.
        dtype: as in ``simulate``.
        memory: GiB to stay within.
        progress: show a progress bar on stderr; by default on a terminal when the work takes a while.

    Examples:
        >>> s = gs.presets.moniri(n=80, d=40, N=60, alpha=[0.0, 0.4], penalty=0.1)
        >>> found = gs.compare(s, seed=range(3), n_test=200)
        >>> [round(row.eta, 2) for row in found.rows]  # row.test_error has the gap in percent and in standard errors
        [1.0, 5.77]
    """
    check_theory(setting, spectrum=spectrum)
    predicted = predict(setting, spectrum=spectrum)
    work: Any = {"n_test": n_test, "dtype": dtype, "memory": memory, "progress": progress, "spectrum": spectrum}
    method = "auto" if equivalent is None else "dense"  # an equivalent model runs on the draws of the dense route
    simulated = simulate(setting, seed, method=method, **work)
    modelled = None if equivalent is None else _equivalent(setting, equivalent, seed, **work)
    rows = _rows(predicted.theory, simulated.mean(), None if modelled is None else modelled.mean())
    return Comparison(setting, rows, predicted, simulated, modelled)


@given(setting=a(Setting), regime=one_of(*REGIMES), spectrum=flag, fine=flag)
def predict(setting: Setting, regime: str = "finite", *, spectrum: bool = False, fine: bool = True) -> Prediction:
    """Compute the theory and what a plot of it needs: with ``fine`` a curve between the values listed, and the spectra."""
    check_theory(setting, regime, spectrum=spectrum)
    between, index = finer(setting) if fine else (setting, None)
    outcome = theory(between, regime)
    here, curve, limit = (outcome, None, None) if index is None else (_at(outcome, setting, index), outcome, None)
    if curve is not None and setting.protocol.steps and regime == "finite":
        try:
            limit = theory(between, "limit")
        except InputError:  # there is no published limit for this network
            pass
        if limit is not None and not np.any(np.isfinite(np.asarray(limit.test_error))):
            limit = None
    if not spectrum:
        return Prediction(here, curve, limit)
    laws = predicted_spectrum(setting)
    laws = laws if isinstance(laws, tuple) else (laws,)
    return Prediction(_with_laws(here, laws), curve, limit, laws)


def _at(outcome: Outcome, setting: Setting, index: np.ndarray) -> Outcome:
    """The outcome at some places of its first axis."""
    fields = [*SCALARS, "test_error_band", "train_error_band"]
    fields += ["captured", "null_level"] if "eta" in outcome.axes else []
    values: dict[str, Any] = {
        k: np.asarray(getattr(outcome, k))[index] for k in fields if getattr(outcome, k) is not None
    }
    for axis in ("eta", "penalty", "rate"):
        value = getattr(outcome, axis)
        if isinstance(value, np.ndarray):  # penalties chosen by GCV, one a step size
            values[axis] = value[index]
        elif outcome.axes[0] == axis:
            values[axis] = tuple(value[i] for i in index)
    return replace(outcome, setting=setting, **values)


def _with_laws(outcome: Outcome, laws: tuple[Law, ...]) -> Outcome:
    """The prediction with the bulk edges of its spectra and the number of outliers that a spectrum of that size shows."""
    edges = np.array([law.edge for law in laws])
    counts = np.array([float(len(law.visible)) for law in laws])
    edge, count = (x if "eta" in outcome.axes else float(x[0]) for x in (edges, counts))
    return replace(outcome, bulk_edge=edge, outliers=count)


def _rows(predicted: Outcome, measured: Outcome, modelled: Outcome | None) -> tuple[ComparisonRow, ...]:
    keys = [a for a in measured.axes if a != "seed"]
    rows = []
    for index in np.ndindex(*(len(getattr(measured, k)) for k in keys)):
        at = dict(zip(keys, index, strict=True))
        gaps = {name: _gap(name, index, predicted, measured, modelled) for name in COMPARED}
        penalties = [_value(o.penalty, at, "penalty") for o in (measured, predicted)]
        rate = _value(measured.rate, at, "rate")
        rows.append(ComparisonRow(_value(measured.eta, at, "eta"), penalties[0], penalties[1], rate=rate, **gaps))
    return tuple(rows)


def _value(values: Any, at: dict[str, int], key: str) -> float | None:
    """A step size or penalty: one for all rows, one along its own axis, or, with gcv, one for each step size."""
    if values is None or np.ndim(values) == 0:
        return None if values is None else float(values)
    return float(values[at[key] if key in at else at["eta"]])


def _gap(name: str, index: tuple, predicted: Outcome, measured: Outcome, modelled: Outcome | None) -> Gap | None:
    """The gap of a measure, or None if it is not both measured and predicted."""

    def entry(o: Outcome | None, field: str) -> float | None:
        value = None if o is None else getattr(o, field)
        return None if value is None else float(np.asarray(value)[index])

    value, guess = entry(measured, name), entry(predicted, name)
    if value is None or guess is None:
        return None
    ends = getattr(predicted, f"{name}_band", None)
    band = None
    if ends is not None:
        low, high = np.asarray(ends)[index].tolist()
        band = low, high
    model = entry(modelled, name), entry(modelled, f"{name}_se")
    return Gap(value, entry(measured, f"{name}_se"), guess, *model, band=band)


callable_module(__name__, compare)
