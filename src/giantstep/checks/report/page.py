"""A report: a first page, a page for every paper with its figures, and the same as JSON.

The pages open from disk, and they need neither a network nor a script.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from giantstep.checks._standing import Standing
from giantstep.checks.report._entry import Group, by_paper
from giantstep.checks.report._own import in_figure, is_own, remove_others
from giantstep.checks.report._render import Pages
from giantstep.checks.verdict import Result
from giantstep.errors import InputError
from giantstep.lab.store._atomic import atomic
from giantstep.lab.store.provenance import Provenance

__all__ = ["write", "write_so_far"]


def write(results: Sequence[Result], folder: Path, took: float | None = None) -> Path:
    """Write ``index.html``, ``papers`` and ``verdicts.json``, and return the path of the first page.

    A reader sees an old file or a new one, never half of one. Pages and figures of papers that an
    earlier report left there are removed if they are not in this one. Other files stay.

    Args:
        results: what the pages show.
        folder: where they are written.
        took: the time of the whole check in seconds, if it is known.
    """
    return _write(results, folder, took=took)


def write_so_far(standing: Standing, folder: Path, since: Standing | None = None) -> Path:
    """Write the files while claims run: they are incomplete, say so, and the first reloads itself.

    Of the papers only those are written whose claims have ended ``since`` the last time.
    """
    return _write(standing.results, folder, standing, since)


def _write(
    results: Sequence[Result],
    folder: Path,
    standing: Standing | None = None,
    since: Standing | None = None,
    took: float | None = None,
) -> Path:
    groups, provenance, now = by_paper(results), Provenance.here(), datetime.now(UTC)
    last = () if since is None else by_paper(since.results)
    before = {group.page: group.results for group in last}
    pages = Pages(groups, provenance, now, standing, took)
    texts = {}
    for group in reversed(groups):  # the page of a paper leads to the next one, which is there then
        if before.get(group.page) != group.results:
            texts |= {**_figures(group), group.page: pages.of(group)}
    for place in texts:
        if (folder / place).exists() and not is_own(folder, place):
            raise InputError(f"cannot write {folder / place}, which no report wrote: use another folder")
    twin = {
        "date": now.date().isoformat(),
        "complete": standing is None,
        "provenance": asdict(provenance),
        "results": [result.to_dict() for result in results],
    }
    texts["verdicts.json"] = json.dumps(twin, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    texts["index.html"] = pages.first()
    for place, text in texts.items():  # a page after its figures, and the first page last
        _put(folder / place, text)
    remove_others(folder, {place for group in groups for place in group.places})
    return folder / "index.html"


def _figures(group: Group) -> dict[str, str]:
    """The files of a paper's figures by their places."""
    shown = {entry.picture: entry.figure for entry in group.entries if entry.figure}
    return {place: in_figure(place) + figure.svg for place, figure in shown.items()}


def _put(place: Path, text: str) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {place.parent}: {error.strerror or error}") from None
    with atomic(place) as file:
        file.write_bytes(text.encode("utf-8", "replace"))
