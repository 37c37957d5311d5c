"""Plans: where the coordinates of a kernel readout begin, and how gradients make new ones."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.estimator.kernels._coordinates import along_columns, along_directions
from giantstep.estimator.kernels._kernel_search import MakeMap, Map
from giantstep.estimator.steps._marginal import explained_by_columns
from giantstep.estimator.steps._search import SearchStart
from giantstep.estimator.steps._spectral import curved, transforms
from giantstep.estimator.steps.network import Table

KNOWN = 2  # coordinates that label transforms contain
FEW_COLUMNS = 64  # up to which a kernel of all columns alike can learn something

Gradients = Float[np.ndarray, "p d"]
First = Callable[[Table, Gradients, Gradients, SearchStart], Map | None]


@dataclass(frozen=True)
class FitPlan:
    """``first`` makes the first coordinates from a table and the gradients of the network with their null (None: there are none
    that differ from those of other plans); ``make`` makes the next ones."""

    name: str
    first: First
    make: MakeMap


def turned(g: Gradients, null: Gradients, own: Float[np.ndarray, " d"]) -> Map:
    return along_directions(g, 0 * null)


def of_columns(g: Gradients, null: Gradients, own: Float[np.ndarray, " d"]) -> Map:
    """Columns that the fit uses keep what it says about them; others must be above chance."""
    return along_columns(np.maximum(own, (g**2).sum(axis=0) - (null**2).sum(axis=0).max()), 0.0)


def of_single_columns(table: Table, g: Gradients, null: Gradients, start: SearchStart) -> Map:
    """What the network and every column by itself say, in equal parts."""
    shares = np.maximum((g**2).sum(axis=0) - (null**2).sum(axis=0).max(), 0.0), explained_by_columns(table)
    return along_columns(np.sum([share / (share.sum() or 1.0) for share in shares], axis=0), 0.0)


def of_directions(table: Table, g: Gradients, null: Gradients, start: SearchStart) -> Map:
    """The directions of the network and those along which transformed labels are curved, in equal parts."""
    L = along_directions(g, null)
    known = L[:, :KNOWN] / np.linalg.norm(L[:, :KNOWN], axis=0)
    rows = curved(table, transforms(table, known), start.covariance, np.random.default_rng(0), start.where)
    if not len(rows):
        return L
    both = np.concatenate([L.T / np.linalg.norm(L), rows / np.linalg.norm(rows)])
    return along_directions(both, np.zeros((1, both.shape[1])))


def of_everything(table: Table, g: Gradients, null: Gradients, start: SearchStart) -> Map | None:
    d = table.X.shape[1]
    return np.eye(d) if d <= FEW_COLUMNS else None


PLANS = (
    FitPlan("directions", of_directions, turned),
    FitPlan("columns", of_single_columns, of_columns),
    FitPlan("kernel", of_everything, turned),
)
