"""Worlds in which one-pass SGD does not follow the equations: the run is altered, the equations are not."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from giantstep_papers.saad_solla import one_pass

_SIMULATED = one_pass.simulate_sgd


def _scaled(patch: pytest.MonkeyPatch) -> None:
    """The overlaps M and Q of the run are 5% too large."""

    def sgd(*arguments, **more):
        path = _SIMULATED(*arguments, **more)
        return replace(path, M=1.05 * path.M, Q=1.05 * path.Q)

    patch.setattr(one_pass, "simulate_sgd", sgd)


def _longer(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(one_pass, "simulate_sgd", lambda s, n, eta, seed, **more: _SIMULATED(s, n, 1.1 * eta, seed, **more))


WORLDS: dict[str, dict[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "saad_solla/one-pass": {"overlaps are 5% too large": _scaled, "the step is 1.1 times as long": _longer}
}
