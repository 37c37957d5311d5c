"""Words: what the intervals of a statement say, and which differences the test would have noticed."""

import re
from collections.abc import Collection, Sequence

import numpy as np

from giantstep.checks.statistics._count import Counted
from giantstep.checks.statistics.comparison import MISSED, ComparedNumbers, Judged, Mark, Side
from giantstep.results.table import with_error

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
BOUND: dict[Side, str] = {"both": "", "below": "at most ", "above": "at least "}
ALLOWED: dict[Side, str] = {"both": "± {}", "below": "{} more", "above": "{} less"}
OUTSIDE_BRACKETS = re.compile(r", (?![^(]*\))")  # a comma that no bracket surrounds

Blocks = Sequence[Judged | Counted]


def told(judged: Blocks) -> str:
    """The result in words: how many numbers agree, in which of two grades, and which is the furthest from its prediction."""
    if not all(each.finite for each in judged):
        return "Some measured numbers are not finite, so nothing can be decided."
    marks: list[Mark] = [mark for each in judged for mark in each.marks]
    block, index = _furthest(judged)
    name, numbers = _name(block, index), _numbers(block, index)
    if len(marks) == 1:
        ((_, phrase, grade),) = _phrases(marks)
        return f"{_capital(name)} {phrase}: {numbers}.{grade}"
    first = "The largest gap is" if block.usage[index] > 0 else "The closest to its bound is"
    return f"{_tally(marks)} {first} {name}: {numbers}."


def noticed(judged: Blocks) -> str:
    """The seeds and what they would have shown, in a line: 21 seeds; would have noticed 0.09 in the exponent of n."""
    drawn = _once([each for each in judged if isinstance(each, Counted) or each.comparison.noisy])
    numbers = [each.comparison for each in judged if isinstance(each, Judged)]
    relative = {_kind(made) for made in numbers if made.relative}  # so is the mean of relative differences
    spans: dict[tuple[str, str], list[float]] = {}
    for each in drawn or judged:
        where, unit, values = _reach(each, relative)
        spans.setdefault((where, unit), []).extend(values)
    parts = [f"{_span(values)}{unit} {where}" for (where, unit), values in spans.items() if values]
    seen = f"would have noticed {_listed(parts)}" if parts else "too few to notice a departure"
    return f"{_drawn(drawn)}; {seen}."


def _furthest(judged: Blocks) -> tuple[Judged | Counted, int]:
    """The number with the largest difference in units of its departure; one outside its margin comes first."""
    found = ((bool(each.missed[k]), float(each.usage[k]), i, k) for i, each in enumerate(judged) for k in _each(each))
    _, _, i, k = max(found, key=lambda number: number[:2])
    return judged[i], k


def _each(judged: Judged | Counted) -> range:
    return range(judged.comparison.count)


# --- how many numbers agree ---


def _tally(marks: Sequence[Mark]) -> str:
    """How many numbers lie outside, agree or are too noisy to tell."""
    phrases = _phrases(marks)
    last = len(phrases) - 1
    subjects = [_who(each[0], len(marks), first=k == 0, last=k == last) for k, each in enumerate(phrases)]
    return " ".join(f"{who} {phrase}.{more}" for who, (_, phrase, more) in zip(subjects, phrases, strict=True))


def _phrases(marks: Sequence[Mark]) -> list[tuple[int, str, str]]:
    """How many numbers do what, and one sentence more about those that agree, which are of two grades."""
    within, hidden = marks.count("within"), marks.count("not distinguishable")
    how = "with the prediction" if hidden else "with the prediction, within the margin"
    phrases = (
        (marks.count("outside"), "lies outside the margin", "lie outside the margin", ""),
        (within + hidden, f"agrees {how}", f"agree {how}", _hidden(hidden, within)),
        (marks.count("open"), "is too noisy to tell", "are too noisy to tell", ""),
    )
    return [(count, one if count == 1 else many, more) for count, one, many, more in phrases if count]


def _who(count: int, total: int, *, first: bool, last: bool) -> str:
    """The subject of a sentence about ``count`` of ``total`` numbers."""
    if first and last:
        return "Both numbers" if total == 2 else f"All {_word(total)} numbers"
    if first:
        return f"{_capital(_word(count))} of {_word(total)} numbers"
    if last:
        return "The other" if count == 1 else f"The other {_word(count)}"
    return _capital(_word(count))


