"""One giant step on classes with means of their own and unequal covariances:
both errors are those predicted."""

import numpy as np

import giantstep as gs
from giantstep.checks import (
    Claim,
    Data,
    Evidence,
    Judge,
    Ruling,
    Seeds,
    Size,
    Verdict,
    cache,
    judging,
)
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep_papers.giantstep import predictions

CLAIM = Claim(
    order=7,
    of="giantstep",
    statement="After one step on classes with means of their own and unequal covariances, the test "
    "and the training error are those that the theory predicts.",
    where="gs.theory on a mixture whose components have means different from zero and unequal "
    "covariances",
    how="Both errors over their predictions must be 1 for two mixtures.",
    judges=(
        Judge(
            "error over its prediction",
            percent=True,
            margin=(0.08, 0.025),
            departure=(0.2, 0.08),
            mean=((0.04, 0.015), (0.1, 0.04)),
            because="terms of order d^(−1/2)",
        ),
    ),
    seeds={"quick": Seeds(24, 140), "full": Seeds(24, 100)},
)

# of each case the network's activation
CASES = {
    "opposite means, bulks 1 and 1/2": "relu",
    "means 2 and 0, bulks 1 and 1/2, a spike": "tanh",
}
ALPHAS = (0.3,)  # eta = n^alpha
SAMPLES, WIDTH, PENALTY = 2, 1.5, 0.1  # n/d, p/d
SIZES = {"quick": 120, "full": 800}  # d


def components() -> tuple[tuple[gs.Component, ...], ...]:
    """The classes of every case, along the first axis."""
    spike = gs.Spike(2.0, "x1")
    return (
        (gs.Component(0.5, mean={"x1": 1.0}), gs.Component(0.5, mean={"x1": -1.0}, bulk=0.5)),
        (gs.Component(0.5, mean={"x1": 2.0}), gs.Component(0.5, spikes=(spike,), bulk=0.5)),
    )


def experiments(d: int) -> list[gs.Setting]:
    """Labels +1 and -1 by class, one step, and a ridge readout on fresh samples."""
    n = SAMPLES * d
    protocol = gs.Protocol((gs.GiantStep(n, gs.power(ALPHAS)),), gs.Ridge(n, PENALTY))
    return [
        gs.Setting(
            gs.Mixture(d, classes),
            gs.target("1 | -1"),
            gs.Network(round(WIDTH * d), activation),
            protocol,
        )
        for classes, activation in zip(components(), CASES.values(), strict=True)
    ]


def measure(size: Size, seeds: range) -> Data:
    """Errors (cases, errors, step sizes, seeds)."""
    settings = experiments(SIZES[size])
    found = [
        cache.simulate(each, seeds, n_test=predictions.TEST * each.d, dtype="float32")
        for each in settings
    ]
    return {
        "errors": np.array([[getattr(each, name) for name in predictions.ERRORS] for each in found])
    }


def predict(size: Size) -> Data:
    return predictions.predicted(experiments(SIZES[size]))


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    at = [
        f"{case}, {activation}, η = n^{alpha:g}"
        for case, activation in CASES.items()
        for alpha in ALPHAS
    ]
    ratios = measured["errors"] / predicted["errors"][..., None]
    return predictions.evidence(ratios, at, judging(CLAIM, size))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d = SIZES[size]
    off = measured["errors"].mean(axis=-1) / predicted["errors"] - 1
    return Verdict(
        sizes=f"d = {d}, n = {SAMPLES}d, p = {WIDTH:g}d, λ = {PENALTY:g}",
        figure=_figure(measured["errors"], predicted["errors"]),
        caption="On classes with means and unequal covariances errors are within "
        f"{100 * np.abs(off).max():.1f}% of their predictions.",
        settings=tuple(each.id for each in experiments(d)),
    )


def _figure(errors: np.ndarray, predicted: np.ndarray) -> str:
    mean, error = mean_and_error(errors)
    places = np.arange(len(CASES) * len(ALPHAS))
    with style.figure(width=4.4, height=3.4) as (fig, ax):
        for j, what in enumerate(predictions.ERRORS.values()):
            at, said = places + 0.2 * (2 * j - 1), predicted[:, j].ravel()
            ax.bar(at, said, 0.36, color=style.COLOURS[j], alpha=0.3, label=f"{what}, theory")
            look = {"color": style.COLOURS[j], "marker": "os"[j], "label": what}
            style.dots(ax, at, mean[:, j].ravel(), error[:, j].ravel(), **look)
        names = [
            f"{case.replace(', ', chr(10))}\nη = $n^{{{alpha:g}}}$"
            for case in CASES
            for alpha in ALPHAS
        ]
        ax.set_xticks(places, names, fontsize=8.5)
        ax.set_ylabel("error")
        return style.svg(fig, above=2)
