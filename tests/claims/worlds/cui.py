"""Wrong worlds of the claim on the test error after one step."""

from collections.abc import Callable

import pytest

from giantstep_papers.cui import test_error as claim

World = Callable[[pytest.MonkeyPatch], None]


def longer_step(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(claim, "CASES", tuple(case._replace(eta=1.3 * case.eta) for case in claim.CASES))


def larger_penalty(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(claim, "CASES", tuple(case._replace(penalty=3 * case.penalty) for case in claim.CASES))


def rank_one(patch: pytest.MonkeyPatch) -> None:
    """The network takes the rank-one part of its step, as the spiked model does."""
    real = claim.experiment
    patch.setattr(claim, "experiment", lambda case, d, ratio, update="gradient": real(case, d, ratio, "rank1"))


def shorter_step(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(claim, "CASES", tuple(case._replace(eta=case.eta / 3) for case in claim.CASES))


WORLDS: dict[str, dict[str, World]] = {
    "cui/test-error": {
        "the step is 1.3 times as long": longer_step,
        "the penalty is three times as large": larger_penalty,
    },
    "giantstep/network-gap": {
        "the step is its rank-one part": rank_one,
        "the step is a third as long": shorter_step,
    },
}
