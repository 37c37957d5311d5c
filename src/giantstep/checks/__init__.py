"""Claims of the literature: measured, judged and reported. The names here are those that a claim is written with.

They are loaded when they are first used, so that what claims say is read without what they compute with.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from giantstep.checks import cache as cache
    from giantstep.checks import statistics as statistics
    from giantstep.checks.claim import EXPONENT as EXPONENT
    from giantstep.checks.claim import LIMIT as LIMIT
    from giantstep.checks.claim import Claim as Claim
    from giantstep.checks.claim import Data as Data
    from giantstep.checks.claim import Judge as Judge
    from giantstep.checks.claim import Seeds as Seeds
    from giantstep.checks.claim import Size as Size
    from giantstep.checks.statistics import ComparedNumbers as ComparedNumbers
    from giantstep.checks.statistics import Count as Count
    from giantstep.checks.statistics import Evidence as Evidence
    from giantstep.checks.statistics import Judging as Judging
    from giantstep.checks.statistics import Tolerance as Tolerance
    from giantstep.checks.statistics import Tolerances as Tolerances
    from giantstep.checks.statistics import judging as judging
    from giantstep.checks.verdict import Ruling as Ruling
    from giantstep.checks.verdict import Verdict as Verdict
    from giantstep.checks.verdict import rule as rule

HOMES = {
    "claim": ("EXPONENT", "LIMIT", "Claim", "Data", "Judge", "Seeds", "Size"),
    "statistics": ("ComparedNumbers", "Count", "Evidence", "Judging", "Tolerance", "Tolerances", "judging"),
    "verdict": ("Ruling", "Verdict", "rule"),
}


def __getattr__(name: str) -> Any:
    for home, names in HOMES.items():
        if name in names:
            return getattr(import_module(f"giantstep.checks.{home}"), name)
    if name in ("cache", "statistics"):
        return import_module(f"giantstep.checks.{name}")
    raise AttributeError(f"module 'giantstep.checks' has no attribute {name!r}")
