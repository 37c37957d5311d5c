"""Wrong worlds of the claim on the baselines."""

from collections.abc import Callable

import pytest

import giantstep as gs
from giantstep_papers.ba import rivals

World = Callable[[pytest.MonkeyPatch], None]


def shorter_step(patch: pytest.MonkeyPatch) -> None:
    right = rivals.etas
    patch.setattr(rivals, "etas", lambda p: (0.5 * right(p)[0], *right(p)[1:]))


def more_noise(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rivals, "target", lambda: gs.target("x1 + H2(x1)/sqrt(2)", noise=0.75))


WORLDS: dict[str, dict[str, World]] = {
    "ba/baselines": {
        "the giant step is half as long": shorter_step,
        "labels have a noise of 0.75 in place of 0.5": more_noise,
    }
}
