"""checked_by(module): the claim that a module checks, with the texts that have its name."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Protocol

from giantstep.checks.claim import Claim, Data, Ruling, Size, Verdict
from giantstep.checks.statistics import Evidence, Seeds
from giantstep.claims.full import last_full_verdict
from giantstep.claims.texts import TEXTS


class ClaimModule(Protocol):
    """What the module of a claim defines. It may also define ``predict`` and ``predict_draws``, as ``Claim`` explains them."""

    __name__: str

    @property
    def SEEDS(self) -> Mapping[Size, Seeds]: ...

    @property
    def measure(self) -> Callable[[Size, range], Data]: ...

    @property
    def compare(self) -> Callable[[Size, Data, Data], Evidence]: ...

    @property
    def describe(self) -> Callable[[Size, Data, Data, Ruling], Verdict]: ...


def checked_by(module: ClaimModule) -> Claim:
    """The claim that bears the name of the module: ``claims/moniri/gradient/rank_one.py`` checks ``moniri/rank-one``."""
    paper, *_, file = module.__name__.split(".")[2:]
    (text,) = (each for each in TEXTS if each.name == f"{paper}/{file.replace('_', '-')}")
    return Claim(
        **asdict(text), measure=module.measure, compare=module.compare, describe=module.describe, seeds=module.SEEDS,
        predict=getattr(module, "predict", None), predict_draws=getattr(module, "predict_draws", None),
        full_verdict=last_full_verdict(text.name),
    )  # fmt: skip
