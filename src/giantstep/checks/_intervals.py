"""intervals(decisions): the figure of a claim that draws none of its own."""

from collections.abc import Sequence
from itertools import islice

from giantstep.checks.statistics._decision import Decision
from giantstep.checks.statistics.comparison import Judged
from giantstep.plot import rows, style

MOST = 24  # rows of a figure


def intervals(decisions: Sequence[Decision]) -> str:
    """The difference of every number from its prediction with its interval, in units of the margin.

    A difference within one unit is allowed. Where a margin is zero the unit is the departure.
    """
    blocks = [each for decision in decisions for each in decision.judged if isinstance(each, Judged)]
    numbers = list(islice(((each, k) for each in blocks for k in range(each.comparison.count)), MOST))
    names = [_name(each, k) for each, k in numbers]
    with style.figure(width=style.COLUMN + 1.5, height=rows.height(len(names))) as (fig, ax):
        for row, (each, k) in enumerate(numbers):
            unit = float(each.comparison.margin[k] or each.comparison.departure[k])
            low = -1.0 if each.comparison.side != "below" else -9.0
            high = 1.0 if each.comparison.side != "above" else 9.0
            rows.allowed(ax, row, low, high)
            rows.interval(ax, row, each.difference[k] / unit, each.half[k] / unit, color=style.COLOURS[0])
        rows.name_rows(ax, names)
        ax.axvline(0, color=style.INK, linewidth=0.8, linestyle=":")
        widest = max([2.0, *(_reach(each, k) for each, k in numbers)])
        ax.set(xlim=(-1.1 * widest, 1.1 * widest), xlabel="measured less predicted, in units of the margin")
        return style.svg(fig)


def _name(judged: Judged, k: int) -> str:
    made = judged.comparison
    return f"{made.what}, {made.at[k]}" if made.at[k] else made.what


def _reach(judged: Judged, k: int) -> float:
    """The far end of an interval in units of the margin."""
    unit = float(judged.comparison.margin[k] or judged.comparison.departure[k])
    return (abs(float(judged.difference[k])) + float(judged.half[k])) / unit
