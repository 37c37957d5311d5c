"""Larger steps on images: the network learns features.

The conditional model follows it, and the polynomial does not.
"""

import numpy as np

from giantstep.checks import (
    Claim,
    Data,
    Evidence,
    Judge,
    Ruling,
    Seeds,
    Size,
    Verdict,
    judging,
    statistics,
)
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.plot import rows, style, ticks
from giantstep.plot.frame import entry, explain_below
from giantstep_papers.demir.fashion import (
    GIVEN,
    HERMITE,
    N_TEST,
    NAMES,
    ORDER,
    PENALTIES,
    errors,
    experiment,
    read,
)

CLAIM = Claim(
    order=10,
    of="giantstep",
    statement="On images too a larger step learns features: the test error falls to less than "
    "half, the conditional model follows it, and the polynomial in the features does not.",
    where="figure 7b of their code, classes 0 and 1, k = m; it sweeps η and shows no polynomial",
    how="At η = 148 the logarithm of the error must be lower by log 2 than without a step. The "
    "polynomial's error must be at least twice the network's in nearly all draws. At every "
    "step size log(conditional model/network) must be 0.",
    judges=(
        Judge(
            "log of the error after the step over that without",
            side="below",
            margin=0.1,
            departure=0.3,
            because="the small number of images in a draw",
        ),
        Judge(
            "share of draws in which the polynomial's error is less than twice the network's",
            side="below",
            margin=0.05,
            departure=0.8,
            because="the small number of images in a draw",
        ),
        Judge(
            "log of the conditional model's error over the network's",
            margin=(0.05, 0.02),
            departure=(0.1, 0.04),
            because="the spectrum of a class, which is cut after 20 directions",
        ),
    ),
    seeds={"quick": Seeds(10, 48), "full": Seeds(10, 320)},
)

ETAS = {"quick": (0.0, 148.0), "full": (0.0, 4.4, 28.0, 148.0, 784.0)}  # up to d
FAR = 148.0  # where the step should have done its work
SIZES = {"quick": 240, "full": 500}  # m = k
# the judges
HALF = "log of the error after the step over that without"
RARE = "share of draws in which the polynomial's error is less than twice the network's"
NEAR = "log of the conditional model's error over the network's"


def sweep(size: Size, etas: tuple[float, ...]) -> Setting:
    return experiment(size, SIZES[size], (0, 1), "relu", 1.0, list(etas))


def measure(size: Size, seeds: range) -> Data:
    """Test errors of the network (step sizes, seeds) and of the models; Var y is 1.

    Models lack the first step size. The polynomial, which is far off, has every second seed.
    """
    etas = ETAS[size]
    some = {GIVEN: seeds, HERMITE: seeds[::2]}
    models = {model: errors(size, sweep(size, etas[1:]), own, model) for model, own in some.items()}
    return {"network": errors(size, read(sweep(size, etas)), seeds), **models}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The step halves the error at least, and the conditional model follows.

    The polynomial is off by a factor of two.
    """
    etas, network = ETAS[size], np.log(measured["network"])
    far = etas.index(FAR)
    at = [f"η = {eta:g}" for eta in etas[1:]]
    gain, miss = network[far] - network[0], np.log(measured[HERMITE][far - 1]) - network[far, ::2]
    near = np.log(measured[GIVEN]) - network[1:]
    closer = f"draws with log polynomial/network below log 2 at η = {FAR:g}"
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge(f"log error at η = {FAR:g} over no step", gain, -np.log(2), by=HALF),
        judge.count(closer, int(np.sum(miss < np.log(2))), miss.size, by=RARE),
        judge("log conditional model/network", near, by=NEAR, at=at),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    m, etas, mean = SIZES[size], ETAS[size], {name: x.mean(axis=-1) for name, x in measured.items()}
    far = etas.index(FAR)
    sentence = (
        f"The long step takes the test error from {mean['network'][0]:.3f} to "
        f"{mean['network'][far]:.3f} of the labels' variance. The conditional model has "
        f"{mean[GIVEN][far - 1]:.3f} after it, and the polynomial {mean[HERMITE][far - 1]:.1f}."
    )
    return Verdict(
        sentence=sentence if ruling.stated.outcome == "holds" else "",
        sizes=f"m = k = {m}, d = 784; λ = {PENALTIES[size]:g}; relu; classes 0 and 1 of "
        f"{NAMES[size]}, {N_TEST[size]} images for the test",
        figure=_figure(size, measured),
        caption="On images a long step leaves "
        f"{100 * mean['network'][far] / mean['network'][0]:.0f}% of the error. The conditional "
        "model follows it, and the polynomial does not.",
        settings=(sweep(size, etas).id,),
    )


def _figure(size: Size, measured: Data) -> str:
    """Test errors, a row for each step size: single networks as small dots, and their means."""
    etas, network = ETAS[size], measured["network"]
    half = float(network[0].mean()) / 2
    with style.figure(width=style.COLUMN, height=rows.height(2 * len(etas)) + 0.4) as (fig, ax):
        ax.axvline(half, color=style.INK, linestyle=":", linewidth=1)
        looks = (
            (network, 0, -0.26, "network", "o", style.COLOURS[0]),
            (measured[GIVEN], 1, 0.0, "conditional model", "s", style.COLOURS[1]),
            (measured[HERMITE], 1, 0.26, f"polynomial of order {ORDER}", "^", style.COLOURS[4]),
        )
        marks = [entry("half of the error without a step", linestyle=":", linewidth=1)]
        for values, first, beside, name, mark, colour in looks:
            for row, each in enumerate(values, first):
                place = {"beside": beside if row else 0.0, "color": colour}
                rows.runs(ax, row, each, **place)
                rows.interval(ax, row, *mean_and_error(each), marker=mark, **place)
            marks.append(entry(name, mark, color=colour))
        rows.name_rows(ax, ["no step", *(f"η = {eta:g}" for eta in etas[1:])])
        ax.set_xlabel("test error / Var y")
        ticks.logarithmic(ax, "x")
        explain_below(fig, marks)
        return style.svg(fig)
