"""What the regressor and the classifier share: checks, scaling, learning, directions."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from giantstep._machine import memory as _memory
from giantstep._machine.device import HOST, Arrays, arrays
from giantstep._machine.threads import one_thread
from giantstep.errors import InputError
from giantstep.estimator import fit as learning
from giantstep.estimator.explanation import FitExplanation
from giantstep.estimator.mix._refitted import refitted
from giantstep.estimator.mix._trees import ALL_COLUMNS, MOST_AXES, MOST_ROWS
from giantstep.estimator.steps import directions
from giantstep.estimator.steps.directions import Directions
from giantstep.estimator.steps.network import CHUNK, Table
from giantstep.estimator.table._columns import validated
from giantstep.estimator.table._gaps import gaps
from giantstep.estimator.table._scaling import choose
from giantstep.estimator.table._span import span
from giantstep.estimator.table._units import units
from giantstep.functions.activation import activation

LOOKED_AT, MOST_LOOKS = 500, 6000  # rows on which shares of variance are measured, and predictions for all of them
SHOWN = 500  # rows that a plot shows
MOST_DIRECTIONS = 10
CONSTANT = 1e-14  # labels whose deviation is this share of their size, or less, are one number and its rounding
WEIGHTLESS = 1e-12  # a row with this share of the largest weight, or less, does not count
FARTHEST = {8: 1e30, 4: 1e10}  # scaled numbers beyond which a row is not followed, by their bytes


class GiantStepBase(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A two-layer network whose first layer takes giant steps; see the subclasses."""

    def __init__(
        self,
        *,
        width: int | str = "auto",
        activation: str = "relu",
        steps: int | str = "auto",
        eta: float | str = "auto",
        batch: str = "auto",
        penalty: float | str = "auto",
        scaling: str = "auto",
        model: str = "auto",
        device: str = "cpu",
        memory: float | None = None,
        random_state: Any = 0,
        verbose: bool = False,
    ):
        self.width = width
        self.activation = activation
        self.steps = steps
        self.eta = eta
        self.batch = batch
        self.penalty = penalty
        self.scaling = scaling
        self.model = model
        self.device = device
        self.memory = memory
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags: Any = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _weighed(self, X: np.ndarray, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
        """The rows that count, and their weights with mean one."""
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        weights = weights / (weights.max() or 1.0)  # so that no sum of them overflows
        positive = weights > WEIGHTLESS
        if positive.sum() < 2:
            raise InputError(
                f"fit needs at least two rows of positive weight (over {WEIGHTLESS:g} of the largest), "
                f"not {int(positive.sum())} (n_samples = {len(X)})"
            )
        return positive, weights[positive] / weights[positive].mean()

    def _learn(self, X: np.ndarray, Y: np.ndarray, sample_weight: Any) -> Self:
        """Fit labels that are numbers (n, k)."""
        with one_thread(len(X)):
            return self._learned(X, Y, sample_weight)

    def _learned(self, X: np.ndarray, Y: np.ndarray, sample_weight: Any) -> Self:
        positive, weights = self._weighed(X, sample_weight)
        X, Y = X[positive], Y[positive].astype(np.float64)
        self._gaps = gaps(X, weights)
        X = self._gaps.fill(X)
        wanted, where = self._wanted(len(X)), arrays(self.device)
        self._refuse_too_large(len(X), X.shape[1], Y.shape[1], wanted.most_features, where)
        self._units, self._label_units = units(X), units(Y)
        X, Y = self._units.divide(X), self._label_units.divide(Y)
        self._centre, self._spread = _centre_and_spread(Y, weights)
        Y = (Y - self._centre) / self._spread
        seed = check_random_state(self.random_state).randint(2**31)

        def random_error(scaler: Any) -> float:
            coordinates = span(scaler, X).transform(X)
            return learning.random_error(Table(coordinates, Y, weights), wanted, np.random.default_rng(seed), where)

        self.scaling_, scaler = choose(self.scaling, X, weights, random_error)
        self._span = span(scaler, X)
        table = Table(self._span.transform(X), Y, weights)
        tell = print if self.verbose else None
        learned = learning.learn(table, wanted, np.random.default_rng(seed), where, tell)
        self._keep(learned, table, np.flatnonzero(positive))
        return self

    def _refit(self, X: np.ndarray, Y: np.ndarray, sample_weight: Any) -> Self:
        """Fit the readouts to labels that are numbers (n, k), in the units of those of ``fit``."""
        if Y.shape[1] != len(self._spread):
            raise InputError(f"refit needs {len(self._spread)} outputs, as fit had, not {Y.shape[1]}")
        positive, weights = self._weighed(X, sample_weight)
        Y = (self._label_units.divide(Y[positive].astype(np.float64)) - self._centre) / self._spread
        wanted = self._wanted(len(Y))
        self._refuse_too_large(len(Y), X.shape[1], Y.shape[1], wanted.most_features, HOST)
        found = refitted(self._members, Table(self._scaled(X[positive]), Y, weights), wanted)
        self._members = list(found.members)
        self.weights_ = {**dict.fromkeys(self.weights_, 0.0), **{each.name: each.weight for each in found.members}}
        self.penalty_ = found.penalties.get("network", self.penalty_)
        self._left_out = np.flatnonzero(positive)[found.rows], found.residuals
        squares = (found.residuals / _centre_and_spread(Y, weights)[1]) ** 2
        self.loo_error_ = float(np.average(squares.mean(axis=1), weights=weights[found.rows]))
        return self

    def _wanted(self, n: int) -> learning.Wanted:
        width = learning.width(n) if _auto(self.width) else _whole(self.width, "width", 1)
        wider = learning.wider(n) if _auto(self.width) else None
        steps = None if _auto(self.steps) else _whole(self.steps, "steps", 0, learning.STEPS)
        if self.batch not in ("auto", "fresh", "reuse"):
            raise InputError(f'batch is "auto", "fresh" or "reuse", not {self.batch!r}')
        if self.model not in ("auto", "network"):
            raise InputError(f'model is "auto" or "network", not {self.model!r}')
        others = _auto(self.model) and steps is None and self.batch != "fresh"
        eta = None if _auto(self.eta) else _positive(self.eta, "eta")
        penalty = None if _auto(self.penalty) else _positive(self.penalty, "penalty")
        sigma = activation(self.activation)
        if sigma.jumps:
            raise InputError(f"activation {sigma.name!r} has no useful slope for a giant step; use relu, gelu or tanh")
        return learning.Wanted(width, sigma, steps, eta, penalty, self.batch, wider, others)

    def _refuse_too_large(self, n: int, d: int, k: int, p: int, where: Arrays) -> None:
        """Refuse a fit whose scaled rows, choices, moments, factors and chunks of features do not fit in memory."""
        q, few = p + min(n, d), min(n, learning.MOST)
        numbers = (
            2 * n * (d + k)
            + (d > n) * 3 * n * d
            + 2 * few * (d + k)
            + 8 * (q + k + 1) ** 2
            + 6 * min(max(CHUNK, 256 * q), n * q)
            + 3 * min(n, MOST_ROWS) * (min(d, ALL_COLUMNS) + MOST_AXES)  # for trees
        )
        allowed = _memory.budget(self.memory) if where is HOST else _memory.on_each(self.memory, [where.gpu])
        if 8 * numbers > allowed:
            raise _memory.refuse(8 * numbers, allowed, f"fewer than {n} rows, {d} columns or {p} neurons")

    def _keep(self, learned: learning.Learned, table: Table, rows: np.ndarray) -> None:
        self.steps_, self.eta_, self.penalty_, self.batch_ = learned.steps, learned.eta, learned.penalty, learned.batch
        self.width_ = len(learned.layer.bias)
        self.loo_error_, self.loo_errors_ = learned.loo_error, learned.by_steps
        self._members = [member.on_host() for member in learned.members if member.weight > 0]
        self.weights_ = {member.name: member.weight for member in learned.members}
        self._left_out = rows[learned.rows], learned.residuals
        self.directions_ = self._directions(learned, table)
        self._n_features_out = max(self.directions_.count, 1)
        shown = learned.rows[:SHOWN]
        self._shown = table.X[shown] @ self._axes[:1].T, self._labels(table.Y[shown])

    def _directions(self, learned: learning.Learned, table: Table) -> Directions:
        strength, components = directions.strengths(learned.gradient, MOST_DIRECTIONS)
        level = directions.null_level(learned.null)
        turn = directions.nearest_to_columns(strength, self._span.back(components), level)
        strength = np.sqrt(turn**2 @ strength**2)
        order = np.argsort(-strength, kind="stable")
        components, strength = (turn @ components)[order], strength[order]
        largest = np.abs(components).argmax(axis=1)  # is positive, so that a direction reads the same every time
        components = components * np.where(components[np.arange(len(components)), largest] < 0, -1.0, 1.0)[:, None]
        shown = min(int(np.sum(strength > level)) + 1, len(strength))
        known, rows = components[:shown], table.X[: min(LOOKED_AT, MOST_LOOKS // (2 * shown + 2))]
        share = directions.shares(self._outputs, rows, known, np.random.default_rng(0))
        lost = directions.variances_without(self._outputs, rows, known, np.random.default_rng(0))
        self._without, self._rows_learned = tuple(learned.loo_error + float(each) for each in lost), len(table)
        names = getattr(self, "feature_names_in_", [f"x{j + 1}" for j in range(len(self._gaps.means))])
        names = tuple(self._gaps.names([*map(str, names)]))
        self._axes = components  # in the coordinates of the network
        return Directions(self._span.back(components), strength, level, share, names)

    def _outputs(self, scaled: np.ndarray) -> np.ndarray:
        """The outputs of the model for scaled rows, in units of scaled labels."""
        return sum(member.outputs(scaled) for member in self._members if member.weight > 0)  # type: ignore[return-value]

    def _labels(self, outputs: np.ndarray) -> np.ndarray:
        return self._label_units.multiply(outputs * self._spread + self._centre)

    def _rows(self, X: Any) -> tuple[np.ndarray, np.dtype]:
        """The scaled rows and the type of the given ones."""
        check_is_fitted(self)
        table: Any = validated(self, X, dtype=[np.float64, np.float32], reset=False, ensure_all_finite="allow-nan")
        return self._scaled(table), table.dtype

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        X = self._gaps.fill(X)
        far = FARTHEST[X.dtype.itemsize]
        with np.errstate(over="ignore"):
            return np.clip(self._span.transform(self._units.divide(X)), -far, far)

    def _predicted(self, X: Any) -> np.ndarray:
        scaled, dtype = self._rows(X)
        labels = self._labels(self._outputs(scaled))
        return labels.astype(dtype, copy=False) if np.abs(labels).max() <= np.finfo(dtype).max else labels

    def transform(self, X: Any) -> np.ndarray:
        """The coordinates of the rows along the learned directions, at least one."""
        scaled, dtype = self._rows(X)
        return (scaled @ self._axes[: self._n_features_out].T).astype(dtype, copy=False)

    def explain(self) -> FitExplanation:
        """Say which directions were learned, how sure they are, and what the error would be without each of them."""
        check_is_fitted(self)
        return FitExplanation(
            self.directions_, self.steps_, self.batch_, self.loo_error_, self.loo_errors_, self.width_, self.weights_,
            self._without, self._rows_learned, self._shown,
        )  # fmt: skip


def _centre_and_spread(Y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and standard deviations; one for labels that are all alike."""
    centre = np.average(Y, axis=0, weights=weights)
    deviation = np.sqrt(np.average((Y - centre) ** 2, axis=0, weights=weights))
    return centre, np.where(deviation > CONSTANT * np.abs(Y).max(axis=0), deviation, 1.0)


def _auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def _whole(value: Any, name: str, least: int, most: int | None = None) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or not least <= int(value) <= (most or int(value)):
        span = f"from {least} to {most}" if most is not None else f"of at least {least}"
        raise InputError(f'{name} is "auto" or a whole number {span}, not {value!r}')
    return int(value)


def _positive(value: Any, name: str) -> float:
    if not isinstance(value, Real) or isinstance(value, bool) or not 0 < float(value) < np.inf:
        raise InputError(f'{name} is "auto" or a positive number, not {value!r}')
    return float(value)
