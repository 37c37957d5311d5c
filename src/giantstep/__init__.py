"""giantstep: the laboratory for feature learning in two-layer networks.

Describe a data law, a target, a network and a few giant gradient steps once, as a ``Setting``; ``simulate`` measures what
a finite network does with it. Names are loaded when first used, so that what needs no JAX does not import it.
"""

import os
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # read when NumPy is loaded: see _blas

if TYPE_CHECKING:
    from giantstep import mean_field as mean_field
    from giantstep import presets as presets
    from giantstep import system as system
    from giantstep._errors import InputError as InputError
    from giantstep._errors import MissingData as MissingData
    from giantstep.activation import activation as activation
    from giantstep.attack import Attack as Attack
    from giantstep.attack import attack as attack
    from giantstep.bounds import Bounds as Bounds
    from giantstep.data import Gaussian as Gaussian
    from giantstep.dataset import Dataset as Dataset
    from giantstep.early import Early as Early
    from giantstep.equivalent import equivalent as equivalent
    from giantstep.explain import explain as explain
    from giantstep.finding import Finding as Finding
    from giantstep.kernel import FunctionSpace as FunctionSpace
    from giantstep.lab.run import sweep as sweep
    from giantstep.labels import labels as labels
    from giantstep.mean_field import MeanField as MeanField
    from giantstep.mixture import Component as Component
    from giantstep.mixture import Mixture as Mixture
    from giantstep.mixture import Spike as Spike
    from giantstep.network import Network as Network
    from giantstep.outcome import Outcome as Outcome
    from giantstep.plot import plot as plot
    from giantstep.protocol import SGD as SGD
    from giantstep.protocol import GiantStep as GiantStep
    from giantstep.protocol import Protocol as Protocol
    from giantstep.protocol import Ridge as Ridge
    from giantstep.protocol import power as power
    from giantstep.ridge import ridge as ridge
    from giantstep.setting import Setting as Setting
    from giantstep.simulate import simulate as simulate
    from giantstep.target import target as target
    from giantstep.theory import optimal as optimal
    from giantstep.theory import theory as theory
    from giantstep.theory import theory_errors as theory_errors

try:
    __version__ = version("giantstep")
except PackageNotFoundError:  # a source tree that is not installed
    __version__ = "0"

_HOME = {
    "InputError": "_errors",
    "MissingData": "_errors",
    "Gaussian": "data",
    "Dataset": "dataset",
    "MeanField": "mean_field",
    "Mixture": "mixture",
    "Component": "mixture",
    "Spike": "mixture",
    "Network": "network",
    "GiantStep": "protocol",
    "Ridge": "protocol",
    "SGD": "protocol",
    "Protocol": "protocol",
    "power": "protocol",
    "Setting": "setting",
    "Outcome": "outcome",
    "Finding": "finding",
    "Early": "early",
    "FunctionSpace": "kernel",
    "Attack": "attack",
    "Bounds": "bounds",
    "sweep": "lab.run",
    "optimal": "theory",
    "theory_errors": "theory",
}
# Some are verbs: see _callable.
_MODULES = (
    "activation",
    "attack",
    "equivalent",
    "explain",
    "labels",
    "mean_field",
    "measure",
    "plot",
    "presets",
    "ridge",
    "simulate",
    "system",
    "target",
    "theory",
)

__all__ = ["__version__", *_HOME, *_MODULES]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"giantstep.{name}")
    if name in _HOME:
        return getattr(import_module(f"giantstep.{_HOME[name]}"), name)
    raise AttributeError(f"module 'giantstep' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
