"""FitExplanation: what a fitted model has learned, in words and as a figure."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from giantstep.estimator.steps.directions import Directions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FEWEST_BARS = 4  # bars that a panel has room for, so that a single one does not fill it
UNEXPLAINED = 0.3  # an error above this share of the variance is worth a sentence
NAMES = {
    "directions": "a kernel model in the learned directions",
    "columns": "a kernel model on the columns that matter",
    "kernel": "a kernel model that begins with all columns alike",
    "linear": "a linear model",
    "trees": "boosted trees in the columns and the learned directions",
}


@dataclass(frozen=True)
class FitExplanation:
    """The learned directions, the steps, and leave-one-out errors in units of the variance of the labels.

    ``errors[t]`` is the error of the network after t steps: ``errors[0]`` is that of random features. ``error`` is the error of
    the model, ``weights`` are the shares of the network and of kernels in it, ``without[j]`` is the error that the model would
    have without direction j, and ``rows`` is the number of rows.
    """

    directions: Directions
    steps: int
    batch: str
    error: float
    errors: tuple[float, ...]
    width: int
    weights: dict[str, float]
    without: tuple[float, ...]
    rows: int
    shown: Any = field(default=None, repr=False)

    @property
    def random_features(self) -> float:
        return self.errors[0]

    @property
    def visible(self) -> dict[str, float]:
        """The shares of the variance above which this sample shows one direction that acts linearly, and a product of two.

        A gradient of n rows has a noise of squared length d / n, and the second moments have one of norm 2 sqrt(d / n), for
        labels of variance one.
        """
        ratio = self.directions.components.shape[1] / self.rows
        return {"linear": min(ratio, 1.0), "product": min(4 * ratio, 1.0)}

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        d = self.directions
        return {
            "steps": self.steps,
            "batch": self.batch,
            "width": self.width,
            "weights": dict(self.weights),
            "loo_error": self.error,
            "loo_error_random_features": self.random_features,
            "directions": d.count,
            "null_level": d.null_level,
            "strength": d.strength.tolist(),
            "share": d.share.tolist(),
            "loo_error_without": list(self.without),
            "visible": self.visible,
            "components": d.components.tolist(),
            "columns": list(d.names),
        }

    def __str__(self) -> str:
        return "\n".join([self._quality(), self._mix(), *self._directions(), *self._too_few()])

    def _quality(self) -> str:
        return (
            f"The model explains {_percent(1 - self.error)} of the variance of the labels of rows that it has not seen "
            f"(leave-one-out error {self.error:.3g}); random features explain {_percent(1 - self.random_features)}."
        )

    def _mix(self) -> str:
        steps = {0: "without a giant step", 1: "after one giant step"}.get(
            self.steps, f"after {self.steps} giant steps"
        )
        words = {"network": f"a network of {self.width} neurons {steps}", **NAMES}
        used = [(name, share) for name, share in self.weights.items() if share > 0]
        if len(used) == 1:
            return f"It is {words[used[0][0]]}."
        return f"It is a mix of {_listed([f'{words[name]} ({share:.0%})' for name, share in used])}."

    def _directions(self) -> list[str]:
        d = self.directions
        many = {0: "No direction stands", 1: "One direction stands"}.get(d.count, f"{d.count} directions stand")
        columns = d.components.shape[1]
        lines = [f"{many} out from chance{f' in {columns} columns' if columns > 1 else ''}."]
        if d.count:
            lines[0] += (
                f" The predictions owe {d.share[d.count - 1]:.0%} of their variance to {'it' if d.count == 1 else 'them'}."
            )
        for j in range(d.count):
            ratio = d.strength[j] / d.null_level if d.null_level > 0 else np.inf
            times = float(f"{ratio:.2g}")  # the third digit is one of rounding errors, which differ between processors
            lines.append(
                f"  {j + 1}. {d.largest(j)}: {times:g} times the level of chance; without it, the error would be "
                f"{self.without[j]:.3g} times the variance of the labels."
            )
        return lines

    def _too_few(self) -> list[str]:
        """What a larger sample could show, where much is left unexplained."""
        if self.error < UNEXPLAINED:
            return []
        columns = self.directions.components.shape[1]
        return [
            f"The other {_percent(self.error)} of the variance may be noise, or structure for which the sample is too small. "
            f"{self.rows} rows of {columns} columns show a direction that acts linearly if it carries at least "
            f"{_percent(self.visible['linear'])} of the variance, and a product of two directions from about "
            f"{_percent(self.visible['product'])} on. A product of three or more directions needs more rows, unless some of them "
            "also act by themselves or change the size of the labels."
        ]

    def plot(self) -> "Figure":
        """Strengths against the level of chance, errors without each direction, errors along the steps, and the labels along the
        first direction."""
        from giantstep.plot.style import COLOURS, INK, figure

        d, number = self.directions, np.arange(1, len(self.directions.strength) + 1)
        above: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.0, 1.0), "borderpad": 0, "ncols": 2}
        with figure(2, 2, width=4.0, height=2.8) as (fig, ((left, second), (middle, right))):
            colours = [COLOURS[0] if j < d.count else "#b9c0c7" for j in range(len(number))]
            left.bar(number, d.strength, color=colours)
            left.axhline(d.null_level, color=INK, linestyle=":", label="level of chance")
            left.set(xlabel="direction", ylabel="strength", title=f"{d.count} learned", xticks=number)
            left.set_xlim(0.4, max(len(number), FEWEST_BARS) + 0.6)
            left.legend(**above)
            shown = min(len(self.without), max(d.count, 1))
            second.barh(range(shown), self.without[:shown], color=colours[:shown])
            second.axvline(self.error, color=INK, linestyle=":", label="with all")
            second.set(xlabel="error without the direction / variance", yticks=range(shown))
            second.set_yticklabels([d.largest(j, 2) for j in range(shown)])
            second.set_ylim(max(shown, FEWEST_BARS) - 0.5, -0.5)
            second.legend(**above)
            middle.plot(range(len(self.errors)), self.errors, "o-", color=COLOURS[0], label="network")
            middle.axhline(self.error, color=COLOURS[1], linestyle="--", label="model")
            middle.set(
                xlabel="giant steps (0: random features)",
                ylabel="leave-one-out error / variance",
                xticks=range(len(self.errors)),
            )
            middle.set_ylim(0, None)
            middle.legend(**above)
            right.plot(self.shown[0][:, 0], self.shown[1][:, 0], ".", color=COLOURS[0], alpha=0.5, markersize=3)
            right.set(xlabel="first direction", ylabel="label", title=f"{d.share[0]:.0%} of the variance")
        return fig


def _percent(share: float) -> str:
    return f"{100 * share:.3g}%"


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
