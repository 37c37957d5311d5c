"""The statements of the literature that this library checks.

``TEXTS`` says what they are, and reading it is fast. ``CLAIMS`` has what measures and judges them, and is loaded when it is used.
"""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from giantstep.citations import PAPERS, Paper
from giantstep.claims.texts import TEXTS, ClaimText
from giantstep.errors import InputError

if TYPE_CHECKING:  # reading the texts must stay fast
    from giantstep.checks.claim import Claim
    from giantstep.claims.registry import CLAIMS

__all__ = ["CLAIMS", "TEXTS", "ClaimText", "cited", "select"]


def __getattr__(name: str) -> Any:
    if name != "CLAIMS":
        raise AttributeError(f"module 'giantstep.claims' has no attribute {name!r}")
    from giantstep.claims import registry

    return registry.CLAIMS


def select(names: Sequence[str] = ()) -> "tuple[Claim, ...]":
    """The claims with these names, in the order of the list; a group such as ``moniri`` stands for all of its claims.

    Without names, all of them.
    """
    known = [text.name for text in TEXTS]
    for name in names:
        if not any(_matches(each, name) for each in known):
            raise InputError(_unknown(name, known))
    from giantstep.claims import registry  # late: it is slow to import

    return tuple(claim for claim in registry.CLAIMS if not names or any(_matches(claim.name, name) for name in names))


def cited(name: str | None = None) -> tuple[Paper, ...]:
    """The papers behind a claim, a group of claims or a paper's key, and this library; without a name, all of them."""
    if name is None:
        return PAPERS
    keys = {text.paper for text in TEXTS if _matches(text.name, name)} | {
        each.key for each in PAPERS if each.key == name
    }
    if not keys:
        known = [text.name for text in TEXTS] + [each.key for each in PAPERS]
        raise InputError(_unknown(name, known, "claim or paper"))
    return tuple(each for each in PAPERS if each.key in keys | {PAPERS[-1].key})


def _matches(claim: str, name: str) -> bool:
    return claim == name or claim.startswith(name.rstrip("/") + "/")


def _unknown(name: str, known: list[str], what: str = "claim") -> str:
    near = get_close_matches(name, known, n=5, cutoff=0.4)
    hint = f" Did you mean {near[0]!r}?" if near else f" There are {len(known)}; the first is {known[0]!r}."
    others = f" Other names near it: {', '.join(near[1:])}." if near[1:] else ""
    return f"There is no {what} {name!r}.{hint}{others}"
