# For type checkers: verbs that can be called and have more inside. There is no such module at run time.
from collections.abc import Iterable
from typing import Any, overload

import giantstep.equivalent as _equivalent
import giantstep.plot as _plot
import giantstep.simulate as _simulate
import giantstep.theory as _theory
import giantstep.theory.kernel as _kernel
from giantstep.experiment.setting import Setting
from giantstep.results.outcome import Outcome
from giantstep.results.system import Finding, System

class _Simulate:
    @overload
    def __call__(self, setting: System, seed: int | Iterable[int] = 0) -> Finding: ...
    @overload
    def __call__(
        self,
        setting: Setting,
        seed: int | Iterable[int] = 0,
        *,
        method: str = "auto",
        n_test: int = 10_000,
        spectrum: bool = False,
        dtype: str = "float64",
        memory: float | None = None,
        progress: bool | None = None,
        solver: str = "auto",
        devices: Any = None,
        random: str = "auto",
        precision: str = "full",
    ) -> Outcome: ...
    Trained = _simulate.Trained
    deflated_errors = staticmethod(_simulate.deflated_errors)
    evolution = staticmethod(_simulate.evolution)
    network = staticmethod(_simulate.network)
    parts = staticmethod(_simulate.parts)
    sgd = staticmethod(_simulate.sgd)
    train = staticmethod(_simulate.train)

class _Equivalent:
    __call__ = staticmethod(_equivalent.equivalent)
    degree_of = staticmethod(_equivalent.degree_of)

class _Theory:
    @overload
    def __call__(self, setting: System) -> Finding: ...
    @overload
    def __call__(
        self, setting: Setting, regime: str = "finite", *, spectrum: bool = False, nodes: int = 256
    ) -> Outcome: ...
    Evolution = _theory.Evolution
    Law = _theory.Law
    Optimum = _theory.Optimum
    Outlier = _theory.Outlier
    Parameters = _theory.Parameters
    SecondStep = _theory.SecondStep
    evolution = staticmethod(_theory.evolution)
    kernel = staticmethod(_kernel.kernel)
    optimal = staticmethod(_theory.optimal)
    parameters = staticmethod(_theory.parameters)
    parts = staticmethod(_theory.parts)
    second_step = staticmethod(_theory.second_step)
    equivalent_inputs = staticmethod(_theory.equivalent_inputs)
    sgd = staticmethod(_theory.sgd)
    spectrum = staticmethod(_theory.spectrum)
    theory_errors = staticmethod(_theory.theory_errors)

class _Plot:
    __call__ = staticmethod(_plot.plot)
    svg = staticmethod(_plot.svg)

simulate: _Simulate
equivalent: _Equivalent
theory: _Theory
plot: _Plot
