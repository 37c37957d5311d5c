"""Outcome: what is concluded about a statement from the decisions on it, with its words and marks.

The source's own words are judged, by the reading that suits them best:

* A bound is contradicted only by a quantity beyond it. How loose it is, is a number beside the verdict.
* A statement on a limit is judged by the limit: by a trend over three sizes or more, or by our own theory at
  large sizes. What is measured at the sizes at hand can neither contradict it nor save it.
* A figure, a definition and a statement of our own are judged where they are made, at the sizes at hand.
"""

from dataclasses import dataclass
from typing import Literal

from giantstep.citations._quoted import Kind

__all__ = ["OUTCOMES", "Finding", "Outcome", "conclude"]

Finding = Literal["holds", "fails", "inconclusive"]
Outcome = Literal[
    "holds",
    "holds in the limit",
    "a bound, respected",
    "contradicted, holds with a correction",
    "contradicted",
    "undecided at these sizes",
    "not run",
]
BOUNDS = ("upper bound", "lower bound")
AT_HAND = (*BOUNDS, "figure", "definition", "ours")  # judged at the sizes at hand


@dataclass(frozen=True)
class Shown:
    """How an outcome is shown: ``mark`` and ``key`` (of style sheets), in counts, and in one sentence."""

    mark: str
    key: str
    counted: tuple[str, str]  # after the number of claims, one and many
    meaning: str


OUTCOMES: dict[Outcome, Shown] = {
    "holds": Shown(
        "✓", "holds", ("holds", "hold"), "What we measured agrees with the statement, at the sizes at hand."
    ),
    "holds in the limit": Shown(
        "→",
        "limit",
        ("holds in the limit", "hold in the limit"),
        "The statement is about large sizes. The trend with the size, or theory at large sizes, agrees with it. "
        "The sizes at hand are still some way off.",
    ),
    "a bound, respected": Shown(
        "≤",
        "bound",
        ("is a bound that is respected", "are bounds that are respected"),
        "Nothing that we measured lies beyond the bound. How loose it is, is a number beside the verdict.",
    ),
    "contradicted, holds with a correction": Shown(
        "✎",
        "corrected",
        ("is contradicted and holds with a correction", "are contradicted and hold with a correction"),
        "What we measured contradicts the statement as worded, and agrees with a corrected one.",
    ),
    "contradicted": Shown(
        "✗",
        "contradicted",
        ("is contradicted", "are contradicted"),
        "What we measured contradicts the statement, and we know of no correction.",
    ),
    "undecided at these sizes": Shown(
        "?",
        "undecided",
        ("is undecided", "are undecided"),
        "The sizes at hand are too small, or the noise too large, to judge the statement.",
    ),
    "not run": Shown(
        "○",
        "not-run",
        ("was not run", "were not run"),
        "The data are not on this machine, the claim needs full size, or an error stopped it.",
    ),
}


def conclude(kind: Kind, stated: Finding, limit: Finding | None = None, corrected: Finding | None = None) -> Outcome:
    """What follows from the decisions on a statement of this kind, on its limit and on its correction."""
    contradicted: Outcome = "contradicted, holds with a correction" if corrected == "holds" else "contradicted"
    if limit == "fails":
        return contradicted
    if limit == "inconclusive":
        return "undecided at these sizes"
    if stated == "holds":
        return "a bound, respected" if kind in BOUNDS else "holds"
    if limit == "holds":
        return "holds in the limit"
    return contradicted if stated == "fails" and kind in AT_HAND else "undecided at these sizes"
