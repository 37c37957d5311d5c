"""Two steps on one batch of order d find what fresh batches cannot."""

import numpy as np

from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims import growth
from giantstep.claims.claim import claim
from giantstep.claims.dandi.narrow import chain, experiment
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.plot import style

TARGETS = {  # whether reuse should find them: generative exponent one, or two
    "H3(x1)": True,
    "(H2(x1)/sqrt(2) + H3(x1)/sqrt(6))/sqrt(2)": True,
    "H2(x1)": False,
}
NAMES = ("$H_3$", "$(h_2 + h_3)/\\sqrt{2}$", "$H_2$, even")
BATCHES = ("fresh", "reuse")
SIZES = {"quick": ((500, 2000, 8000, 16_000), 20), "full": ((1000, 8000, 64_000), 24)}
RATIO = 4  # n/d
FLAT = 0.35  # exponent in d that separates what stays at the null level (0) from what is learned (1)


def setting(target: str, d: int, batch: str) -> Setting:
    return experiment(target, d, RATIO * d, 2, p=4, batch=batch)


def measure(size: Size) -> Data:
    """Share along the target over the null level, (targets, sizes, seeds), on fresh batches and on one."""
    sizes, seeds = SIZES[size]

    def over_null(target: str, d: int, batch: str) -> np.ndarray:
        outcome = chain(setting(target, d, batch), seeds)
        return outcome.captured[:, 0] / outcome.null_level

    return {b: np.array([[over_null(t, d, b) for d in sizes] for t in TARGETS]) for b in BATCHES}


def predict(size: Size) -> Data:
    """Exponents in d, one a target: one where the direction is learned, zero where it is not."""
    return {"fresh": [0.0] * len(TARGETS), "reuse": [float(learned) for learned in TARGETS.values()]}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    """Whether what grows with d is what should."""
    sizes, seeds = SIZES[size]
    rows, slopes, said = [], {}, {}
    for i, target in enumerate(TARGETS):
        for batch in BATCHES:
            mean, error = mean_and_error(measured[batch][i])
            here = [(target, batch, d, float(m), float(e)) for d, m, e in zip(sizes, mean, error, strict=True)]
            slopes[target, batch], rows = exponent(here), [*rows, *here]
            said[target, batch] = growth.as_said(slopes[target, batch], predicted[batch][i] > FLAT, FLAT)
    text = {k: f"{s:+.2f} ± {e:.2f}" for k, (s, e) in slopes.items()}
    first, second, even = TARGETS
    ends = [measured["reuse"][:, k].mean(1) / measured["fresh"][:, k].mean(1) for k in (0, -1)]
    last = {b: ", ".join(f"{x:.1f}" for x in measured[b][:, -1].mean(1)) for b in BATCHES}
    return Verdict(
        outcome=growth.outcome(said.values()),
        sentence=f"On one batch used twice the share of a neuron along the target grows over the null level as d to the "
        f"{text[first, 'reuse']} for H3 and {text[second, 'reuse']} for (h2 + h3)/√2 (one: learned), on fresh batches as d to "
        f"the {text[first, 'fresh']} and {text[second, 'fresh']} (zero: not). The even target H2 is not found either way "
        f"({text[even, 'reuse']} and {text[even, 'fresh']}).",
        header=("target", "batches", "d", "null levels", "s.e."),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {', '.join(map(str, sizes))}; n = {RATIO}d; two steps, p = 4, relu, signs, pairs; s = 1",
        figure=_figure(rows, predicted),
        caption=f"Share of a neuron along the target over the null level against d, one panel a target. At d = {sizes[-1]} "
        f"it is {last['reuse']} null levels for H3, (h2 + h3)/√2 and H2 on one batch used twice, and {last['fresh']} on "
        "fresh ones.",
        power=growth.stated([e for _, e in slopes.values()], FLAT, seeds),
        trend=f"One batch over fresh ones: the share is {ends[0][0]:.1f}, {ends[0][1]:.1f} and {ends[0][2]:.1f} times as large "
        f"at d = {sizes[0]} and {ends[1][0]:.1f}, {ends[1][1]:.1f} and {ends[1][2]:.1f} times at d = {sizes[-1]} (H3, h2 + h3, "
        "H2).",
        settings=tuple(setting(t, sizes[-1], b).id for t in TARGETS for b in BATCHES),
    )


def exponent(rows: list[tuple]) -> tuple[float, float]:
    """Slope of log ratio against log d and its standard error, weighted by the spread of the seeds."""
    _, _, d, ratio, error = (np.array(column) for column in zip(*rows, strict=True))
    return growth.line(np.log(d), np.log(ratio), error / ratio)[2:]


def _figure(rows: list[tuple], predicted: Data) -> str:
    """Share over the null level against d: over a constant where nothing is learned, over A + B d where it is."""
    with style.figure(len(TARGETS), width=2.9, height=2.7) as (fig, axes):
        top = 2 * max(row[3] for row in rows)
        for k, (ax, target, name) in enumerate(zip(axes, TARGETS, NAMES, strict=True)):
            for i, (batch, label) in enumerate(zip(BATCHES, ("two fresh batches", "one batch twice"), strict=True)):
                x, y, error = np.array([row[2:] for row in rows if row[:2] == (target, batch)]).T
                style.dots(ax, x, y, error, color=style.COLOURS[i], label=label)
                fit = np.polyfit(x, y, int(predicted[batch][k] > FLAT), w=1 / error)
                fine = np.geomspace(x[0], x[-1], 40)
                shape = "A + B d" if len(fit) > 1 else "constant"
                ax.plot(fine, np.polyval(fit, fine), color=style.COLOURS[i], label=f"{label}: {shape}")
            ax.set(xscale="log", yscale="log", xlabel="d", ylim=(1, top))
            ax.set_title(name, loc="left")
        axes[0].set_ylabel("share / null level")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
        return style.svg(fig)


CLAIM = claim("dandi/reuse", measure=measure, predict=predict, judge=judge)
