"""compare_system(system): the measurement and the prediction of a system, with the gaps between them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from giantstep.lab.compare.comparison import Gap
from giantstep.results.system import Finding, System
from giantstep.results.table import aligned, rounded, with_error
from giantstep.simulate import simulate
from giantstep.theory import theory


@dataclass(frozen=True, repr=False, eq=False)
class SystemComparison:
    """The measurement and the prediction of a system. Iterating over it gives the two findings that ``gs.plot`` shows."""

    system: System
    simulation: Finding
    theory: Finding

    def __iter__(self) -> Iterator[Finding]:
        return iter((self.theory, self.simulation))

    @property
    def gaps(self) -> dict[str, Gap]:
        """The gap of every number that both routes have."""
        both = self.simulation.numbers.keys() & self.theory.numbers.keys()
        measured, predicted = self.simulation.numbers, self.theory.numbers
        return {k: Gap(*measured[k], predicted[k].value) for k in measured if k in both}

    def along(self, name: str) -> list[tuple[float, Gap]]:
        """For every point of a measured curve, x and the gap to the predicted curve, which is linear between its points."""
        c, predicted = self.simulation.curves[name], self.theory.curves[name]
        between = np.interp(c.x, predicted.x, predicted.y, left=np.nan, right=np.nan)
        errors = [None] * len(c.x) if c.se is None else c.se.tolist()
        return [(float(x), Gap(float(y), e, float(t))) for x, y, e, t in zip(c.x, c.y, errors, between, strict=True)]

    @property
    def curves(self) -> list[str]:
        """Names of the curves that both routes have."""
        return [k for k in self.simulation.curves if k in self.theory.curves]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON data."""
        return {
            "simulation": self.simulation.to_dict(),
            "theory": self.theory.to_dict(),
            "numbers": {k: gap.to_dict() for k, gap in self.gaps.items()},
            "curves": {k: [{"x": x, **gap.to_dict()} for x, gap in self.along(k)] for k in self.curves},
        }

    def __repr__(self) -> str:
        lines = [f"compare: {self.system}, mean of {len(self.simulation.seeds or ())} seeds"]
        header = ["simulated", "predicted", "gap", "in s.e."]
        if self.gaps:
            lines += aligned(["quantity", *header], [[self.system.said(k), *_cells(g)] for k, g in self.gaps.items()])
        for name in self.curves:
            rows = [[f"{x:.4g}", *_cells(g)] for x, g in self.along(name)]
            lines += [self.system.said(name), *aligned([self.simulation.curves[name].along, *header], rows)]
        for finding in (self.simulation, self.theory):
            lines.append(f"status of {finding.route}: {finding.status}  ({finding.seconds:.1f} s)")
        return "\n".join(lines)


def _cells(gap: Gap) -> list[str]:
    in_se = "" if gap.in_se is None else f"{gap.in_se:+z.1f}"
    return [with_error(gap.measured, gap.se), rounded(gap.predicted, gap.band, gap.se), f"{gap.percent:+z.1f}%", in_se]


def compare_system(system: System, seed: int | Iterable[int] = range(10)) -> SystemComparison:
    """Predict a system, simulate it, and compare the two."""
    predicted = theory(system)
    return SystemComparison(system, simulate(system, seed), predicted)
