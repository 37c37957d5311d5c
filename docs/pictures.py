"""Draws the pictures of the pages: ``python docs/pictures.py [NAME ...]``, all of them without a name; about two minutes.

The pictures of a page are those that its own code saves, so they show what a reader gets: ``errors.png`` of tour.md becomes
assets/tour-errors.svg. The others have a function here.
"""

import contextlib
import io
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import giantstep as gs
from giantstep.plot.style import COLOURS, INK, figure, histogram, law_line
from giantstep.theory import Law

HERE = Path(__file__).parent
PAGES = ("tour", "explain", "early", "attack", "mean-field")
ALPHAS = (0.1, 0.2, 0.28, 0.36)
POWERS = ("g", "g²", "g³")  # of the learned direction, which the spikes carry in this order
SEEDS = range(4)


def of_page(page: str, blocks: int | None = None) -> None:
    """The pictures that the code of a page saves, or its first blocks, each under the page's name."""
    text = (HERE / f"{page}.md").read_text(encoding="utf-8")
    code = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    shared: dict[str, Any] = {"__name__": page}

    def keep(fig: Figure, path: Any, **_: Any) -> None:
        name = f"{page}-{Path(path).stem}"
        if f"(assets/{name}.svg)" in text:
            save(fig, name)

    back = Path.cwd()
    with tempfile.TemporaryDirectory() as away, mock.patch.object(Figure, "savefig", keep):
        os.chdir(away)
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                for block in code[:blocks]:
                    exec(compile(block, f"{page}.md", "exec"), shared)
        finally:
            os.chdir(back)


SAVE = Figure.savefig


def save(fig: Figure, name: str) -> None:
    """The figure as a small SVG: its letters are text in the reader's font."""
    with mpl.rc_context({"svg.hashsalt": "giantstep", "svg.fonttype": "none"}):
        SAVE(fig, HERE / f"assets/{name}.svg", metadata={"Date": None, "Creator": "giantstep"})
    print(f"docs/assets/{name}.svg")


def spikes() -> None:
    """Spikes leave the bulk: the spectrum of the features at four step sizes, simulated and predicted."""
    s = gs.presets.moniri(500, 300, 400, list(ALPHAS), 0.01, target=gs.target("x1", noise=1.0), residual="target")
    laws, found = gs.theory.spectrum(s), gs.simulate(s, SEEDS, spectrum=True, progress=False)
    assert isinstance(laws, tuple)
    with figure(len(ALPHAS), width=2.45, height=2.7) as (fig, axes):
        for i, ax in enumerate(axes):
            panel(ax, laws[i], found.singular_values[i])
            ax.set_title(f"η = n$^{{{ALPHAS[i]}}}$", loc="left")
            ax.tick_params(labelleft=i == 0)
        axes[0].set_ylabel("density of singular values")
        fig.legend(*axes[-1].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    save(fig, "spikes")


def panel(ax: Any, law: Law, spectra: np.ndarray) -> None:
    """A predicted spectrum over the histogram of all seeds; each seed's outliers are triangles."""
    above = [histogram(values)[1] for values in spectra]
    bulk = np.concatenate([np.sort(v)[: len(v) - len(out)] for v, out in zip(spectra, above, strict=True)])
    ax.hist(bulk, bins=40, density=True, color=COLOURS[0], alpha=0.5, linewidth=0, label="simulated bulk")
    x, density = law_line(law)
    ax.plot(x, density, color=INK, linewidth=1.3, label="predicted bulk")
    out = np.concatenate(above)
    ax.plot(out, np.full(len(out), 0.05), "v", color=COLOURS[1], alpha=0.7, label="simulated spike")
    for k, spike in enumerate(law.visible):
        label = "predicted spike" if k == 0 else None
        ax.axvline(spike.position, 0, 0.5, color=COLOURS[1], linewidth=1.2, linestyle=(0, (4, 2)), label=label)
        ax.text(spike.position, 1.05, POWERS[k], color=COLOURS[1], ha="center")
    ax.set(xlim=(0, 4.4), ylim=(0, 2), xlabel="singular value of F/√n")


def curve() -> None:
    """Test error against the step size: simulation, theory, and the published limit; about a minute."""
    save(
        gs.plot(gs.compare(gs.Setting.read(HERE / "assets/curve.toml"), seed=range(10))),
        "curve",
    )


def main() -> int:
    """Draw the named pictures, or all."""
    makers = {page: lambda page=page: of_page(page) for page in PAGES}
    makers |= {"estimator": lambda: of_page("estimator", 1), "spikes": spikes, "curve": curve}
    wanted = sys.argv[1:] or list(makers)
    if unknown := [name for name in wanted if name not in makers]:
        print(f"There is no picture {', '.join(unknown)}: choose among {', '.join(makers)}.", file=sys.stderr)
        return 2
    for name in wanted:
        makers[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main())
