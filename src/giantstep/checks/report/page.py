"""One HTML page with the verdicts, and the same as JSON: no network, no script, fine on a phone and on paper."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup

from giantstep._shown.typeset import typeset
from giantstep.checks.claim import Result
from giantstep.checks.report.entry import MARK, MEANING, Entry, by_paper, css_class
from giantstep.checks.report.figure import inline, wide
from giantstep.checks.report.numbers import numbers
from giantstep.checks.standing import Standing, headline
from giantstep.checks.statistics import RATES
from giantstep.lab.store.atomic import atomic
from giantstep.lab.store.provenance import Provenance
from giantstep.results.table import duration

__all__ = ["write", "write_so_far"]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
RELOAD_AFTER = 10  # seconds between two loads of a page that grows


def write(results: Sequence[Result], folder: Path) -> Path:
    """Write ``folder/index.html`` and its twin ``folder/verdicts.json``, and return the page's path.

    A reader sees an old file or a new one, never half of one.
    """
    return _write(results, folder, None)


def write_so_far(standing: Standing, folder: Path) -> Path:
    """Write both files while claims run: they say that they are incomplete, and the page reloads itself."""
    return _write(standing.results, folder, standing)


def _write(results: Sequence[Result], folder: Path, standing: Standing | None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    provenance, now = Provenance.here(), datetime.now(UTC)
    twin = {
        "date": now.date().isoformat(),
        "complete": standing is None,
        "provenance": asdict(provenance),
        "results": [result.to_dict() for result in results],
    }
    texts = {
        "verdicts.json": json.dumps(twin, indent=1, ensure_ascii=False, allow_nan=False) + "\n",
        "index.html": _page(results, provenance, now, standing),
    }
    for name, text in texts.items():
        with atomic(folder / name) as file:
            file.write_bytes(text.encode("utf-8", "replace"))
    return folder / "index.html"


def _page(results: Sequence[Result], provenance: Provenance, now: datetime, standing: Standing | None) -> str:
    groups = by_paper(results)
    entries = [entry for _, group in groups for entry in group]
    versions = {
        "giantstep": provenance.version,
        "Python": provenance.python,
        "JAX": provenance.jax,
        "NumPy": provenance.numpy,
    }
    made_with = [f"{name} {version}" for name, version in versions.items()]
    shown = {outcome: count for outcome in MARK if (count := sum(entry.outcome == outcome for entry in entries))}
    return _template().render(
        groups=groups,
        shown=shown,
        choices=["every", *map(css_class, shown), "paper", *(f"paper-{source.key}" for source, _ in groups)],
        standing=standing,
        tally=_tally(entries, so_far=standing is not None),
        provenance=provenance,
        made_with=[*made_with, f"{provenance.device} ({provenance.machine})", now.date().isoformat()],
        written=f"{now:%Y-%m-%d %H:%M:%S} UTC",
        stored=any(result.stored for result in results),
    )


@cache
def _template() -> Template:
    """The template of the page, which escapes every text except the style sheet and the figures, and typesets formulas."""
    loader = PackageLoader("giantstep.checks", "report")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"css_class": css_class, "duration": duration, "inline": inline, "numbers": numbers}
    environment.tests["wide"] = wide
    environment.filters["typeset"] = lambda text: Markup(typeset(str(text)))
    style = files("giantstep.checks.report").joinpath("report.css").read_text(encoding="utf-8")
    environment.globals |= {"mark": MARK, "meaning": MEANING, "policy": _POLICY, "rates": RATES}
    environment.globals |= {"reload_after": RELOAD_AFTER, "style": style}
    return environment.get_template("page.html.jinja")


def _tally(entries: Sequence[Entry], so_far: bool) -> str:
    """The number of claims by outcome, in one sentence."""
    if not entries:
        return "No claim has ended yet." if so_far else "No claim was run."
    broken = sum(entry.result.error is not None for entry in entries)
    listed = headline([entry.outcome for entry in entries])
    if broken:
        listed += f" ({broken} because of an error)"  # a claim that broke was not run, and that outcome is the last
    claims = "1 claim" if len(entries) == 1 else f"{len(entries)} claims"
    sizes = " and ".join(dict.fromkeys(entry.result.size for entry in entries))
    return f"{'So far, ' * so_far}{claims} at {sizes} size, {duration(sum(e.result.seconds for e in entries))} in all: {listed}."
