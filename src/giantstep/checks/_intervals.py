"""intervals(decisions): the figure of a claim that draws none of its own."""

from collections.abc import Sequence

from giantstep.checks.statistics._decision import Decision
from giantstep.checks.statistics.comparison import Judged
from giantstep.plot import rows, style

MOST = 24  # rows of a figure


def intervals(decisions: Sequence[Decision]) -> str:
    """The difference of every number from its prediction with its interval, in units of the margin.

    A difference within one unit is allowed. Where a margin is zero the unit is the departure.
    The first numbers are drawn if there are too many, and nothing if there are only counts.
    """
    blocks = [each for made in decisions for each in made.judged if isinstance(each, Judged)]
    numbers = [(each, k) for each in blocks for k in range(each.comparison.count)][:MOST]
    if not numbers:
        return ""
    names = [_name(each, k) for each, k in numbers]
    scaled = [(each.difference[k] / _unit(each, k), each.half[k] / _unit(each, k)) for each, k in numbers]
    edge = 1.1 * max([2.0, *(abs(mean) + half for mean, half in scaled)])
    with style.figure(width=style.COLUMN + 1.5, height=rows.height(len(names))) as (fig, ax):
        for row, ((each, _), (mean, half)) in enumerate(zip(numbers, scaled, strict=True)):
            low = -edge if each.comparison.side == "below" else -1.0
            high = edge if each.comparison.side == "above" else 1.0
            rows.allowed(ax, row, low, high)
            rows.interval(ax, row, mean, half, color=style.COLOURS[0])
        rows.name_rows(ax, names)
        ax.axvline(0, color=style.INK, linewidth=0.8, linestyle=":")
        ax.set(xlim=(-edge, edge), xlabel="measured less predicted, in units of the margin")
        return style.svg(fig)


def _name(judged: Judged, k: int) -> str:
    made = judged.comparison
    return f"{made.what}, {made.at[k]}" if made.at[k] else made.what


def _unit(judged: Judged, k: int) -> float:
    return float(judged.comparison.margin[k] or judged.comparison.departure[k])
