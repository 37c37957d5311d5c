"""claim(name, ...): a claim from its texts and the functions that check it."""

from collections.abc import Callable, Mapping
from dataclasses import asdict

from giantstep.checks.claim import Claim, Data, Ruling, Size, Verdict
from giantstep.checks.statistics import Evidence, Seeds
from giantstep.claims.full import last_full_verdict
from giantstep.claims.texts import TEXTS

__all__ = ["claim"]


def claim(
    name: str,
    *,
    measure: Callable[[Size, range], Data],
    compare: Callable[[Size, Data, Data], Evidence],
    describe: Callable[[Size, Data, Data, Ruling], Verdict],
    seeds: Mapping[Size, Seeds],
    predict: Callable[[Size], Data] | None = None,
    predict_draws: Callable[[Size, range], Data] | None = None,
) -> Claim:
    """The claim whose texts have this name, with the functions that check it."""
    (text,) = (each for each in TEXTS if each.name == name)
    return Claim(
        **asdict(text), measure=measure, compare=compare, describe=describe, seeds=seeds, predict=predict,
        predict_draws=predict_draws, full_verdict=last_full_verdict(name),
    )  # fmt: skip