def _hidden(hidden: int, within: int) -> str:
    """The second grade of agreement: the interval leaves the margin, and the departure would have shown."""
    if not hidden:
        return ""
    whom = f"For {_word(hidden)} of them noise" if within else "Noise"
    which = "it lies" if hidden == 1 else "they lie"
    return f" {whom} hides on which side of the margin {which}."


# --- one number ---


def _name(judged: Judged | Counted, index: int) -> str:
    """The quantity and where it is measured: the edge of the bulk for ReLU."""
    if isinstance(judged, Counted):
        return f"the number of {judged.comparison.what}"
    made = judged.comparison
    comma = "," if OUTSIDE_BRACKETS.search(made.what) else ""
    return f"the {made.what}{comma} for {made.at[index]}" if made.at[index] else f"the {made.what}"


def _numbers(judged: Judged | Counted, index: int) -> str:
    """What is measured, what is predicted and what is allowed."""
    if isinstance(judged, Counted):
        count = judged.comparison
        return f"{count.exceptions} of {count.trials} measured, {100 * count.allowed:.2g}% allowed"
    made = judged.comparison
    found, half = float(np.mean(made.samples[index])), float(judged.half[index])
    measured = f"{found:.3g}" if made.relative or not half else with_error(found, half)
    text = (
        f"{measured} {'measured' if made.noisy else 'computed'}, "
        f"{BOUND[made.side]}{made.predicted[index]:.3g} predicted{_allowed(judged, index)}"
    )
    return text.replace("-", "−")


def _allowed(judged: Judged, index: int) -> str:
    """In brackets the margin, where there is one, and the difference if it is a share of the prediction."""
    made = judged.comparison
    margin = float(made.margin[index])
    if not made.relative:
        return f" ({ALLOWED[made.side].format(f'{margin:.2g}')} is allowed)" if margin else ""
    difference, half = 100 * float(judged.difference[index]), 100 * float(judged.half[index])
    off = with_error(difference, half) if half else _short(difference)
    return f" (off by {off}%; {ALLOWED[made.side].format(f'{100 * margin:.2g}%')} is allowed)"


# --- what the test would have noticed ---


def _reach(judged: Judged | Counted, relative: Collection[str]) -> tuple[str, str, list[float]]:
    """Where a difference would have been noticed, its unit, and the least that would have been."""
    if isinstance(judged, Counted):
        count = judged.comparison
        return f"of {count.what}", "%", [100 * count.departure] if judged.seen >= 1 - MISSED else []
    made = judged.comparison
    scale, unit = (100, "%") if _kind(made) in relative else (1, "")
    return f"in the {_kind(made)}", unit, (scale * (made.margin + judged.reach)).tolist()


def _once(judged: Blocks) -> list[Judged | Counted]:
    """Without the numbers that are compared a second time, such as an exponent with its trend."""
    kept: list[Judged | Counted] = []
    for each in judged:
        if not any(_same(one, each) for one in kept):
            kept.append(each)
    return kept


def _same(one: Judged | Counted, other: Judged | Counted) -> bool:
    if isinstance(one, Counted) or isinstance(other, Counted):
        return one is other
    return np.array_equal(one.comparison.samples, other.comparison.samples)


def _kind(made: ComparedNumbers) -> str:
    """The quantity without what is said of it after a comma, such as "mean of all"."""
    return OUTSIDE_BRACKETS.split(made.what)[0]


def _drawn(judged: Blocks) -> str:
    """How many seeds, or trials if there are only these."""
    seeds = {each.comparison.samples.shape[1] for each in judged if isinstance(each.comparison, ComparedNumbers)}
    trials = {each.comparison.trials for each in judged if isinstance(each, Counted)}
    counts, what = (seeds, "seeds") if seeds else (trials, "trials")
    if not counts:
        return "No randomness"
    least, most = min(counts), max(counts)
    return f"{least} {what}" if least == most else f"{least} to {most} {what}"


def _span(values: Collection[float]) -> str:
    least, most = (_short(value) for value in (min(values), max(values)))
    return least if least == most else f"{least} to {most}"


def _short(value: float) -> str:
    """Two digits, and no exponent for a large number."""
    return f"{value:.2g}" if abs(value) < 100 else f"{value:.0f}"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _word(count: int) -> str:
    return NUMBERS[count] if count < len(NUMBERS) else str(count)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
