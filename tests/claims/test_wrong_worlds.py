"""Every claim fails in a world whose simulator is altered: on what was measured there and kept."""

import pytest
import wrong_worlds as worlds

from giantstep.claims import CLAIMS


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_a_claim_fails_in_every_wrong_world(claim):
    found = worlds.load(claim)
    assert found.keys() == worlds.of(claim).keys() and len(found) >= 2
    for name, (measured, predicted) in found.items():
        assert worlds.failed(claim, measured, predicted), name
