# The public names, listed once: __init__.py reads this file and loads a name when it is first used.
# A name that comes from a module of its own name is a verb: the module itself can be called. Those of _verbs, which is
# for type checkers alone, have more inside.
from giantstep import measure as measure
from giantstep import systems as systems
from giantstep._verbs import equivalent as equivalent
from giantstep._verbs import plot as plot
from giantstep._verbs import simulate as simulate
from giantstep._verbs import theory as theory
from giantstep.claims.run import check as check
from giantstep.errors import InputError as InputError
from giantstep.errors import MissingData as MissingData
from giantstep.experiment import presets as presets
from giantstep.experiment.data.dataset import Dataset as Dataset
from giantstep.experiment.data.gaussian import Gaussian as Gaussian
from giantstep.experiment.data.mixture import Component as Component
from giantstep.experiment.data.mixture import Mixture as Mixture
from giantstep.experiment.data.mixture import Spike as Spike
from giantstep.experiment.labels import labels as labels
from giantstep.experiment.layers import Layers as Layers
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
from giantstep.lab.compare import compare as compare
from giantstep.lab.optimum import optimal as optimal
from giantstep.lab.sweep.run import sweep as sweep
from giantstep.results.outcome import Outcome as Outcome
from giantstep.results.system import Finding as Finding
from giantstep.ridge import ridge as ridge
from giantstep.systems import mean_field as mean_field
from giantstep.systems.attack import Attack as Attack
from giantstep.systems.attack import attack as attack
from giantstep.systems.bounds import Bounds as Bounds
from giantstep.systems.bounds import bounds as bounds
from giantstep.systems.early import Early as Early
from giantstep.systems.function_space import FunctionSpace as FunctionSpace
from giantstep.systems.mean_field import MeanField as MeanField
from giantstep.theory import theory_errors as theory_errors

system = systems  # an older name
__version__: str
