"""optimal(setting): the step size and the penalty with the least predicted test error."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize

from giantstep._given.declared import a, given, texts
from giantstep._shown import html
from giantstep.errors import InputError
from giantstep.experiment.setting import Setting
from giantstep.results.outcome import Status
from giantstep.results.table import with_error, within
from giantstep.theory import _tails as tails
from giantstep.theory._answer import beyond
from giantstep.theory._band import bands
from giantstep.theory._coverage import check
from giantstep.theory.one_step import _grid as _grid
from giantstep.theory.one_step._predict import move, told, unsolved, worst_of
from giantstep.theory.one_step.parameters import parameters
from giantstep.theory.steps import _search as search
from giantstep.theory.steps._predict import several

OVER = ("eta", "penalty")
STRENGTHS = np.geomspace(1e-3, 30.0, 24)  # U, the move of a typical neuron: what the step size is searched in
PENALTIES = np.geomspace(1e-8, 1e4, 16)
NEAR = 1e-4  # distance, in logarithms, of the points that derivatives are taken from


@dataclass(frozen=True, repr=False)
class Optimum:
    """The best step size and penalty predicted.

    Attributes:
        setting: the setting with them filled in.
        eta: the best step size, or the setting's own if it was not searched; one for every step where there are several.
        penalty: the best penalty, or the setting's own if it was not searched.
        test_error: the test error predicted there.
        random_features: the least test error predicted without a step, at its own best penalty when that is searched.
        status: whether the search ended inside its range.
        test_error_band: (low, high) of the test error.
        measured: the test error of simulated networks at the optimum, where it was verified.
        measured_se: its standard error.
    """

    setting: Setting
    eta: Any
    penalty: float
    test_error: float
    random_features: float
    status: Status
    test_error_band: tuple[float, float] | None = None
    measured: float | None = None
    measured_se: float | None = None

    def __repr__(self) -> str:
        low, high = self.test_error_band or (self.test_error, self.test_error)
        shown = within(self.test_error, low, high)
        band = "" if self.test_error_band is None else f" ({within(low, low, high)} to {within(high, low, high)})"
        gains = sorted(100 * (1 - end / self.random_features) for end in (low, high))
        below = f"{gains[0]:.0f} to {gains[1]:.0f}%" if gains[1] - gains[0] > 0.5 else f"{gains[0]:.1f}%"
        sizes = ", ".join(f"{x:.4g}" for x in np.atleast_1d(self.eta))
        lines = [
            f"eta = {sizes}, penalty = {self.penalty:.4g}: predicted test error {shown}{band}, "
            f"{below} below random features' {within(self.random_features, low, high)}"
        ]
        if self.measured is not None:
            gap = 100 * (self.test_error / self.measured - 1)
            lines.append(
                f"simulated: {with_error(self.measured, self.measured_se)}; the prediction is off by {gap:+.1f}%"
            )
        return "\n".join([*lines, f"status: {self.status}"])

    def _repr_html_(self) -> str:
        sentences = "".join(map(html.line, str(self).splitlines()))
        return html.block("The least predicted test error", sentences, self.setting._repr_html_())

    __str__ = __repr__


@given(setting=a(Setting), over=texts)
def optimal(setting: Setting, over: str | Iterable[str] = OVER) -> Optimum:
    """Minimise the predicted test error over the step sizes, the penalty, or both: a grid, then BFGS.

    Derivatives are central differences, good to 1e-8: those of ``theory_errors`` are exact, but compiling them takes longer than
    the whole search. After several steps ``steps.search`` takes the place of BFGS.
    """
    over = (over,) if isinstance(over, str) else tuple(over)
    if not over or not set(over) <= set(OVER) or len(set(over)) < len(over):
        raise InputError(f"over must name 'eta', 'penalty' or both, not {over!r}")
    if not setting.protocol.steps:
        raise InputError("optimal needs a setting with a giant step")
    more = len(setting.protocol.steps) > 1
    check(setting, ("rows", "pairs", "one batch") if more else ())
    held = {
        "eta": any(step.listed for step in setting.protocol.steps),
        "penalty": not _single(setting.protocol.readout),
    }
    for name in set(OVER) - set(over):
        if held[name]:
            raise InputError(f"optimal(over={over!r}) needs one {name} in the setting, not several")
    if more:
        return _after_several(setting, over)
    fixed = {"penalty": 1.0} if "penalty" in over else {}
    numbers, form = parameters(_with(setting, **fixed, **({"eta": 1.0} if "eta" in over else {})))
    unit = float(_grid.curves(numbers._replace(eta=np.ones(1), penalty=np.ones(1)), form).strength[0])
    if "eta" in over and unit == 0:
        raise InputError("no step size matters: the activation has no linear part (c_1 = 0) or the labels are zero")
    etas = STRENGTHS / abs(unit) if "eta" in over else np.atleast_1d(numbers.eta)
    penalties = PENALTIES if "penalty" in over else np.atleast_1d(numbers.penalty)
    grid = _grid.curves(numbers._replace(eta=etas, penalty=penalties), form).errors.test
    e, k = np.unravel_index(int(np.nanargmin(grid)), grid.shape)
    start = np.log([etas[e] if "eta" in over else 1.0, penalties[k] if "penalty" in over else 1.0])
    free = [i for i, name in enumerate(OVER) if name in over]

    def objective(x: np.ndarray) -> tuple[float, np.ndarray]:
        point = np.array([etas[0], penalties[0]])
        point[free] = np.exp(x)
        near = [own * np.exp(NEAR * np.arange(-1, 2)) if i in free else [own] * 3 for i, own in enumerate(point)]
        around = numbers._replace(eta=np.array(near[0]), penalty=np.array(near[1]))
        value = np.log(_grid.curves(around, form).errors.test)
        slopes = np.array([value[2, 1] - value[0, 1], value[1, 2] - value[1, 0]]) / (2 * NEAR)
        return float(value[1, 1]), slopes[free]

    bounds = np.log([(etas[0], etas[-1]), (penalties[0], penalties[-1])])
    minimum = minimize(
        objective, start[free], jac=True, method="L-BFGS-B", bounds=bounds[free], options={"ftol": 1e-13}
    )
    point = start.copy()
    point[free] = minimum.x
    chosen = {name: float(np.exp(point[i])) for i, name in enumerate(OVER) if name in over}
    notes = [
        f"The best {name} is at an end of the range searched." for i, name in zip(free, (OVER[i] for i in free), strict=True)
        if min(abs(point[i] - bounds[i])) < 1e-6
    ]  # fmt: skip
    there = numbers._replace(**{name: np.array([value]) for name, value in chosen.items()})
    found = _grid.curves(there, form)
    lost = beyond(setting)
    none = _grid.curves(
        numbers._replace(eta=np.zeros(1), penalty=np.geomspace(1e-8, 1e4, 64) if "penalty" in over else penalties), form
    )
    best = _with(setting, **chosen)
    hints = [*unsolved(worst_of(found.residual)), *told(best, np.ravel(there.eta), found)]
    eta = chosen.get("eta", float(np.ravel(numbers.eta)[0]))
    penalty = chosen.get("penalty", float(np.ravel(numbers.penalty)[0]))
    value = float(np.exp(minimum.fun))
    both = {"test_error": found.errors.test, "train_error": found.errors.train}
    made = bands(both, best, move(found, best), np.asarray(found.errors.noise))
    ends = made["test_error_band"][0, 0]
    tail = tails.told(best, float(np.max(made["doubt"])))
    notes += tail.doubts
    status = Status(not notes and not lost, (*notes, *lost, *hints, *tail.notes))
    return Optimum(best, eta, penalty, value, float(none.errors.test.min()), status, (float(ends[0]), float(ends[1])))


def _after_several(setting: Setting, over: tuple[str, ...]) -> Optimum:
    """The same after several steps; every step has a size of its own."""
    found = search.least(setting, over)
    etas = tuple(found.etas.tolist())
    best = _with(setting, **({"eta": etas} if "eta" in over else {}), penalty=found.penalty)
    answer = several(best)
    value, ends = (np.asarray(answer.values[name])[0, 0] for name in ("test_error", "test_error_band"))
    tail = tails.told(best, float(np.max(answer.values["doubt"])))
    ends_met = [f"The best {name} is at an end of the range searched." for name in found.ends]
    doubts = [*ends_met, *tail.doubts, *beyond(setting)]
    status = Status(not doubts, (*doubts, *unsolved(answer.residual), *answer.notes, *tail.notes))
    return Optimum(
        best, etas, found.penalty, float(value), found.random_features, status, (float(ends[0]), float(ends[1]))
    )


def _single(readout: Any) -> bool:
    return isinstance(readout.penalty, float)


def _with(setting: Setting, **numbers: Any) -> Setting:
    """Return the setting with these step sizes, one or one for every step, and that penalty."""
    protocol = setting.protocol
    if "eta" in numbers:
        etas = np.atleast_1d(numbers["eta"]).tolist()
        protocol = replace(
            protocol, steps=tuple(replace(step, eta=eta) for step, eta in zip(protocol.steps, etas, strict=True))
        )
    if "penalty" in numbers and protocol.readout is not None:
        protocol = replace(protocol, readout=replace(protocol.readout, penalty=numbers["penalty"]))
    return replace(setting, protocol=protocol)
