"""Theory far beyond the sizes that run.

It says something of a limit only if it agrees with what is simulated.
"""

from giantstep.checks.statistics import ComparedNumbers, Count, decide

Compared = tuple[ComparedNumbers | Count, ...]


def vouched(theory: Compared, far: Compared) -> Compared:
    """``far`` if the comparisons of ``theory`` with simulations hold, else nothing.

    Then the limit is not known.
    """
    return far if decide(theory).outcome == "holds" else ()
