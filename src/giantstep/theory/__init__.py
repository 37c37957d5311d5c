"""theory(setting): what ridge regression on the features after one giant step will measure, without simulating."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, overload

import numpy as np

from giantstep import measure
from giantstep._given.callable import callable_module
from giantstep._given.declared import a, given, one_of
from giantstep._given.plain import flag
from giantstep.experiment.setting import Setting
from giantstep.results import system as _system
from giantstep.results._far_step import far_move
from giantstep.results.outcome import Outcome, Status
from giantstep.results.system import Finding, System
from giantstep.theory import _tails as tails
from giantstep.theory import kernel
from giantstep.theory._answer import Answer, beyond
from giantstep.theory._coverage import check_theory, route
from giantstep.theory._derivatives import theory_errors
from giantstep.theory.equivalent_inputs import equivalent_inputs
from giantstep.theory.limits._deflated_step import deflated_step
from giantstep.theory.limits._predict import random_features, staircase
from giantstep.theory.mixtures._predict import COUNT, checked, mixed
from giantstep.theory.narrow._predict import narrow_network
from giantstep.theory.narrow.evolution import Evolution, evolution
from giantstep.theory.narrow.one_pass_sgd import sgd
from giantstep.theory.one_step._own_batch import own_batch
from giantstep.theory.one_step._predict import LONG, finite, unsolved
from giantstep.theory.one_step.parameters import Parameters, parameters
from giantstep.theory.one_step.spectrum import Law, Outlier
from giantstep.theory.optimal import Optimum, optimal
from giantstep.theory.pairs._predict import paired
from giantstep.theory.sgd_readout import predict
from giantstep.theory.sgd_readout.predict import parts
from giantstep.theory.steps._predict import several
from giantstep.theory.steps.spectrum import spectrum
from giantstep.theory.two_steps.predict import SecondStep, second_step

REGIMES = ("finite", "limit")
ROUTES: dict[str, Callable[[Setting], Answer]] = {
    "random features": random_features,
    "one step": finite,
    "own batch": own_batch,
    "rows": several,
    "one batch": several,
    "pairs": paired,
    "terms": deflated_step,
    "overlaps": narrow_network,
    "mixture": mixed,
    "sgd": predict.predicted,
    "limit": staircase,
}


@overload
def theory(setting: System) -> Finding: ...
@overload
def theory(setting: Setting, regime: str = "finite", *, spectrum: bool = False, nodes: int = COUNT) -> Outcome: ...
@given(setting=a(Setting, System), regime=one_of(*REGIMES), spectrum=flag, nodes=checked)
def theory(
    setting: Setting | System, regime: str = "finite", *, spectrum: bool = False, nodes: int = COUNT
) -> Outcome | Finding:
    """Predict the errors, and with ``spectrum`` the spectrum, of giant steps and a readout.

    Args:
        setting: the experiment on isotropic Gaussian data: any number of steps on fresh batches and a target of up to six
            directions at any width, also in symmetric networks; after one step the readout may use its batch. On a mixture or
            a data set: one step or none, a target of one direction or by component. An SGD readout: random features on any
            data and of any target, or after steps on N(0, I) data with fresh samples. A system gives a Finding.
        regime: "finite" is the conditional theory at the setting's own sizes and step sizes; "limit" the published staircase,
            n to infinity inside the regime that the exponent of the step size falls into.
        spectrum: also the bulk edge and the number of outliers (``theory.spectrum`` has the whole law); not on a mixture.
        nodes: Sobol points, a power of two, for a mixture with more than three coordinates to condition on; their error, which
            ``test_error_se`` says, falls about as one over them, and the time grows as their cube.

    Examples:
        >>> s = gs.presets.moniri(n=400, d=200, N=300, alpha=[0.0, 0.4], penalty=0.1)
        >>> p = gs.theory(s)
        >>> p.axes, p.test_error_band.shape
        (('eta',), (2, 2))
        >>> bool(p.test_error[1] < p.test_error[0])  # the step helps
        True
    """
    if isinstance(setting, System):
        _system.refuse_options(setting, theory, regime=regime, spectrum=spectrum, nodes=nodes)
        return _system.predicted(setting)
    check_theory(setting, regime, spectrum=spectrum)
    start = time.perf_counter()
    own = route(setting, regime)
    answer = mixed(setting, count=nodes) if own == "mixture" else ROUTES[own](setting)
    values, notes = answer.values, answer.notes
    failed = unsolved(answer.residual)
    doubts = [*failed, *answer.doubts, *(beyond(setting) if own != "overlaps" else [])]
    if not np.all(np.isfinite(values.get("null_level", 0.0))):  # in one dimension there is no other direction
        del values["null_level"]
    known = all(np.all(np.isfinite(values[k])) for k in ("test_error", "train_error") if k in values)
    if spectrum and own not in ("overlaps", "mixture"):
        fields, lost = _spectra(setting)
        values, doubts = values | fields, [*doubts, *lost]
    if regime == "finite":
        narrow = own == "overlaps"
        width = values.get("doubt", tails.half_width("test_error", setting, narrow=narrow))
        told = tails.told(setting, float(np.max(width)), narrow=narrow)
        far = far_move(values.get("moved", 0.0))
        notes, doubts = [*notes, *told.notes], [*doubts, *told.doubts, *far]
    met = {"converged": not failed, "short step": np.max(values.get("moved", 0.0)) <= LONG}
    status = Status(known and not doubts, (*doubts, *notes), tuple(name for name, holds in met.items() if not holds))
    outcome = _outcome(setting, values, status, time.perf_counter() - start)
    return replace(outcome, regime="limit" if own == "limit" else "finite")


def _spectra(setting: Setting) -> tuple[dict[str, Any], list[str]]:
    """The bulk edge and the number of outliers that a finite spectrum shows, for every step size, and a sentence where double
    precision does not know the smallest."""
    laws = spectrum(setting, density=False)
    laws = laws if isinstance(laws, tuple) else (laws,)
    count = min(setting.protocol.readout_size, setting.p)
    visible = [sum(o.position > law.edge * (1 + measure.margin(count)) for o in law.outliers) for law in laws]
    lost = any(np.any(np.isnan(o.alignments)) for law in laws for o in law.outliers)
    notes = ["Double precision does not know outliers a million times smaller than the largest."] if lost else []
    return {"bulk_edge": np.array([law.edge for law in laws]), "outliers": np.array(visible, dtype=float)}, notes


def _outcome(setting: Setting, fields: dict[str, Any], status: Status, seconds: float) -> Outcome:
    readout, steps = setting.protocol.readout, setting.protocol.steps
    assert readout is not None
    which = next((t for t, step in enumerate(steps) if step.listed), 0)  # lists move together: the first names the axis
    listed, path = any(step.listed for step in steps), isinstance(readout.path, tuple)
    drop = lambda x, keep: _number(np.asarray(x)[tuple(slice(None) if k else 0 for k in keep)])  # noqa: E731
    known = ("test_error", "test_error_se", "test_error_band", "train_error", "train_error_band", "train_objective")
    values = {k: drop(fields[k], (listed, path)) for k in known if k in fields}
    values["risk"] = _number(np.asarray(values["test_error"]) - setting.target.noise**2)
    values |= {
        k: drop(fields[k], (listed,)) for k in ("captured", "null_level", "bulk_edge", "outliers") if k in fields
    }
    values[readout.axis] = drop(fields["penalty"], (listed, False)) if readout.path == "gcv" and steps else readout.path
    if readout.path == "gcv" and not steps:
        values["penalty"] = float(fields["penalty"][0])
    eta = (
        steps[which].etas(setting.protocol.sizes()[which], setting.d, setting.p) if len(steps) == 1 or listed else None
    )
    axes = (*(("eta",) if listed else ()), *((readout.axis,) if path else ()))
    eta = None if eta is None else (tuple(eta.tolist()) if listed else float(eta))
    return Outcome(setting, "theory", axes, eta, status=status, seconds=seconds, **values)


def _number(value: np.ndarray) -> Any:
    return float(value) if np.ndim(value) == 0 else value


__all__ = [
    "Evolution",
    "Law",
    "Optimum",
    "Outlier",
    "Parameters",
    "SecondStep",
    "equivalent_inputs",
    "evolution",
    "kernel",
    "optimal",
    "parameters",
    "parts",
    "second_step",
    "sgd",
    "spectrum",
    "theory",
    "theory_errors",
]
callable_module(__name__, theory)
