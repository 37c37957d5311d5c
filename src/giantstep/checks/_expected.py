"""The expected costs of claims: the seconds that they took in the previous report."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from giantstep.checks.claim import Claim


def read_seconds(folder: Path, size: str) -> dict[str, float]:
    """Seconds by the names of the claims from ``folder/verdicts.json``; empty if that file cannot be read."""
    try:
        results = json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))["results"]
        ran = [each for each in results if each["size"] == size and each["outcome"] != "not run"]
        return {each["claim"]: float(each["seconds"]) for each in ran if each["seconds"] > 0}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def weight(claim: Claim, expected: Mapping[str, float]) -> float:
    """The relative cost of a claim; a claim without an expectation costs the mean of the others."""
    mean = sum(expected.values()) / len(expected) if expected else 1.0
    return expected.get(claim.name, mean)


def longest_first(claims: Sequence[Claim], expected: Mapping[str, float]) -> list[Claim]:
    """The order in which workers begin claims: a long claim at the end would leave the other workers idle."""
    return sorted(claims, key=lambda claim: -weight(claim, expected))
