"""Claims of your own: a folder with a file for each, and the paper in its ``__init__.py``.

Their files are executed, as tests are. They import each other by the name of the folder:
``from my_claims import kernels``.
"""

import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

from giantstep.checks.claim import Claim
from giantstep.citations import Paper
from giantstep.claims._read import declared, read
from giantstep.claims._registry import bound
from giantstep.errors import InputError

PAPER = "__init__.py"


def files(name: str) -> list[Path]:
    """The files that a name on the command line stands for: a folder, a file or ``folder/claim``.

    None of them is there for the name of something else.
    """
    path = Path(name)
    if path.is_dir():
        found = sorted(path.glob("*.py"))
        if not found:
            raise InputError(f"There is no claim in {name}: a claim is a file with CLAIM = Claim(...).")
        return found
    if name.endswith(("/", "\\")):
        raise InputError(f"There is no folder {name}.")
    module = path.with_name(f"{path.name.replace('-', '_').removesuffix('.py')}.py")
    return [module] if module.is_file() else []


def may_be(name: str) -> bool:
    """Whether a name can be that of a file at all: not too long, and without letters that no file has."""
    try:
        Path(name).exists()
    except (OSError, ValueError):
        return False
    return name not in ("", ".")


def texts(name: str) -> tuple[Claim, ...]:
    """The claims of a folder, a file or ``folder/claim``, read and not executed."""
    chosen = [path.resolve() for path in files(name)]
    folder = chosen[0].parent
    if not folder.name.isidentifier():
        raise InputError(
            f"The folder {folder.name!r} cannot be imported: its name needs letters, digits and underscores only."
        )
    known = {folder / f"{each.name.partition('/')[2].replace('-', '_')}.py": each for each in read(folder)}
    found = [(path, known[path]) for path in chosen if path in known]
    if not found:
        raise InputError(f"There is no claim in {name}: a claim is a file with CLAIM = Claim(...).")
    source = paper(folder)
    return tuple(replace(each, source=source, file=str(path)) for path, each in found)


def paper(folder: Path) -> Paper:
    """The paper whose claims are in a folder."""
    place = folder / PAPER
    found = declared(place, "PAPER") if place.is_file() else None
    if not isinstance(found, Paper):
        raise InputError(
            f"{folder.name}/{PAPER} does not say which paper the claims are from: "
            "it needs PAPER = Paper(...), as giantstep claim new writes it."
        )
    return found


def loaded(text: Claim) -> Claim:
    """The claim with the functions of its file."""
    path = Path(text.file)
    if str(path.parent.parent) not in sys.path:
        sys.path.insert(0, str(path.parent.parent))  # workers search the same folders
    try:
        module = import_module(text.module)
    except Exception as problem:
        raise InputError(f"{text.name} cannot be loaded: {type(problem).__name__}: {problem}") from problem
    if module.__file__ is None or Path(module.__file__).resolve() != path:
        raise InputError(
            f"Another package is called {path.parent.name!r}: give the folder of your claims another name."
        )
    return bound(module, text)
