# The public names, listed once: __init__.py reads the imports of this file and loads a name when it is first used.
# A name that comes from a module of its own name is a verb: the module itself can be called. Those with a leading underscore
# have more inside, as the classes at the end describe.
from collections.abc import Iterable
from typing import Any, overload

import giantstep.equivalent as __equivalent
import giantstep.plot as __plot
import giantstep.simulate as __simulate
import giantstep.theory as __theory
import giantstep.theory.kernel as __kernel
from giantstep import measure as measure
from giantstep import systems as systems
from giantstep.equivalent import equivalent as _equivalent
from giantstep.errors import InputError as InputError
from giantstep.errors import MissingData as MissingData
from giantstep.experiment import presets as presets
from giantstep.experiment.data import Gaussian as Gaussian
from giantstep.experiment.dataset import Dataset as Dataset
from giantstep.experiment.labels import labels as labels
from giantstep.experiment.mixture import Component as Component
from giantstep.experiment.mixture import Mixture as Mixture
from giantstep.experiment.mixture import Spike as Spike
from giantstep.experiment.network import Network as Network
from giantstep.experiment.protocol import SGD as SGD
from giantstep.experiment.protocol import GiantStep as GiantStep
from giantstep.experiment.protocol import Protocol as Protocol
from giantstep.experiment.protocol import Ridge as Ridge
from giantstep.experiment.protocol import power as power
from giantstep.experiment.setting import Setting as Setting
from giantstep.experiment.target import target as target
from giantstep.explain import explain as explain
from giantstep.functions.activation import activation as activation
from giantstep.lab.sweep.run import sweep as sweep
from giantstep.plot import plot as _plot
from giantstep.results.outcome import Outcome as Outcome
from giantstep.results.system import Finding as Finding
from giantstep.results.system import System
from giantstep.ridge import ridge as ridge
from giantstep.simulate import simulate as _simulate
from giantstep.systems import mean_field as mean_field
from giantstep.systems.attack import Attack as Attack
from giantstep.systems.attack import attack as attack
from giantstep.systems.bounds import Bounds as Bounds
from giantstep.systems.early import Early as Early
from giantstep.systems.function_space import FunctionSpace as FunctionSpace
from giantstep.systems.mean_field import MeanField as MeanField
from giantstep.theory import optimal as optimal
from giantstep.theory import theory as _theory
from giantstep.theory import theory_errors as theory_errors

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
    ) -> Outcome: ...
    Trained = __simulate.Trained
    deflated_errors = staticmethod(__simulate.deflated_errors)
    evolution = staticmethod(__simulate.evolution)
    network = staticmethod(__simulate.network)
    parts = staticmethod(__simulate.parts)
    sgd = staticmethod(__simulate.sgd)
    train = staticmethod(__simulate.train)

class _Equivalent:
    __call__ = staticmethod(_equivalent)
    degree_of = staticmethod(__equivalent.degree_of)

class _Theory:
    @overload
    def __call__(self, setting: System) -> Finding: ...
    @overload
    def __call__(
        self, setting: Setting, regime: str = "finite", *, spectrum: bool = False, nodes: int = 256
    ) -> Outcome: ...
    Evolution = __theory.Evolution
    Law = __theory.Law
    Optimum = __theory.Optimum
    Outlier = __theory.Outlier
    Parameters = __theory.Parameters
    SecondStep = __theory.SecondStep
    evolution = staticmethod(__theory.evolution)
    kernel = staticmethod(__kernel.kernel)
    optimal = staticmethod(__theory.optimal)
    parameters = staticmethod(__theory.parameters)
    parts = staticmethod(__theory.parts)
    second_step = staticmethod(__theory.second_step)
    sgd = staticmethod(__theory.sgd)
    spectrum = staticmethod(__theory.spectrum)
    theory_errors = staticmethod(__theory.theory_errors)

class _Plot:
    __call__ = staticmethod(_plot)
    svg = staticmethod(__plot.svg)

simulate: _Simulate
equivalent: _Equivalent
theory: _Theory
plot: _Plot
system = systems  # an older name
__version__: str
