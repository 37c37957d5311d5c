"""The claims on two steps at linear width, run at tiny sizes."""

import kept
import pytest

from giantstep.claims import select
from giantstep.claims.moniri_hassani import degenerate, exponents, outliers, phase_diagram, reuse


@pytest.fixture
def tiny(monkeypatch):
    """Sizes that say nothing."""
    for claim, size in (
        (outliers, (50, 2)), (phase_diagram, (50, 1)), (exponents, ((45, 50), 2)), (degenerate, (50, 2)), (reuse, (48, 3, 2)),
    ):  # fmt: skip
        monkeypatch.setitem(claim.SIZES, "quick", size)
    monkeypatch.setitem(phase_diagram.ALPHAS1, "quick", (0.0, 0.4))
    monkeypatch.setitem(phase_diagram.ALPHAS2, "quick", (0.1, 0.4))


@pytest.mark.parametrize("claim", select(["moniri_hassani"]), ids=lambda claim: claim.name)
def test_a_claim_runs(claim, tiny):
    found = claim.measure("quick"), claim.predict("quick")
    verdict = claim.judge("quick", *(kept._back(kept._plain(data)) for data in found))
    assert verdict.sentence and verdict.rows and "<svg" in verdict.figure
