"""The claims with what measures and judges them: importing a claim loads all that it computes with."""

from dataclasses import replace
from functools import cache
from importlib import import_module
from types import ModuleType

from giantstep.checks.claim import Claim
from giantstep.claims import TEXTS
from giantstep.claims._full import last_full_verdict
from giantstep.errors import InputError

NEEDED = ("measure", "compare")
FUNCTIONS = (*NEEDED, "describe", "predict", "predict_draws")


def bound(module: ModuleType, text: Claim) -> Claim:
    """The claim that a module declares, with the functions that it defines."""
    lacking = [name for name in NEEDED if not hasattr(module, name)]
    if lacking:
        raise InputError(f"The claim {text.name!r} does not define {' and '.join(lacking)}.")
    given = {name: getattr(module, name) for name in FUNCTIONS if hasattr(module, name)}
    return replace(text, **given, full_verdict=last_full_verdict(text.name))


@cache
def loaded(name: str) -> Claim:
    """The claim with this name, ready to be run."""
    (text,) = (each for each in TEXTS if each.name == name)
    return bound(import_module(text.module), text)
