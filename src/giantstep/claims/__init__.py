"""The statements of the literature that this library checks.

``TEXTS`` says what they are: it is read from the files of ``giantstep_papers`` without executing them, so it is fast. ``CLAIMS``
has what measures and judges them, and is loaded when it is used.
"""

from collections.abc import Sequence
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from giantstep.checks.claim import Claim
from giantstep.citations import PAPERS, Paper
from giantstep.claims._read import read
from giantstep.errors import InputError

if TYPE_CHECKING:
    CLAIMS: tuple[Claim, ...]

__all__ = ["CLAIMS", "TEXTS", "cited", "select"]

PAPERS_PACKAGE = "giantstep_papers"


def _texts() -> tuple[Claim, ...]:
    """The claims of every folder, in the order of the citations."""
    spec = find_spec(PAPERS_PACKAGE)
    assert spec is not None and spec.submodule_search_locations
    (home,) = map(Path, spec.submodule_search_locations)
    folders = [paper.key for paper in PAPERS if (home / paper.key).is_dir()]
    return tuple(claim for key in folders for claim in read(home / key, f"{PAPERS_PACKAGE}.{key}"))


TEXTS = _texts()


def __getattr__(name: str) -> Any:
    if name != "CLAIMS":
        raise AttributeError(f"module 'giantstep.claims' has no attribute {name!r}")
    return select()


def texts(names: Sequence[str] = ()) -> tuple[Claim, ...]:
    """What the claims with these names say, as ``select`` finds them, without what they compute with."""
    from giantstep.claims import _own as own

    ours, mine = _parted(names)
    chosen = (text for text in TEXTS if not names or any(_matches(text.name, name) for name in ours))
    return (*chosen, *(text for name in mine for text in own.texts(name)))


def select(names: Sequence[str] = ()) -> tuple[Claim, ...]:
    """The claims with these names, in the order of the list; a group such as ``moniri`` stands for all of its claims.

    A folder, a file or ``folder/claim`` stands for claims of your own. Without names, all of ours.
    """
    from giantstep.claims import _own as own  # late: what a claim computes with is slow to import
    from giantstep.claims import _registry as registry

    return tuple(own.loaded(text) if text.file else registry.loaded(text.name) for text in texts(names))


def _parted(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those of our claims and groups, and those of folders and files."""
    from giantstep.claims import _own as own

    known = [text.name for text in TEXTS]
    ours = [name for name in names if any(_matches(each, name) for each in known)]
    mine = [name for name in names if name not in ours and own.may_be(name) and own.files(name)]
    for name in names:
        if name not in ours and name not in mine:
            raise InputError(_unknown(name, known))
    return ours, mine


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
