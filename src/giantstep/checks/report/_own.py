"""The files of a folder that are a report's own: each says its place, and is there.

So a copy under another name, or a file of the same name that somebody else wrote, is left alone.
"""

import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from giantstep.checks.report._entry import PAPERS

_SAID = re.compile(rb'giantstep-report\W+(?:content=")?([^"?<>]+)["?]')
_BEGINNING = 400  # bytes of a file, in which it says its place


def in_page(place: str) -> str:
    """How a page says its place."""
    return f'<meta name="giantstep-report" content="{place}">'


def in_figure(place: str) -> str:
    """How a figure says its place; names may hold two hyphens, which a comment of XML may not."""
    return f"<?giantstep-report {place}?>\n"


def is_own(folder: Path, place: str) -> bool:
    """Whether the file at this place of a report was written as such."""
    file = folder / place
    if file.is_symlink() or not file.is_file():
        return False
    with file.open("rb") as opened:
        said = _SAID.search(opened.read(_BEGINNING))
    return said is not None and said[1] == place.encode()


def remove_others(folder: Path, kept: Collection[str]) -> None:
    """Remove the pages and figures that an earlier report left, and folders that are empty then."""
    for file in [*folder.glob(f"{PAPERS}/*.html"), *folder.glob(f"{PAPERS}/*/*.svg")]:
        place = file.relative_to(folder).as_posix()
        if place not in kept and is_own(folder, place):
            file.unlink(missing_ok=True)
            with suppress(OSError):  # it holds other files
                file.parent.rmdir()
