"""Worlds in which the statements of Wang and Ma (2022) are false."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from giantstep.claims.wang_ma import cases

_system, _simulated = cases.system, cases.simulated


def _built(**changed: Any) -> Callable[[pytest.MonkeyPatch], None]:
    """Every system differs in these fields."""
    return lambda patch: patch.setattr(cases, "system", lambda *what: replace(_system(*what), **changed))


def _run(change: Callable[..., tuple]) -> Callable[[pytest.MonkeyPatch], None]:
    """The network is run with other arguments (loss, n, width, rate, steps, batch, general); its prediction is not."""
    return lambda patch: patch.setattr(cases, "simulated", lambda seed, *what: _simulated(seed, *change(*what)))


def faster(loss: str, n: int, width: int, rate: float, *more: Any) -> tuple:
    return loss, n, width, 1.1 * rate, *more


def narrower(loss: str, n: int, width: int, *more: Any) -> tuple:
    return loss, n, width - max(1, width // 8), *more


def steeper(loss: str, *more: Any) -> tuple:
    return {"logistic": "exponential"}.get(loss, loss), *more


def larger(loss: str, n: int, width: int, rate: float, steps: int, batch: int, *more: Any) -> tuple:
    return loss, n, width, rate, steps, batch + 1, *more


WORLDS: dict[str, dict[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "wang_ma/partition": {
        "the data are not separable, with a cosine of 0.5": _built(cosine=0.5),
        "neurons have no bias, so that fewer are alive": _built(bias="none"),
    },
    "wang_ma/early": {
        "the rate is 1.1 times as large": _run(faster),
        "an eighth of the neurons is missing": _run(narrower),
    },
    "wang_ma/convergence": {
        "the rate is 1.1 times as large": _run(faster),
        "the exponential loss stands for the logistic one": _run(steeper),
    },
    "wang_ma/sgd": {
        "the rate is 1.1 times as large": _run(faster),
        "a batch has one sample more": _run(larger),
    },
}
