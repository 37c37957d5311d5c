"""Measurements and predictions of the claims at their least size, kept as text: verdicts are tested on them at no cost.

``python -m tests.kept CLAIM ...`` writes them anew, rounded to seven digits.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from giantstep.checks._check import gather
from giantstep.checks.claim import Claim, Data, Size
from giantstep.claims import select

FOLDER = Path(__file__).parent / "measured"


def least(claim: Claim) -> Size:
    """The smallest size that a claim has."""
    return "quick" if "quick" in claim.seeds else "full"


def load(claim: Claim) -> tuple[Data, Data]:
    """What was measured and what is predicted."""
    kept = json.loads(_path(claim).read_text(encoding="utf-8"))
    return back(kept["measured"]), back(kept["predicted"])


def write(claim: Claim) -> None:
    """Measure and predict on the seeds that the noise asks for, and keep it."""
    measured, predicted, _ = gather(claim, least(claim), 0)
    found = {"measured": measured, "predicted": predicted}
    FOLDER.mkdir(exist_ok=True)
    _path(claim).write_text(json.dumps(plain(found), indent=None, separators=(",", ":")) + "\n", encoding="utf-8")


def _path(claim: Claim) -> Path:
    return FOLDER / f"{claim.name.replace('/', '-')}.json"


def plain(value: Any, digits: int = 7) -> Any:
    """Data as JSON has them, rounded to so many digits."""
    if isinstance(value, np.ndarray):
        return {"shape": list(value.shape), "array": [plain(x, digits) for x in value.ravel().tolist()]}
    if isinstance(value, dict):
        assert all(isinstance(key, str) for key in value), value.keys()
        return {key: plain(item, digits) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item, digits) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item(), digits)
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def back(value: Any) -> Any:
    """The data again."""
    if isinstance(value, dict) and value.keys() == {"shape", "array"}:
        return np.array(value["array"]).reshape(value["shape"])
    if isinstance(value, dict):
        return {key: back(item) for key, item in value.items()}
    return [back(item) for item in value] if isinstance(value, list) else value


if __name__ == "__main__":
    for each in select(sys.argv[1:]):
        write(each)
        print(each.name, _path(each).stat().st_size // 1024, "KiB")
