"""FitExplanation: what a fitted network has learned, in words and as a figure."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from giantstep.estimator.directions import Directions

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class FitExplanation:
    """The learned directions, the steps, and leave-one-out errors in units of the variance of the labels.

    ``errors[t]`` is the error after t steps: ``errors[0]`` is the error of random features, and ``error`` that of the network.
    """

    directions: Directions
    steps: int
    batch: str
    error: float
    errors: tuple[float, ...]
    width: int
    shown: Any = field(default=None, repr=False)

    @property
    def random_features(self) -> float:
        return self.errors[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        d = self.directions
        return {
            "steps": self.steps,
            "batch": self.batch,
            "width": self.width,
            "loo_error": self.error,
            "loo_error_random_features": self.random_features,
            "directions": d.count,
            "null_level": d.null_level,
            "strength": d.strength.tolist(),
            "share": d.share.tolist(),
            "components": d.components.tolist(),
            "columns": list(d.names),
        }

    def __str__(self) -> str:
        d = self.directions
        many = {0: "no direction", 1: "one direction"}.get(d.count, f"{d.count} directions")
        carried = f", carrying {d.share[d.count - 1]:.0%} of the network's variance" if d.count else ""
        steps = {0: "no giant step", 1: "one giant step"}.get(self.steps, f"{self.steps} giant steps")
        lines = [
            f"{many} above the null level{carried}; {steps}, {self.width} neurons",
            f"leave-one-out error {self.error:.3g} of the variance of the labels; random features {self.random_features:.3g}",
            "   strength   over null   share so far   direction",
        ]
        for j in range(min(max(d.count + 1, 1), len(d.strength))):
            mark = "" if j < d.count else "   (not above the null level)"
            ratio = d.strength[j] / d.null_level if d.null_level > 0 else np.inf
            lines.append(f"{d.strength[j]:11.3g} {ratio:11.2f} {d.share[j]:13.0%}    {d.largest(j)}{mark}")
        return "\n".join(lines)

    def plot(self) -> "Figure":
        """Strengths against the null level, errors along the steps, and the labels along the first direction."""
        from giantstep.plot.style import COLOURS, INK, figure

        d, number = self.directions, np.arange(1, len(self.directions.strength) + 1)
        with figure(3, width=3.4) as (fig, (left, middle, right)):
            colours = [COLOURS[0] if j < d.count else "#b9c0c7" for j in range(len(number))]
            left.bar(number, d.strength, color=colours)
            left.axhline(d.null_level, color=INK, linestyle=":", label="null level")
            left.set(xlabel="direction", ylabel="strength", title=f"{d.count} learned", xticks=number)
            left.legend()
            middle.plot(range(len(self.errors)), self.errors, "o-", color=COLOURS[0])
            middle.plot(self.steps, self.error, "o", color=COLOURS[1], markersize=7, label="chosen")
            middle.set(
                xlabel="giant steps (0: random features)",
                ylabel="leave-one-out error / variance",
                xticks=range(len(self.errors)),
            )
            middle.set_ylim(0, None)
            middle.legend()
            right.plot(self.shown[0][:, 0], self.shown[1][:, 0], ".", color=COLOURS[0], alpha=0.5, markersize=3)
            right.set(xlabel="first direction", ylabel="label", title=f"{d.share[0]:.0%} of the variance")
        return fig
