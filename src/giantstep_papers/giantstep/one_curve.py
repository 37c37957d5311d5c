"""One prediction for every step size, from random features through the staircase to where its own
status doubts it."""

from itertools import product
from typing import Any

import numpy as np

import giantstep as gs
from giantstep.checks import Claim, Data, Evidence, Judge, Ruling, Seeds, Size, Verdict, judging
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep_papers.moniri import talk
from giantstep_papers.shared import paired

CLAIM = Claim(
    order=1,
    of="giantstep",
    statement="One smooth prediction, made at the experiment's own sizes, gives the training "
    "objective and the test error wherever its status raises no doubt, from random features "
    "through the regimes of Moniri et al. (2024) to η ~ √n and beyond.",
    where="gs.theory, beside the published limits",
    how="We compare both errors of relu and erf at no step and at four alphas up to 0.6 with the "
    "prediction, wherever the status names no broken assumption (U < 1.5, remainder < 1). The"
    " other step sizes are shown.",
    judges=(
        Judge(
            "error",
            relative=True,
            margin=(0.05, 0.02),
            departure=(0.2, 0.1),
            mean=((0.04, 0.02), (0.1, 0.04)),
            because="corrections of order n^(−1/2)",
        ),
    ),
    seeds={"quick": Seeds(30, 70), "full": Seeds(45, 230)},
)

ALPHAS = (0.1, 0.3, 0.5, 0.6)
UPDATES = {"rank1": "rank-one part", "gradient": "full gradient"}
# the second spike of relu learns the quadratic part; erf has none
TARGETS = {"relu": "setting 2", "erf": "setting 1"}
CASES = (*product(["relu"], UPDATES), ("erf", "gradient"))
SIZES = {"quick": 300, "full": 1000}
PUBLISHED = "published limit"
NONE = -0.3  # where random features stand on the axis of alpha
NEEDED = {"converged", "short step"}  # assumptions of a prediction


def experiment(n: int, activation: str, update: str, alphas: Any) -> gs.Setting:
    return paired.experiment(
        n, alphas, talk.TARGETS[TARGETS[activation]], activation=activation, update=update
    )


def trusted(n: int, activation: str, update: str, alpha: float) -> bool:
    """Whether the assumptions of the prediction hold."""
    status = gs.theory(experiment(n, activation, update, (alpha,))).status
    return NEEDED.isdisjoint(status.unmet)


def measure(size: Size, seeds: range) -> Data:
    """Errors at step size 0 and every alpha, (cases, errors, step sizes, seeds)."""
    n = SIZES[size]
    return {
        "errors": np.array(
            [paired.measured(n, ALPHAS, TARGETS[a], seeds, a, update) for a, update in CASES]
        )
    }


