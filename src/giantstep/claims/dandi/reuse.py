"""Two steps on one batch of order d find what fresh batches cannot."""

from typing import TYPE_CHECKING, NamedTuple

from giantstep.claims.dandi.narrow import chain, experiment, line
from giantstep.lab.verdict import Claim, Size, Verdict

if TYPE_CHECKING:
    from giantstep.setting import Setting

TARGETS = {  # whether reuse should find them: generative exponent one, or two
    "H3(x1)": True,
    "(H2(x1)/sqrt(2) + H3(x1)/sqrt(6))/sqrt(2)": True,
    "H2(x1)": False,
}
NAMES = ("$H_3$", "$(h_2 + h_3)/\\sqrt{2}$", "$H_2$, even")
SIZES = {"quick": ((500, 2000, 8000, 16_000), 20), "full": ((1000, 10_000, 100_000, 1_000_000), 60)}
RATIO = 4  # n/d
FLAT = 0.35  # exponent in d that separates what stays at the null level (0) from what is learned (1)


class Row(NamedTuple):
    target: str
    batches: str
    d: int
    ratio: float
    error: float


def setting(target: str, d: int, batch: str) -> "Setting":
    return experiment(target, d, RATIO * d, 2, p=4, batch=batch)


def measured(size: Size) -> list[Row]:
    from giantstep.measure import mean_and_error

    sizes, seeds = SIZES[size]
    rows = []
    for target in TARGETS:
        for batch in ("fresh", "reuse"):
            for d in sizes:
                outcome = chain(setting(target, d, batch), seeds)
                mean, error = mean_and_error(outcome.captured[:, 0] / outcome.null_level)
                rows.append(Row(target, batch, d, float(mean), float(error)))
    return rows


def exponent(rows: list[Row]) -> tuple[float, float]:
    """Slope of log ratio against log d and its standard error, weighted by the spread of the seeds."""
    import numpy as np

    logs, errors = np.log([r.ratio for r in rows]), [r.error / r.ratio for r in rows]
    return line(np.log([r.d for r in rows]), logs, errors)[2:]


def run(size: Size) -> Verdict:
    return judged(size, measured(size))


def judged(size: Size, rows: list[Row]) -> Verdict:
    """Whether what grows with d is what should, from what was measured."""
    sizes, seeds = SIZES[size]
    slopes = {(t, b): exponent([r for r in rows if r[:2] == (t, b)]) for t in TARGETS for b in ("fresh", "reuse")}
    expected = {(t, b): b == "reuse" and found for t, found in TARGETS.items() for b in ("fresh", "reuse")}
    sure = {k: abs(s - FLAT) > 3 * e for k, (s, e) in slopes.items()}
    wrong = [k for k, (s, _) in slopes.items() if sure[k] and (s > FLAT) != expected[k]]
    said = {k: f"{s:+.2f} ± {e:.2f}" for k, (s, e) in slopes.items()}
    first, second, even = TARGETS
    return Verdict(
        outcome="fails" if wrong else ("holds" if all(sure.values()) else "inconclusive"),
        sentence=f"On one batch used twice the share of a neuron along the target grows over the null level as d to the "
        f"{said[first, 'reuse']} for H3 and {said[second, 'reuse']} for (h2 + h3)/√2 (one: learned), on fresh batches as d to "
        f"the {said[first, 'fresh']} and {said[second, 'fresh']} (zero: not). The even target H2 is not found either way "
        f"({said[even, 'reuse']} and {said[even, 'fresh']}).",
        header=("target", "batches", "d", "null levels", "s.e."),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {', '.join(map(str, sizes))}; n = {RATIO}d; two steps, p = 4, relu, signs, pairs; s = 1",
        figure=_figure(rows),
        settings=tuple(setting(t, sizes[-1], b).id for t in TARGETS for b in ("fresh", "reuse")),
    )


def _figure(rows: list[Row]) -> str:
    """Share over the null level against d: over a constant where nothing is learned, over A + B d where it is."""
    import numpy as np

    from giantstep import canvas

    with canvas.figure(len(TARGETS), width=2.9, height=2.7) as (fig, axes):
        top = 2 * max(r.ratio for r in rows)
        for ax, (target, found), name in zip(axes, TARGETS.items(), NAMES, strict=True):
            for i, (batch, label) in enumerate((("fresh", "two fresh batches"), ("reuse", "one batch twice"))):
                here = [r for r in rows if r[:2] == (target, batch)]
                x, y, error = (np.array([r[k] for r in here]) for k in (2, 3, 4))
                canvas.dots(ax, x, y, error, color=canvas.COLOURS[i], label=label)
                fit = np.polyfit(x, y, 1 if batch == "reuse" and found else 0, w=1 / error)
                fine = np.geomspace(x[0], x[-1], 40)
                shape = "A + B d" if len(fit) > 1 else "constant"
                ax.plot(fine, np.polyval(fit, fine), color=canvas.COLOURS[i], label=f"{label}: {shape}")
            ax.set(xscale="log", yscale="log", xlabel="d", ylim=(1, top))
            ax.set_title(name, loc="left")
        axes[0].set_ylabel("share / null level")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
        return canvas.svg(fig)


REUSE = Claim(
    name="dandi/reuse",
    statement="Two giant steps on one batch of order d learn targets of information exponent two and three whose generative "
    "exponent is one; with fresh batches they do not, and an even target is not learned either way.",
    paper="dandi_reuse",
    where="reusing a batch against fresh ones, here with the exact chain of overlaps",
    run=run,
)
