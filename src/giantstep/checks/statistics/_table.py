"""The table of a ruling: every comparison with its numbers, its interval and its margin."""

from collections.abc import Iterator, Sequence

import numpy as np

from giantstep.checks.statistics._count import Counted
from giantstep.checks.statistics._decision import Decision
from giantstep.checks.statistics.comparison import Judged

Row = tuple[str | int | float, ...]
Compared = tuple[str, str, float, float, float, float, float, str]
_HEADER = ("compared", "at", "measured", "predicted", "difference", "interval ±", "margin", "seeds", "mark")


def table(decisions: Sequence[Decision]) -> tuple[tuple[str, ...], tuple[Row, ...]]:
    """Header and rows; a row says it if its difference, interval and margin are in per cent of the prediction."""
    rows = [row for decision in decisions for judged in decision.judged for row in _rows(judged)]
    return _HEADER, tuple(dict.fromkeys(rows))  # a comparison that serves both statements stands once


def compared(decisions: Sequence[Decision]) -> tuple[Compared, ...]:
    """Every number that is compared: what, at, measured, predicted, difference, half of its interval, margin and mark.

    Differences, intervals and margins are in the units of the margin: shares of the prediction if it is relative.
    """
    return tuple(dict.fromkeys(row for decision in decisions for each in decision.judged for row in _numbers(each)))


def _numbers(judged: Judged | Counted) -> Iterator[Compared]:
    marks = judged.marks
    if isinstance(judged, Counted):
        count = judged.comparison
        share = count.exceptions / count.trials
        yield count.what, "", share, count.allowed, share - count.allowed, 0.0, 0.0, marks[0]
        return
    made = judged.comparison
    for k, label in enumerate(made.at):
        numbers = np.mean(made.samples[k]), made.predicted[k], judged.difference[k], judged.half[k], made.margin[k]
        measured, predicted, difference, half, margin = (float(f"{float(x):.6g}") for x in numbers)
        yield made.what, label, measured, predicted, difference, half, margin, marks[k]


def _rows(judged: Judged | Counted) -> Iterator[Row]:
    if isinstance(judged, Counted):
        count = judged.comparison
        share = count.exceptions / count.trials
        mark = judged.marks[0]
        yield (count.what, f"{count.trials} trials", share, count.allowed, share - count.allowed, "", 0.0, "", mark)
        return
    made = judged.comparison
    scale, unit = (100, ", difference in %") if made.relative else (1, "")
    sign = {"both": "", "below": ", at most", "above": ", at least"}[made.side]
    for k, (label, mark) in enumerate(zip(made.at, judged.marks, strict=True)):
        difference, half, margin = (scale * float(x[k]) for x in (judged.difference, judged.half, made.margin))
        yield (
            made.what + sign + unit, label, float(np.mean(made.samples[k])), float(made.predicted[k]), difference,
            half or "", margin, made.samples.shape[1] if made.noisy else "", mark,
        )  # fmt: skip
