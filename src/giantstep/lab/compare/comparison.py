"""Prediction: the theory of a setting. Comparison: theory and simulation side by side, with the gaps between them."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from giantstep._shown import html
from giantstep.errors import InputError
from giantstep.experiment._finer import finer
from giantstep.experiment.setting import Setting
from giantstep.results.outcome import LABELS, Outcome, title
from giantstep.results.table import MAX_ROWS, aligned, rounded, shortened, with_error
from giantstep.theory import Law
from giantstep.theory import theory as predicted

__all__ = ["COMPARED", "Comparison", "Gap", "Prediction", "ComparisonRow"]

COMPARED = ("test_error", "train_error", "train_objective")


@dataclass(frozen=True, repr=False, eq=False)
class Prediction:
    """The prediction of a setting. Iterating over it gives the outcomes that ``gs.plot(prediction)`` shows.

    Attributes:
        theory: the prediction at the setting's own step sizes and penalties.
        laws: predicted spectra, one for each step size, if asked for.
    """

    theory: Outcome
    laws: tuple[Law, ...] | None = None

    @cached_property
    def curve(self) -> Outcome | None:
        """The prediction on a finer grid of step sizes, or of penalties if only they are listed; None without a list, and
        after several steps with listed step sizes. It is computed when it is asked for, which may take half a minute."""
        between = finer(self.theory.setting)
        return None if between is None else predicted(between, self.theory.regime or "finite")

    @cached_property
    def limit(self) -> Outcome | None:
        """The published staircase on that grid, if there is one."""
        between = finer(self.theory.setting)
        if between is None or not between.protocol.steps or self.theory.regime == "limit":
            return None
        try:
            limit = predicted(between, "limit")
        except InputError:  # none for this network, or none at these step sizes
            return None
        return limit if np.any(np.isfinite(np.asarray(limit.test_error))) else None

    def __iter__(self) -> Iterator[Outcome]:
        return iter(o for o in (self.curve or self.theory, self.limit) if o is not None)

    def __repr__(self) -> str:
        return str(self.theory)

    def _repr_html_(self) -> str:
        return self.theory._repr_html_()


@dataclass(frozen=True)
class Gap:
    """A measured number with its standard error, and the prediction of it with its band; unknown numbers are None."""

    measured: float
    se: float | None
    predicted: float
    equivalent: float | None = None
    equivalent_se: float | None = None
    band: tuple[float, float] | None = None

    @property
    def percent(self) -> float:
        """100 (predicted - measured) / measured."""
        return 100 * (self.predicted / self.measured - 1) if self.measured else float("nan")

    @property
    def in_se(self) -> float | None:
        """(predicted - measured) / standard error."""
        return (self.predicted - self.measured) / self.se if self.se else None

    def to_dict(self) -> dict[str, Any]:
        always = ("measured", "se", "predicted")
        plain = {k: v for k, v in asdict(self).items() if k in always or v is not None}
        return plain | {"gap_percent": self.percent, "gap_se": self.in_se}


@dataclass(frozen=True)
class ComparisonRow:
    """One step size with one penalty or rate.

    With penalty="gcv" the row has the penalty chosen in the simulation and the one that theory chooses. A measure that is not
    predicted, such as the training error of SGD, is None.
    """

    eta: float | None
    penalty: float | None
    penalty_predicted: float | None
    test_error: Gap | None
    train_error: Gap | None
    train_objective: Gap | None
    rate: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        plain: dict[str, Any] = {"eta": self.eta, "penalty": self.penalty}
        if self.rate is not None:
            plain["rate"] = self.rate
        if self.penalty_predicted != self.penalty:
            plain["penalty_predicted"] = self.penalty_predicted
        return plain | {name: gap.to_dict() for name in COMPARED if (gap := getattr(self, name)) is not None}


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
    """Prediction and simulation of a setting. Iterating over it gives the outcomes that ``gs.plot(comparison)`` shows.

    Attributes:
        setting: the experiment.
        rows: one row for each step size and penalty.
        prediction: the theory, with a curve to plot.
        simulation: the outcome of ``simulate``.
        equivalent: the outcome of the equivalent model on the same random draws.
    """

    setting: Setting
    rows: tuple[ComparisonRow, ...]
    prediction: Prediction
    simulation: Outcome
    equivalent: Outcome | None = None

    @property
    def theory(self) -> Outcome:
        """The prediction at the setting's own step sizes and penalties."""
        return self.prediction.theory

    @property
    def laws(self) -> tuple[Law, ...] | None:
        """Predicted spectra, one for each step size, if asked for."""
        return self.prediction.laws

    def __iter__(self) -> Iterator[Outcome]:
        return iter(o for o in (self.simulation, self.equivalent, *self.prediction) if o is not None)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON data."""
        plain: dict[str, Any] = {"setting_id": self.setting.id, "theory": self.theory.to_dict()}
        plain["simulation"] = self.simulation.to_dict()
        if self.equivalent is not None:
            plain["equivalent"] = self.equivalent.to_dict()
        return plain | {"comparison": [row.to_dict() for row in self.rows]}

    def __repr__(self) -> str:
        lines = [title(self.simulation, "compare")]
        for heading, header, body in _tables(self):
            lines += [heading, *aligned(header, body)]
        for name, outcome in _parts(self):
            lines.append(f"status of the {name}: {outcome.status}  ({outcome.seconds:.1f} s)")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        tables = [
            f"{html.line(heading)}{html.table(header, shortened(body, MAX_ROWS))}"
            for heading, header, body in _tables(self)
        ]
        states = [html.line(f"status of the {name}: {outcome.status}") for name, outcome in _parts(self)]
        return html.block(title(self.simulation, "compare"), *tables, *states)


def _parts(c: Comparison) -> list[tuple[str, Outcome]]:
    """The outcomes with their names."""
    found = [("theory", c.theory), ("simulation", c.simulation)]
    return found if c.equivalent is None else [*found, ("equivalent model", c.equivalent)]


def _tables(c: Comparison) -> list[tuple[str, list[str], list[list[str]]]]:
    """The heading, the header and the rows of every table."""
    names = [each for each in COMPARED if getattr(c.rows[0], each) is not None]
    tables = [(LABELS[name], *_error_table(c, name)) for name in names]
    return tables if c.laws is None else [*tables, ("spectrum of the features", *_spectrum_table(c))]


def _error_table(c: Comparison, name: str) -> tuple[list[str], list[list[str]]]:
    keys = [a for a in c.simulation.axes if a != "seed"]
    if any(row.penalty_predicted != row.penalty for row in c.rows):
        keys += ["penalty", "penalty_predicted"]
    model = ["equivalent model"] if c.equivalent is not None else []
    body = []
    for row in c.rows:
        gap: Gap = getattr(row, name)
        cells = [f"{getattr(row, key):.4g}" for key in keys]
        cells += [with_error(gap.measured, gap.se), rounded(gap.predicted, gap.band, gap.se)]
        cells += [f"{gap.percent:+z.1f}%", "" if gap.in_se is None else f"{gap.in_se:+z.1f}"]
        body.append(cells + [with_error(gap.equivalent or 0.0, gap.equivalent_se) for _ in model])
    return [*(k.replace("_", " ") for k in keys), "simulated", "predicted", "gap", "in s.e.", *model], body


def _spectrum_table(c: Comparison) -> tuple[list[str], list[list[str]]]:
    o, listed = c.simulation.mean(), "eta" in c.theory.axes

    def at(x: Any, i: int) -> float:  # few or infinite singular values have no bulk
        return float("nan") if x is None else float(np.ravel(np.asarray(x))[i])

    body = []
    for i in range(len(c.laws or ())):
        error = None if o.bulk_edge_se is None else at(o.bulk_edge_se, i)
        edges = [with_error(at(o.bulk_edge, i), error), rounded(at(c.theory.bulk_edge, i), None, error)]
        counts = [f"{at(o.outliers, i):.3g}", f"{at(c.theory.outliers, i):.3g}"]
        body.append([*([f"{at(c.theory.eta, i):.4g}"] if listed else []), *edges, *counts])
    return [*(["eta"] if listed else []), "bulk edge", "predicted", "outliers", "predicted"], body
