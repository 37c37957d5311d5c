"""Draws the figures that git does not hold, those of the claims and of a few pages, into docs/assets/built/.

The figure of a claim shows the measurements of the tests, which are at quick size. ``make docs`` draws those that are older than
what they show or than the code that draws them.
"""

import os
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
PICTURES = HERE / "assets/built"
MEASURED = HERE.parent / "tests/measured"


@cache
def drawable() -> frozenset[str]:
    """The claims that run at quick size and whose measurements are there."""
    from giantstep.claims import select

    return frozenset(
        each.name
        for each in select()
        if "quick" in each.seeds and (MEASURED / f"{each.name.replace('/', '-')}.json").exists()
    )


def picture(claim: str) -> str:
    """The path of a claim's figure from a page, empty if there is none."""
    return f"assets/built/{claim.replace('/', '-')}.svg" if claim in drawable() else ""


def draw(name: str) -> str:
    """The figure of a claim on the measurements that the tests keep, as SVG."""
    from giantstep.checks import rule as judged
    from giantstep.claims import select

    sys.path.insert(0, str(HERE.parent))
    from tests.kept import load

    (claim,) = select([name])
    return judged(claim, "quick", *load(claim)).figure


def accuracy() -> str:
    """The gaps of docs/accuracy.md along the exponent of the step: how many lie how near zero."""
    from giantstep.plot.style import COLOURS, INK, figure, svg

    page = (HERE / "accuracy.md").read_text(encoding="utf-8")
    _, _, table = page.partition("## All gaps")
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| t")]
    alphas = np.linspace(0, 0.5, 11)
    with figure(3, width=3.1, height=2.7) as (fig, axes):
        for ax, field in zip(axes, ("test error", "training error", "training objective"), strict=True):
            gaps = np.array([[float(cell.split()[0]) for cell in row[6:]] for row in rows if row[0] == field])
            for share, shade in ((99, 0.15), (90, 0.25), (50, 0.45)):
                low, high = np.percentile(gaps, [50 - share / 2, 50 + share / 2], axis=0)
                ax.fill_between(
                    alphas, low, high, color=COLOURS[0], alpha=shade, linewidth=0, label=f"{share}% of the settings"
                )
            ax.plot(alphas, np.median(gaps, axis=0), color=COLOURS[0], label="median")
            ax.axhline(0, color=INK, linewidth=0.8, linestyle=":")
            ax.set(ylim=(-10, 10), xlabel="exponent α of the step $n^α$")
            ax.set_title(field, loc="left")
        axes[0].set_ylabel("prediction above simulation, %")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return svg(fig)


def bands() -> str:
    """Half the band of a predicted test error far from interpolation (A = 1), by the move of a neuron and the size."""
    from giantstep.plot.style import figure, svg
    from giantstep.theory._band import half_width

    moves = np.linspace(0, 8, 161)
    with figure(width=5.2, height=3.4) as (fig, ax):
        for size in (100, 200, 400, 1000, 2000):
            ax.plot(moves, 100 * half_width("test_error", size, moves, 1.0), label=f"size {size}")
        ax.axvline(1.5, color="0.4", linewidth=0.9, linestyle=":", label="from here on the status warns")
        ax.set(xlim=(0, 8), ylim=(0, None), xlabel="U: how far a typical neuron moves, in its own lengths")
        ax.set_ylabel("half of the band, %")
        fig.legend(loc="outside lower center", ncols=3)
    return svg(fig)


def rule() -> str:
    """Intervals beside a margin and a departure: the four marks."""
    from giantstep.plot.style import COLOURS, INK, figure, svg

    cases = (
        ("within", 0.4, 0.25, "the whole interval lies inside the margin"),
        ("not distinguishable", 0.95, 0.25, "the interval leaves the margin; a departure would have been noticed"),
        ("outside", 1.8, 0.4, "the whole interval lies outside the margin"),
        ("open", 0.6, 1.6, "the interval is so wide that a departure could hide in it"),
    )
    with figure(width=7.6, height=2.5) as (fig, ax):
        ax.axvspan(-1, 1, color=COLOURS[2], alpha=0.15, linewidth=0, label="margin: what the statement is allowed")
        for x, label in ((-2, "departure: what must be noticed"), (2, None)):
            ax.axvline(x, color=COLOURS[1], linestyle="--", linewidth=1, label=label)
        ax.axvline(0, color=INK, linewidth=0.8, linestyle=":")
        for row, (verdict, mean, half, why) in enumerate(cases):
            ax.errorbar(mean, -row, xerr=half, fmt="o", color=INK, capsize=3)
            ax.text(2.4, -row, f"{verdict}: {why}", va="center", fontsize=8.5)
        ax.set(xlim=(-2.6, 2.6), ylim=(-3.6, 0.6), yticks=[], xticks=[0], xticklabels=["prediction"])
        ax.spines["left"].set_visible(False)
        for text in ax.texts:
            text.set_clip_on(False)
        fig.legend(loc="outside lower left", ncols=2)
    return svg(fig)


PAGES: dict[str, tuple[Callable[[], str], Path]] = {
    "accuracy": (accuracy, HERE / "accuracy.md"),
    "bands": (bands, HERE.parent / "src/giantstep/theory/_band.py"),
    "rule": (rule, Path(__file__)),
}  # the name of a figure: what draws it, and the file that it shows


def _sources(claim: str) -> tuple[Path, ...]:
    """What the figure of a claim shows, and the code of its paper's claims."""
    code = (HERE.parent / "src/giantstep_papers" / claim.partition("/")[0]).glob("*.py")
    return MEASURED / f"{claim.replace('/', '-')}.json", *code


def main() -> int:
    """Draw the figures that are older than what they show."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    PICTURES.mkdir(parents=True, exist_ok=True)
    claims = {name.replace("/", "-"): name for name in sorted(drawable())}
    todo = {stem: (lambda name=name: draw(name), *_sources(name)) for stem, name in claims.items()} | PAGES
    for stem, (make, *shown) in todo.items():
        drawn = PICTURES / f"{stem}.svg"
        if not drawn.exists() or drawn.stat().st_mtime < max(each.stat().st_mtime for each in shown):
            drawn.write_text(re.sub(r"\n\s+", "\n", make()), encoding="utf-8")
            print(stem, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
