"""Claims of the literature: measured, judged and reported. The names here are those that a claim is written with."""

from giantstep.checks import cache, statistics
from giantstep.checks.claim import Data, Ruling, Size, Verdict
from giantstep.checks.statistics import ComparedNumbers, Count, Evidence, Seeds, Tolerance, Tolerances

__all__ = [
    "ComparedNumbers", "Count", "Data", "Evidence", "Ruling", "Seeds", "Size", "Tolerance", "Tolerances", "Verdict", "cache",
    "statistics",
]  # fmt: skip
