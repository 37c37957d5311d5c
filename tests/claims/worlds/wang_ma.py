"""Worlds in which the statements of Wang and Ma (2022) are false."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from giantstep.systems.early import Early
from giantstep_papers.wang_ma import cases

_system, _run = cases.system, cases.run


def _built(**changed: Any) -> Callable[[pytest.MonkeyPatch], None]:
    """Every system differs in these fields."""
    return lambda patch: patch.setattr(cases, "system", lambda *what: replace(_system(*what), **changed))


def _trained(change: Callable[[Early], Early]) -> Callable[[pytest.MonkeyPatch], None]:
    """The network is trained otherwise; what is followed without it is not."""
    return lambda patch: patch.setattr(cases, "run", lambda system, seed: _run(change(system), seed))


WORLDS: dict[str, dict[str, Callable[[pytest.MonkeyPatch], None]]] = {
    "wang_ma/partition": {
        "the data are not separable, with a cosine of 0.5": _built(cosine=0.5),
        "neurons have no bias, so that fewer are alive": _built(bias="none"),
    },
    "wang_ma/early": {
        "the rate is a tenth": _trained(lambda s: replace(s, rate=0.1 * s.rate)),
        "inputs do not depend on their class": _built(cosine=0.0),
    },
    "wang_ma/convergence": {
        "the rate is a tenth": _trained(lambda s: replace(s, rate=0.1 * s.rate)),
        "there is one neuron": _trained(lambda s: replace(s, width=1)),
    },
    "giantstep/early-time": {
        "the rate is 1.1 times as large": _trained(lambda s: replace(s, rate=1.1 * s.rate)),
        "an eighth of the neurons is missing": _trained(lambda s: replace(s, width=s.width - s.width // 8)),
    },
    "giantstep/late-loss": {
        "the rate is 1.1 times as large": _trained(lambda s: replace(s, rate=1.1 * s.rate)),
        "the exponential loss stands for the logistic one": _trained(lambda s: replace(s, loss="exponential")),
    },
    "wang_ma/sgd": {
        "the rate is 1.1 times as large": _trained(lambda s: replace(s, rate=1.1 * s.rate)),
        "a batch has one sample more": _trained(lambda s: replace(s, batch=s.batch + 1 if s.batch else None)),
    },
}
