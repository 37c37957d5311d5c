"""The solver of the ridge problem: a factorisation, or conjugate gradients if no factorisation fits in memory."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from giantstep._training.plan import Plan
from giantstep.errors import InputError
from giantstep.experiment.protocol import SGD
from giantstep.experiment.setting import Setting

SOLVERS = ("auto", "direct", "cg")
CHOSEN = "The factorisation of the ridge problem does not fit into the memory allowed, so solver='cg' was used."


def check(setting: Setting, spectrum: bool) -> None:
    """Refuse a problem that conjugate gradients cannot solve."""
    readout = setting.protocol.readout
    if readout is None:
        raise InputError("solver='cg' needs a readout: without one there is no ridge problem")
    if isinstance(readout, SGD):
        raise InputError("solver= is an option of a ridge readout: an SGD readout solves no ridge problem")
    if readout.penalty == "gcv":
        raise InputError(
            "solver='cg' needs given penalties: penalty='gcv' searches on the factorisation of solver='direct'"
        )
    if np.min(np.asarray(readout.penalty)) == 0:
        raise InputError(
            "solver='cg' needs positive penalties: the minimum-norm fit at penalty 0 needs solver='direct'"
        )
    if spectrum:
        raise InputError("solver='cg' does not compute a spectrum: spectrum=True needs solver='direct'")


def planner(plan: Callable[..., Plan], solver: str, setting: Setting, spectrum: bool) -> Callable[..., Plan]:
    """A planner with that solver; "auto" is "direct" if it fits in memory, otherwise "cg"."""
    if solver == "cg":
        check(setting, spectrum)
    return partial(_either, plan, spectrum) if solver == "auto" else partial(plan, solver=solver)


def _either(plan: Callable[..., Plan], spectrum: bool, setting: Setting, *sizes: Any) -> Plan:
    try:
        return plan(setting, *sizes, solver="direct")
    except InputError as refused:
        try:
            check(setting, spectrum)
            return plan(setting, *sizes, solver="cg")
        except InputError:
            raise refused from None
