"""What is judged and how: the numbers of every claim and of its wrong worlds, from what was kept.

``python -m tests.frozen.evidence`` writes the frozen file anew; ``--digits 17`` prints every bit.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parents[1] / "claims")]

import kept  # noqa: E402
import wrong_worlds  # noqa: E402

from giantstep.checks.claim import Claim, Data  # noqa: E402
from giantstep.checks.statistics import ComparedNumbers, Count, Decision  # noqa: E402
from giantstep.checks.verdict import Ruling  # noqa: E402
from giantstep.claims import select  # noqa: E402

FILE = Path(__file__).parent / "evidence.json"
DIGITS = 12  # of those kept; processors differ in the last ones


def frozen(claim: Claim, digits: int = DIGITS) -> dict[str, Any]:
    """The evidence and the decisions in the right world and in every wrong one."""
    worlds = {"": kept.load(claim), **wrong_worlds.load(claim)}
    return {name: judged(claim, *each, digits) for name, each in worlds.items()}


def judged(claim: Claim, measured: Data, predicted: Data, digits: int) -> dict[str, Any]:
    ruling = Ruling.on(claim.compare(kept.least(claim), measured, predicted))
    parts = {name: getattr(ruling, name) for name in ("stated", "limit", "corrected")}
    return {
        "outcome": ruling.outcome(claim.kind),
        **{name: decided(each, digits) for name, each in parts.items() if each is not None},
    }


def decided(decision: Decision, digits: int) -> dict[str, Any]:
    return {
        "outcome": decision.outcome,
        "seeds_factor": kept.plain(decision.seeds_factor, digits),
        "compared": [row(each, digits) for each in decision.judged],
    }


def row(judged: Any, digits: int) -> dict[str, Any]:
    made: ComparedNumbers | Count = judged.comparison
    if isinstance(made, Count):
        exact = {"what": made.what, "exceptions": made.exceptions, "trials": made.trials}
        numbers = {"allowed": made.allowed, "departure": made.departure, "lower": judged.lower}
        return exact | kept.plain(numbers, digits)
    exact = {
        "what": made.what,
        "at": list(made.at),
        "side": made.side,
        "relative": made.relative,
        "noisy": made.noisy,
    }
    numbers = {
        "mean": made.samples.mean(axis=1),
        "spread": made.samples.std(axis=1),
        "predicted": made.predicted,
        "margin": made.margin,
        "departure": made.departure,
        "difference": judged.difference,
        "half": judged.half,
    }
    counts = {"seeds": made.samples.shape[1], "marks": list(judged.marks)}
    return exact | counts | {name: listed(each, digits) for name, each in numbers.items()}


def listed(values: np.ndarray, digits: int) -> list[float]:
    return [float(f"{value:.{digits}g}") for value in values.tolist()]


def lines(digits: int = DIGITS) -> str:
    """JSON with a line for every claim."""
    made = (f"{json.dumps(each.name)}: {_one_line(frozen(each, digits))}" for each in select([]))
    return "{\n" + ",\n".join(made) + "\n}\n"


def _one_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def write() -> None:
    """Freeze the evidence."""
    FILE.write_text(lines(), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--digits", type=int)
    chosen = parser.parse_args()
    if chosen.digits:
        print(lines(chosen.digits), end="")
    else:
        write()
