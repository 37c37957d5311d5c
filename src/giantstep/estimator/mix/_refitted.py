"""Readouts fitted again: other rows choose the penalties and the mix, and the learned features stay.

The first layer, the coordinates, the landmarks and the trees are taken over. No label of the new rows was used for them, so that
the leave-one-out residual of a new row is that of a row which the model has not seen, and no row has to be held out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from giantstep._machine.device import HOST
from giantstep.errors import InputError
from giantstep.estimator.kernels._kernel_search import mapped, some_rows
from giantstep.estimator.mix._ensemble import EnsembleMember, TreeMember
from giantstep.estimator.mix._stack import stacked
from giantstep.estimator.steps._search import FINE, NEAR, Wanted, judge, solved, whole_stage
from giantstep.estimator.steps.network import Table

__all__ = ["JUDGES", "Refitted", "refitted"]

JUDGES = 2000  # rows whose leave-one-out errors choose; all rows are fitted


@dataclass(frozen=True)
class Refitted:
    """The models with their new weights, the penalties of their readouts by name, and the leave-one-out residuals of ``rows``."""

    members: tuple[EnsembleMember | TreeMember, ...]
    penalties: dict[str, float]
    residuals: Float[np.ndarray, "m k"]
    rows: Int[np.ndarray, " m"]


def refitted(members: Sequence[EnsembleMember | TreeMember], table: Table, wanted: Wanted) -> Refitted:
    """Fit the readouts of the models to a table in their scaled columns, on the host."""
    rows = some_rows(len(table), JUDGES)
    judges = table.take(rows)
    new, residuals, penalties = [], [], {}
    for member in members:
        if isinstance(member, TreeMember):
            residuals.append(judges.Y - replace(member, weight=1.0).outputs(judges.X))
            new.append(member)
            continue
        again, penalties[member.name], left = _readout(member, table, rows, wanted)
        new.append(again)
        residuals.append(left)
    weights = stacked(residuals, judges.weights)
    mixed = sum(a * r for a, r in zip(weights, residuals, strict=True) if a > 0)
    kept = tuple(replace(each, weight=float(a)) for each, a in zip(new, weights, strict=True))
    return Refitted(kept, penalties, np.asarray(mixed), rows)


def _readout(
    member: EnsembleMember, table: Table, rows: Int[np.ndarray, " m"], wanted: Wanted
) -> tuple[EnsembleMember, float, Float[np.ndarray, "m k"]]:
    """The model with a new readout, its penalty, and the leave-one-out residuals of the judges."""
    inside, layer = table if member.L is None else mapped(table, member.L), member.layer.for_fits()
    stages = [whole_stage(inside, rows, layer, HOST)]
    point = judge(stages, judge(stages, NEAR, wanted, HOST).decade, wanted, HOST, FINE)
    fitted, penalty = solved(stages[0].of_all, point.decade, wanted, HOST)
    if not fitted.finite:
        raise InputError(f"the readout cannot be solved at penalty {penalty:.3g}: give a larger one")
    return replace(member, layer=layer, fitted=fitted).on_host(), penalty, point.residuals[0]
