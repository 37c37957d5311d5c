"""Claims for tests: they compare numbers that give the wanted verdicts, at no cost."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from giantstep.checks import statistics
from giantstep.checks.claim import Claim, Seeds
from giantstep.checks.statistics import Evidence, Tolerance
from giantstep.checks.verdict import Verdict


def comparison(outcome: str) -> statistics.ComparedNumbers:
    """A number beside zero whose verdict is this."""
    if outcome == "inconclusive":
        return statistics.compare("number", [[-20.0, 20.0]], within=Tolerance(1.0, 5.0))
    return statistics.compare("number", [9.0 if outcome == "fails" else 0.0], within=Tolerance(1.0, 5.0), noisy=False)


def nothing(*_: Any) -> dict[str, Any]:
    return {}


def claim(
    name: str, verdict: Verdict, paper: str = "moniri", measure: Callable[..., Any] = nothing, **changes: Any
) -> Claim:
    """A claim whose decisions are those of this verdict; its texts and functions may be changed.

    The statement is our own, so that it is judged at the sizes at hand.
    """
    stated = (comparison(verdict.stated or "holds"),)
    limit, corrected = ((comparison(finding),) if finding else () for finding in (verdict.limit, verdict.corrected))
    texts = {"statement": "It is so.", "where": "Theorem 1", "how": "We compare."}
    if corrected:
        texts["correction"] = "It is nearly so."
    given: dict[str, Any] = {
        **texts,
        "compare": lambda *_: Evidence(stated, corrected, limit),
        "describe": lambda *_: replace(verdict, outcome="not run", stated=None, limit=None, corrected=None),
        "seeds": {"quick": Seeds(2, 2), "full": Seeds(2, 2)},
        "measure": measure,
    }
    return Claim(name=name, paper=paper, **(given | changes))


def spread(values: np.ndarray, by: float) -> np.ndarray:
    """Deviations from the mean over seeds, the last axis, ``by`` times as wide."""
    mean = values.mean(axis=-1, keepdims=True)
    return mean + by * (values - mean)
