"""Wrong worlds of the claim on double descent."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from giantstep_papers.mei_montanari import double_descent as claim

World = Callable[[pytest.MonkeyPatch], None]


def more_noise(patch: pytest.MonkeyPatch) -> None:
    right = claim.experiment
    patch.setattr(
        claim,
        "experiment",
        lambda d, width: replace(right(d, width), target=replace(right(d, width).target, noise=0.6)),
    )


def penalty_without_width(patch: pytest.MonkeyPatch) -> None:
    """The penalty is not scaled by p/d."""
    right = claim.mean_risks
    patch.setattr(
        claim,
        "mean_risks",
        lambda X, F, second, cross, penalties, noise: right(X, F, second, cross, np.array(claim.PENALTIES), noise),
    )


WORLDS: dict[str, dict[str, World]] = {
    "mei_montanari/double-descent": {
        "labels have a noise of 0.6 in place of 0.5": more_noise,
        "the penalty does not grow with the width": penalty_without_width,
    }
}
