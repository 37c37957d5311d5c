"""The evidence and the rulings of all claims are frozen, in the right world and in wrong ones."""

import json
import math
from typing import Any

import pytest

from giantstep.claims import CLAIMS
from tests.frozen import evidence

FROZEN = json.loads(evidence.FILE.read_text(encoding="utf-8"))


def test_all_claims_are_frozen():
    assert FROZEN.keys() == {claim.name for claim in CLAIMS}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_what_is_judged_is_frozen(claim):
    assert not list(apart(evidence.frozen(claim), FROZEN[claim.name]))


def apart(found: Any, kept: Any, where: str = ""):
    """The places where plain values differ: numbers by more than rounding, all else at all."""
    if isinstance(found, dict) and isinstance(kept, dict) and found.keys() == kept.keys():
        for key in found:
            yield from apart(found[key], kept[key], f"{where}/{key}")
    elif isinstance(found, list) and isinstance(kept, list) and len(found) == len(kept):
        for i, pair in enumerate(zip(found, kept, strict=True)):
            yield from apart(*pair, f"{where}/{i}")
    elif isinstance(found, float) and isinstance(kept, int | float):
        if not math.isclose(found, kept, rel_tol=1e-8, abs_tol=1e-11):
            yield f"{where}: {found!r}, not {kept!r}"
    elif found != kept:
        yield f"{where}: {found!r}, not {kept!r}"


def test_differences_are_noticed():
    assert list(apart({"a": [1.0, 2.0]}, {"a": [1.0, 2.00001]})) == ["/a/1: 2.0, not 2.00001"]
    assert list(apart({"a": 1}, {"b": 1})) and list(apart([1], [1, 2])) and list(apart("x", "y"))
    assert not list(apart({"a": [1.0, "x"]}, {"a": [1.0 + 1e-13, "x"]}))
