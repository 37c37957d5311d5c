"""Outcome: the result of every route. Its axes are eta, penalty or rate (if they are lists) and seed (if there are several)."""

from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from giantstep._given.declared import a, at_least, given, list_of, maybe, one_of, text
from giantstep._given.plain import as_numbers, real
from giantstep._shown import html
from giantstep._shown.json_data import json_data
from giantstep.errors import InputError, quoted
from giantstep.experiment._header import folded, header
from giantstep.experiment.labels import labels
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.results.table import MAX_ROWS, aligned, shortened, with_error, within

UNTRUSTED = "Do not trust these numbers."
OVERFLOW = "Some numbers are not finite: the step size or the weights overflow."
WIDTH = 110  # letters of a line
COLUMNS = ("test_error", "train_error", "train_objective")
SCALARS = ("test_error", "risk", "train_error", "train_objective")
LABELS = {
    "test_error": "test error",
    "risk": "risk (test error without label noise)",
    "train_error": "training error",
    "train_objective": "training objective",
}


@dataclass(frozen=True)
class Status:
    """Whether the numbers can be trusted, and sentences that say why not or how they were computed.

    Attributes:
        ok: whether the numbers can be trusted.
        notes: sentences for a reader, the most important first.
        unmet: names of assumptions that do not hold, for programs: "finite", "converged", "short step". A store does not keep
            them.
    """

    ok: bool = True
    notes: tuple[str, ...] = ()
    unmet: tuple[str, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        told = [note if note.endswith(".") else f"{note}." for note in self.notes]
        return " ".join([*(() if self.ok else (UNTRUSTED,)), *told]) or "ok"


Field = Any  # a NumPy array, a float when there are no axes, or None
AXES = ("eta", "penalty", "rate", "seed")


def _measured(value: Any, what: str) -> Any:
    """A number or an array of numbers, NaN where a run failed."""
    if value is not None and as_numbers(value) is None:
        raise InputError(f"{what} must be a number or an array of numbers, not {quoted(value)}")
    return value


_FIELDS = {
    name: _measured
    for name in (
        *("eta", "penalty", "rate"),
        *(f"{each}{end}" for each in SCALARS for end in ("", "_se")),
        *("overlaps", "norms", "captured", "captured_se", "learned", "null_level", "singular_values"),
        *("bulk_edge", "bulk_edge_se", "outliers", "outliers_se"),
        *("test_error_band", "train_error_band"),
    )
}


@given(
    setting=a(Setting),
    route=text,
    axes=list_of(one_of(*AXES)),
    seeds=maybe(list_of(at_least(0))),
    status=a(Status),
    seconds=real,
    regime=maybe(one_of("finite", "limit")),
    **_FIELDS,
)
@dataclass(frozen=True, repr=False, eq=False)
class Outcome:
    """The result of a route. A field that the route does not compute is None; a number without axes is a float.

    Attributes:
        axes: names of the leading axes of the errors, among "eta", "penalty" or "rate", "seed".
        eta: step sizes along the axis "eta" (those of the first step with a list), or the one step size of a single step.
        penalty: penalties along the axis "penalty"; with penalty="gcv" the chosen ones, one per step size and seed.
        rate: rates of an SGD readout along the rate axis, or the one rate.
        seeds: seeds along the seed axis.
        test_error: mean square error on new data with label noise.
        risk: the same without label noise.
        train_error: mean square error on the readout's samples.
        train_objective: the same plus ``penalty ||b||^2``.
        overlaps: ``W W*^T``, shape (axes without penalty, p, r).
        norms: lengths of the neurons, shape (axes without penalty, p).
        captured: mean over neurons of ``cos^2(w_i, w*_k)``, shape (axes without penalty, r).
        learned: mean over neurons of pi pi^T, pi the cosines with orthonormal target directions (``target.orthonormal``), shape
            (axes without penalty, r, r): eigenvalues above 5 null levels are directions learned (``measure.learned_rank``).
        null_level: the share that an unlearned direction captures, (1 - share inside the target's span) / (d - r).
        singular_values: of ``F / sqrt(n)`` on the readout's samples, decreasing; asked for with ``spectrum=True``.
        bulk_edge: edge of the bulk of those.
        outliers: the number of values above it (see ``measure.outliers``).
        test_error_band: (low, high) on a last axis, of a prediction: where to expect the mean over networks, calibrated on
            simulations.
        train_error_band: the same for the training error.
        status: whether the numbers can be trusted; ``ok`` says so in one word.
        seconds: how long it took.
        regime: "limit" for a published limit, "finite" for any other prediction, and None for what is measured.

    A field such as ``test_error`` has its standard error in ``test_error_se``: over test samples (``test_error``, ``risk``), over
    neurons (``captured``), or over seeds after ``mean()``.

    Examples:
        >>> protocol = gs.Protocol((gs.GiantStep(n=40, eta=[0.0, 5.0]),), gs.Ridge(n=40, penalty=0.1))
        >>> s = gs.Setting(gs.Gaussian(20), gs.target("x1"), gs.Network(30, "relu"), protocol)
        >>> o = gs.simulate(s, seed=range(3))
        >>> o.axes, o.test_error.shape
        (('eta', 'seed'), (2, 3))
        >>> o.mean().test_error_se.shape  # the mean over seeds has standard errors
        (2,)
        >>> o.to_xarray().test_error.sel(seed=1).dims
        ('eta',)
    """

    setting: Setting
    route: str
    axes: tuple[str, ...] = ()
    eta: tuple[float, ...] | float | None = None
    penalty: Any = None
    seeds: tuple[int, ...] | None = None
    test_error: Field = None
    test_error_se: Field = None
    risk: Field = None
    risk_se: Field = None
    train_error: Field = None
    train_error_se: Field = None
    train_objective: Field = None
    train_objective_se: Field = None
    overlaps: Field = None
    norms: Field = None
    captured: Field = None
    captured_se: Field = None
    learned: Field = None
    null_level: Field = None
    singular_values: Field = None
    bulk_edge: Field = None
    bulk_edge_se: Field = None
    outliers: Any = None
    outliers_se: Field = None
    status: Status = field(default_factory=Status)
    seconds: float = 0.0
    rate: tuple[float, ...] | float | None = None
    test_error_band: Field = None
    train_error_band: Field = None
    regime: str | None = None

    def mean(self) -> "Outcome":
        """Average over seeds; standard errors are then those over seeds. Without a seed axis, the outcome itself."""
        if "seed" not in self.axes:
            return self
        axis = self.axes.index("seed")
        before = axis - ("penalty" in self.axes or "rate" in self.axes)  # its place in fields of the features alone
        one = len(self.seeds or ()) == 1
        values: dict[str, Any] = {}
        for name in (*SCALARS, "captured", "bulk_edge", "outliers"):
            array, at = getattr(self, name), axis if name in SCALARS else before
            if array is None:
                continue
            mean, error = mean_and_error(array, at)
            if one:  # one seed has no spread, so it keeps the errors it has
                error = getattr(self, f"{name}_se")
                error = None if error is None else np.take(error, 0, axis=at)
            values[name], values[f"{name}_se"] = _scalar(mean), None if error is None else _scalar(error)
        for name in ("null_level", "learned"):
            if getattr(self, name) is not None:
                values[name] = _scalar(np.mean(getattr(self, name), axis=before))
        if isinstance(self.penalty, np.ndarray):  # chosen by GCV, one per run
            values["penalty"] = _scalar(np.exp(np.mean(np.log(np.maximum(self.penalty, 1e-300)), axis=before)))
        axes = tuple(a for a in self.axes if a != "seed")
        return replace(self, axes=axes, seeds=None, overlaps=None, norms=None, singular_values=None, **values)

    @property
    def ok(self) -> bool:
        """Whether the numbers can be trusted; ``status`` says why not."""
        return self.status.ok

    @property
    def normalised(self) -> Any:
        """Test error over the variance of the labels, noise included: 1 is what predicting their mean gives. NaN for labels
        that are constant. Half an error over half a variance, as some papers plot it, is the same number."""
        total = labels(self.setting).total
        return None if self.test_error is None else _scalar(np.asarray(self.test_error) / (total or np.nan))

    def to_xarray(self) -> Any:
        """A labelled Dataset: dims eta, penalty or rate, seed, neuron, direction, index."""
        import xarray as xr

        places = {"eta": self.eta, "penalty": self.penalty, "rate": self.rate, "seed": self.seeds}
        coords = {name: np.atleast_1d(places[name]).tolist() for name in self.axes}
        run = tuple(a for a in self.axes if a not in ("penalty", "rate"))
        inner = {"overlaps": ("neuron", "direction"), "captured": ("direction",), "captured_se": ("direction",)}
        inner |= {"singular_values": ("index",), "norms": ("neuron",), "learned": ("direction", "other")}
        variables: dict[str, Any] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if value is None or f.name in ("setting", "route", "axes", "eta", "seeds", "status", "seconds", "regime"):
                continue
            if f.name in ("penalty", "rate"):
                if f.name not in self.axes:  # one for all runs, or chosen by GCV for each
                    variables[f.name] = (run if np.ndim(value) else (), np.asarray(value))
                continue
            if f.name.endswith("_band"):
                variables[f.name] = ((*self.axes, "end"), np.asarray(value))
                continue
            errors = f.name.removesuffix("_se") in SCALARS
            variables[f.name] = (self.axes if errors else (*run, *inner.get(f.name, ())), np.asarray(value))
        attributes = {"route": self.route, "status": str(self.status), "seconds": self.seconds}
        try:
            attributes["setting_id"] = self.setting.id
        except ValueError:  # a callable has no id
            pass
        return xr.Dataset(variables, coords=coords, attrs=attributes)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain JSON data."""
        result: dict[str, Any] = {}
        for f in fields(self):
            value = getattr(self, f.name)
            if f.name == "setting":
                value = self.setting.to_plain()
            elif f.name == "status":
                value = {"ok": self.status.ok, "notes": list(self.status.notes)}
            result[f.name] = json_data(value)
        result["setting_id"] = self.setting.id
        return result

    def __repr__(self) -> str:
        return outcome_table(self)

    def _repr_html_(self) -> str:
        o = self.mean()
        head, body = _cells(o)
        facts = "".join(html.line(each) for each in (*_facts(o), f"status: {o.status}"))
        return html.block(title(self, self.route), html.table(head, shortened(body, MAX_ROWS)), facts)


def _scalar(value: Any) -> Any:
    """A float for an array without axes."""
    return float(value) if np.ndim(value) == 0 else np.asarray(value)


def outcome_table(outcome: Outcome) -> str:
    """Sizes, then one line per step size and penalty (averaged over seeds), then what was learned and the status."""
    o = outcome.mean()
    lines = [title(outcome, outcome.route), *aligned(*_cells(o)), *_facts(o)]
    return "\n".join([*lines, f"status: {o.status}  ({outcome.seconds:.1f} s)"])


def _facts(o: Outcome) -> list[str]:
    """What was chosen and learned, at the last step size."""
    lines = []
    which = "" if "eta" not in o.axes else f" at eta = {np.asarray(o.eta)[-1]:.4g}"
    if isinstance(o.penalty, float | np.ndarray) and o.setting.protocol.readout.penalty == "gcv":  # type: ignore[union-attr]
        lines.append(f"penalty chosen by GCV{which}: {np.ravel(o.penalty)[-1]:.3g}")
    if o.captured is not None:
        share = np.atleast_2d(o.captured)[-1]
        null = "" if o.null_level is None else f" (null level {np.ravel(o.null_level)[-1]:.2g})"
        text = ", ".join(f"x{k + 1} {v:.3g}" for k, v in enumerate(share))
        lines.append(f"share of a neuron along each direction{which}: {text}{null}")
    if o.outliers is not None:
        edge, count = np.ravel(np.asarray(o.bulk_edge))[-1], np.ravel(o.outliers)[-1]
        lines.append(f"singular values of the features{which}: bulk edge {edge:.4g}, {count:.3g} above it")
    return lines


def drop(array: np.ndarray, keep: tuple[bool, ...]) -> Field:
    """Drop the leading axes that are not kept; without any axis the result is a number."""
    index = tuple(slice(None) if k else 0 for k in keep)
    result = array[index]
    return result.item() if np.ndim(result) == 0 else result


def title(outcome: Outcome, route: str) -> str:
    """Target, network, sizes, batches and seeds: what fixes the numbers below it."""
    s, count = outcome.setting, len(outcome.seeds or ())
    seeds = [] if outcome.seeds is None else [f"mean of {count} seed{'s' * (count > 1)}"]
    noise = f" (noise {s.target.noise:g})" if s.target.noise else ""
    parts = [f"{route}: {s.target.name}{noise}", s.network.activation.name, *header(s).values(), *seeds]
    return "\n  ".join(folded([part for part in parts if part], WIDTH))


def _cells(o: Outcome) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of the table, one for each step size and penalty."""
    names = [c for c in COLUMNS if getattr(o, c) is not None]
    keys = [a for a in o.axes if a != "seed"]
    head = [*keys, *(LABELS[n] for n in names)]
    body = []
    for index in np.ndindex(*(len(getattr(o, k)) for k in keys)):
        row = [f"{getattr(o, k)[i]:.4g}" for k, i in zip(keys, index, strict=True)]
        for name in names:
            error = getattr(o, f"{name}_se")
            value = np.asarray(getattr(o, name))[index]
            # the objective is as good as the training error
            band = getattr(o, f"{name.replace('objective', 'error')}_band", None)
            if band is not None:
                row.append(within(float(value), *np.asarray(band)[index]))
                continue
            row.append(with_error(float(value), None if error is None else float(np.asarray(error)[index])))
        body.append(row)
    return head, body
