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
from giantstep.equivalent import prepared as prepared_model
from giantstep.experiment.setting import Setting
from giantstep.lab.compare.comparison import COMPARED, Comparison, ComparisonRow, Gap, Prediction
from giantstep.results.outcome import Outcome
from giantstep.simulate import prepared, simulate
from giantstep.theory import REGIMES, Law, theory
from giantstep.theory import spectrum as predicted_spectrum
from giantstep.theory._coverage import check_spectrum, check_theory

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
        setting: an experiment that ``theory`` covers. What a route refuses is refused before anything runs.
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
    _check(setting, spectrum=spectrum)
    work: Any = {"n_test": n_test, "dtype": dtype, "memory": memory, "progress": progress, "spectrum": spectrum}
    method = "auto" if equivalent is None else "dense"  # an equivalent model runs on the draws of the dense route
    prepared(setting, seed, method=method, **work)  # what a route refuses is refused before any of them runs
    if equivalent is not None:
        prepared_model(setting, equivalent, seed, **work)
    predicted = predict(setting, spectrum=spectrum)
    simulated = simulate(setting, seed, method=method, **work)
    modelled = None if equivalent is None else _equivalent(setting, equivalent, seed, **work)
    rows = _rows(predicted.theory, simulated.mean(), None if modelled is None else modelled.mean())
    return Comparison(setting, rows, predicted, simulated, modelled)


@given(setting=a(Setting), regime=one_of(*REGIMES), spectrum=flag)
def predict(setting: Setting, regime: str = "finite", *, spectrum: bool = False) -> Prediction:
    """Compute the theory, and the spectra if asked for; the curve of a plot is computed when it is drawn."""
    _check(setting, regime, spectrum=spectrum)
    here = theory(setting, regime)
    if not spectrum:
        return Prediction(here)
    laws = predicted_spectrum(setting)
    laws = laws if isinstance(laws, tuple) else (laws,)
    return Prediction(_with_laws(here, laws), laws)


def _check(setting: Setting, regime: str = "finite", *, spectrum: bool) -> None:
    """Refuse, in one sentence, what the theory of the errors or that of the spectrum does not cover."""
    check_theory(setting, regime, spectrum=spectrum)
    if spectrum:
        check_spectrum(setting)


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
        gaps = {name: _gap(name, at, predicted, measured, modelled) for name in COMPARED}
        eta, rate = (_value(getattr(measured, axis), at, axis) for axis in ("eta", "rate"))
        penalties = [_value(o.penalty, at, "penalty") for o in (measured, predicted)]
        rows.append(ComparisonRow(eta, penalties[0], penalties[1], rate=rate, **gaps))
    return tuple(rows)


def _value(values: Any, at: dict[str, int], axis: str) -> float | None:
    """A step size, penalty or rate: one for all rows, one along its own axis, or, with gcv, one for each step size."""
    if values is None or np.ndim(values) == 0:
        return None if values is None else float(values)
    return float(values[at[axis if axis in at else "eta"]])


def _gap(name: str, at: dict[str, int], predicted: Outcome, measured: Outcome, modelled: Outcome | None) -> Gap | None:
    """The gap of a measure, or None if it is not both measured and predicted; ``at`` is a place on every axis."""

    def entry(o: Outcome | None, field: str) -> Any:
        value = None if o is None else getattr(o, field, None)
        return None if o is None or value is None else np.asarray(value)[tuple(at[axis] for axis in o.axes)].tolist()

    value, guess = entry(measured, name), entry(predicted, name)
    if value is None or guess is None:
        return None
    band, model = entry(predicted, f"{name}_band"), [entry(modelled, each) for each in (name, f"{name}_se")]
    return Gap(value, entry(measured, f"{name}_se"), guess, *model, band=None if band is None else tuple(band))


callable_module(__name__, compare)
