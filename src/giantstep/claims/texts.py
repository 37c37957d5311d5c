"""The texts of the claims, read from claims.toml. No numerical package is imported here."""

import tomllib
from dataclasses import dataclass
from importlib.resources import files

from giantstep.citations.quoted import Quoted


@dataclass(frozen=True)
class ClaimText(Quoted):
    """What a claim says: the fields of ``giantstep.checks.claim.Claim`` that are text."""

    name: str
    paper: str
    where: str
    statement: str
    test: str
    correction: str = ""


def _read() -> tuple[ClaimText, ...]:
    records = tomllib.loads(files("giantstep.claims").joinpath("claims.toml").read_text(encoding="utf-8"))["claims"]
    return tuple(ClaimText(**record) for record in records)


TEXTS = _read()