def predict(size: Size) -> Data:
    """The same without seeds, along a fine grid, where it is trusted, and the published limit,
    (activations, errors, stairs)."""
    n, start = SIZES[size], NONE + 0.05
    fine = np.linspace(start, max(ALPHAS) + 0.01, 48).tolist()
    # where the regimes of the staircase begin, each a flat piece
    steps = [k / (2 * k + 2) for k in range(12)]
    stairs = [start, *(s + side for s in steps for side in (-1e-9, 1e-9))]
    errors = np.array([paired.predicted(experiment(n, *case, (*ALPHAS, *fine))) for case in CASES])
    at, lines = np.split(errors, [1 + len(ALPHAS)], axis=-1)
    limit = [paired.predicted(experiment(n, a, "rank1", stairs), "limit")[:, 1:] for a in TARGETS]
    trust = np.array([[True, *(trusted(n, *case, alpha) for alpha in ALPHAS)] for case in CASES])
    return {
        "errors": at,
        "fine": fine,
        "lines": lines,
        "stairs": stairs,
        "limit": np.array(limit),
        "trusted": trust,
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Both errors wherever the prediction trusts itself; their means see less than each of them
    can."""
    trust = predicted["trusted"].astype(bool)
    names = [
        f"{a}, {UPDATES[update]}, {'no step' if i == 0 else f'alpha = {ALPHAS[i - 1]:g}'}"
        for (a, update), row in zip(CASES, trust, strict=True)
        for i, good in enumerate(row)
        if good
    ]
    judge, blocks = judging(CLAIM, size), []
    for j, what in enumerate(paired.ERRORS.values()):
        found, expected = measured["errors"][:, j][trust], predicted["errors"][:, j][trust]
        blocks += judge.each_and_mean(what, found, expected, by="error", at=names)
    return Evidence(tuple(blocks))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n, trust = SIZES[size], predicted["trusted"].astype(bool)
    off = measured["errors"].mean(axis=-1) / predicted["errors"] - 1
    inside, beyond = (np.abs(np.moveaxis(off, 1, -1)[where]) for where in (trust, ~trust))
    rest = f"Where it doubts itself, it is off by up to {beyond.max():.1%}. " if beyond.size else ""
    return Verdict(
        sizes=f"n = {n}; {talk.RATIOS}; penalty {paired.PENALTY:g}",
        figure=_figure(measured["errors"], predicted),
        sentence=f"Where its status raises no doubt, the prediction is off by {inside.mean():.1%} "
        f"on average. {rest}{ruling.stated.sentence}",
        caption="One smooth line predicts both errors at every step size, where the published "
        "limit (dashed) has steps. Hollow dots are doubted.",
        settings=tuple(experiment(n, *case, ALPHAS).id for case in CASES),
    )


def _figure(errors: np.ndarray, predicted: Data) -> str:
    """Errors against alpha with one curve through all of them,
    and the published staircase beside it."""
    mean, error = mean_and_error(errors)
    x, trust = np.array([NONE, *ALPHAS]), predicted["trusted"].astype(bool)
    with style.figure(len(TARGETS), 2, width=3.6, height=2.4) as (fig, axes):
        for k, (column, activation) in enumerate(zip(axes.reshape(2, -1).T, TARGETS, strict=True)):
            for j, (ax, label) in enumerate(zip(column, paired.ERRORS.values(), strict=True)):
                ax.plot(
                    predicted["stairs"],
                    predicted["limit"][k, j],
                    "--",
                    color=style.INK,
                    linewidth=0.9,
                    label=PUBLISHED,
                )
                for m, (update, name) in enumerate(UPDATES.items()):
                    if (activation, update) not in CASES:
                        continue
                    i, colour = CASES.index((activation, update)), style.COLOURS[m]
                    line, look = predicted["lines"][i, j], {"color": colour, "marker": "os"[m]}
                    ax.plot(predicted["fine"], line, color=colour, label=f"theory, {name}")
                    good = trust[i]
                    dots, hollow = (
                        (x[some], mean[i, j, some], error[i, j, some]) for some in (good, ~good)
                    )
                    style.dots(ax, *dots, label=f"simulated, {name}", **look)
                    if not np.all(good):
                        style.dots(ax, *hollow, markerfacecolor="white", **look)
                ax.set_xticks([NONE, 0, 0.2, 0.4, 0.6], ["none", "0", "0.2", "0.4", "0.6"])
                ax.set_ylabel(label)
                paired.step_axis(ax, 0.5)
            target = "x_1 + H_2(x_1)/\\sqrt{2}" if activation == "relu" else "x_1 + \\mathrm{noise}"
            column[0].set(xlabel="", title=f"{activation},  $y = {target}$")
        named = dict(zip(*reversed(axes.flat[0].get_legend_handles_labels()), strict=True))
        order = [f"{what}, {name}" for name in UPDATES.values() for what in ("theory", "simulated")]
        fig.legend(
            [named[k] for k in (*order, PUBLISHED)],
            [*order, PUBLISHED],
            loc="outside lower center",
            ncols=3,
        )
        return style.svg(fig)
