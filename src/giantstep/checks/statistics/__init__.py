"""The statistics of a verdict: one rule for every claim, with simultaneous intervals and a declared margin and departure.

A claim declares before the measurement what it compares, which difference the statement is allowed at this size (the margin,
with a reason in the text of its test) and which difference must be noticed (the departure). The rule does the rest:

1. A pilot of seeds measures the noise. The number of seeds follows from the noise alone (Stein 1945), so the mean cannot stop
   the sampling. It has an upper limit, which is the budget of the claim.
2. Variances from few seeds are moderated by those of the other comparisons of the same kind (Smyth 2004).
3. All comparisons of a statement get simultaneous intervals of level ``ALPHA``. The statement fails if one interval lies outside
   its margin. It holds if none does and every departure would have been noticed. Otherwise it is inconclusive.
4. An interval inside the margin is "within" it. One that leaves the margin without lying outside is "not distinguishable": the
   declared departure would have been noticed, a smaller one not.

``checks.outcome`` says what is concluded from the decisions.
"""

from giantstep.checks.statistics._count import Count
from giantstep.checks.statistics._decision import ALPHA, RATES, Decision, Evidence, decide, stated, trend
from giantstep.checks.statistics._exponent import exponent, pseudovalues
from giantstep.checks.statistics._judging import Judging, judging
from giantstep.checks.statistics.comparison import ComparedNumbers, Tolerance, Tolerances, compare, each_and_mean

__all__ = [
    "ALPHA",
    "RATES",
    "ComparedNumbers",
    "Count",
    "Decision",
    "Evidence",
    "Judging",
    "Tolerance",
    "Tolerances",
    "compare",
    "decide",
    "each_and_mean",
    "exponent",
    "judging",
    "pseudovalues",
    "stated",
    "trend",
]
