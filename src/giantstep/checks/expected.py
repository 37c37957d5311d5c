"""What claims are expected to cost: the seconds that they took in the report that is being replaced."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from giantstep.checks.claim import Claim

__all__ = ["longest_first", "reported", "weight"]


def reported(folder: Path, size: str) -> dict[str, float]:
    """Seconds by the names of the claims, of ``folder/verdicts.json``; nothing where there is no such file to read."""
    try:
        results = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))["results"]
        ran = [each for each in results if each["size"] == size and each["outcome"] != "not run"]
        return {each["claim"]: float(each["seconds"]) for each in ran if each["seconds"] > 0}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def weight(claim: Claim, expected: Mapping[str, float]) -> float:
    """What a claim costs beside others; one that nothing is known of costs as much as the others on average."""
    mean = sum(expected.values()) / len(expected) if expected else 1.0
    return expected.get(claim.name, mean)


def longest_first(claims: Sequence[Claim], expected: Mapping[str, float]) -> list[Claim]:
    """The order in which workers begin claims: no long one is left for the end, when the other workers have nothing to do."""
    return sorted(claims, key=lambda claim: -weight(claim, expected))
