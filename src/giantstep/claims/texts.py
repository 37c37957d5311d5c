"""The texts of the claims, read from claims.toml. No numerical package is imported here."""

import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.resources import files

from giantstep.checks.claim import Claim, Data, Size, Verdict

__all__ = ["TEXTS", "Text", "claim"]


@dataclass(frozen=True)
class Text:
    """What a claim says: the fields of ``giantstep.checks.claim.Claim`` that are text."""

    name: str
    paper: str
    where: str
    statement: str
    test: str


def _read() -> tuple[Text, ...]:
    records = tomllib.loads(files("giantstep.claims").joinpath("claims.toml").read_text(encoding="utf-8"))["claims"]
    return tuple(Text(**record) for record in records)


TEXTS = _read()


def claim(
    name: str,
    *,
    measure: Callable[[Size], Data],
    judge: Callable[[Size, Data, Data], Verdict],
    predict: Callable[[Size], Data] | None = None,
) -> Claim:
    """The claim whose texts have this name, with the functions that check it."""
    (text,) = (each for each in TEXTS if each.name == name)
    return Claim(**asdict(text), measure=measure, judge=judge, predict=predict)
