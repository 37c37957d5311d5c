"""The law of the ray: shares of flips, the gradient and the distance to the other sign,
over- and undercomplete."""

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
    cache,
    judging,
    statistics,
)
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep_papers.bubeck import random_networks, rate
from giantstep_papers.bubeck.flips import ETAS, LINE, NAMES

CLAIM = Claim(
    order=25,
    paper="bubeck",
    of="giantstep",
    statement="The law of the ray gives the share of signs that a gradient step flips, the mean "
    "square of the gradient and the median distance to the other sign, whether the neurons are "
    "more or fewer than the dimension.",
    where="our computation; Bubeck, Cherapanamjeri, Gidel and Tachet des Combes prove that the "
    "probability is close to one without its value",
    how="We compare with the law the shares of flips at four step sizes and the mean of ‖∇f‖², "
    "for two activations and p = 4d, d/4, and the median distance at three d with p = 2d.",
    judges=(
        Judge(
            "share flipped",
            margin=(0.04, 0.02),
            departure=(0.1, 0.05),
            because="terms of order 1/p with p = d/4, which the law leaves out",
        ),
        Judge(
            "mean of ‖∇f‖²",
            relative=True,
            margin=(0.04, 0.015),
            departure=(0.1, 0.04),
            because="terms of order 1/p",
        ),
        Judge(
            "log median of ‖δ‖/‖x‖",
            margin=(0.04, 0.02),
            departure=(0.1, 0.04),
            because="terms of order 1/d",
        ),
    ),
    seeds={"quick": Seeds(40, 320), "full": Seeds(100, 500)},
)

RATIOS = {4.0: "p = 4d", 0.25: "p = d/4"}
DIMENSIONS = {"quick": 200, "full": 800}
FEWER = 3  # every so many seeds the distances are measured


def measure(size: Size, seeds: range) -> Data:
    """Mean ||grad f||^2 and shares of flips, (widths, activations, 1 + etas, seeds);
    log median distances."""
    d = DIMENSIONS[size]
    cases = [(d, int(r * d), NAMES, ETAS, 1) for r in RATIOS]
    found = cache.over(random_networks.steps, cases, seeds)
    return {"found": found, "medians": rate.measure(size, seeds[::FEWER])["medians"]}


def predict(size: Size) -> Data:
    """The same by the law of the ray, and lines for the figure."""
    d, fine = DIMENSIONS[size], np.array(LINE)
    laws = random_networks.laws([(name, d, int(r * d)) for r in RATIOS for name in NAMES])
    lines = np.array([law.flips(fine) for law in laws])
    shares = lines[:, [LINE.index(eta) for eta in ETAS]]
    gradients = np.array([[law.gradient] for law in laws])
    shape = (len(RATIOS), len(NAMES), -1)
    return {
        "found": np.concatenate([gradients, shares], axis=1).reshape(shape),
        "lines": lines.reshape(shape),
        "medians": rate.predict(size)["medians"],
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Shares of flips, the gradient's mean square and median distances are those predicted."""
    found, expected, sizes = measured["found"], predicted["found"], rate.SIZES[size]
    cases = [
        f"{random_networks.TITLES[name]}, {width}" for width in RATIOS.values() for name in NAMES
    ]
    at = [f"{case}, η = {eta:g}" for case in cases for eta in ETAS]
    far = [f"d = {d}, {random_networks.TITLES[name]}" for d in sizes for name in NAMES]
    squares, power = found[:, :, 0], expected[..., 0]
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge("share flipped", found[:, :, 1:], expected[..., 1:], at=at),
        judge("mean of ‖∇f‖²", squares, power, at=cases),
        judge("log median of ‖δ‖/‖x‖", measured["medians"], predicted["medians"], at=far),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d = DIMENSIONS[size]
    mean, error = mean_and_error(measured["found"][:, :, 1:])
    off = float(np.max(np.abs(mean - predicted["found"][..., 1:])))
    return Verdict(
        sentence=f"Every share of flipped signs is within {off:.3f} of the law of the ray, in wide "
        f"and in narrow networks. {ruling.stated.sentence}",
        sizes=f"d = {d}, and {', '.join(map(str, rate.SIZES[size]))} at p = {rate.RATIO}d for the "
        f"distances; a network a seed with {random_networks.INPUTS} inputs on the sphere of radius "
        "√d",
        figure=_figure(d, mean, error, predicted["lines"]),
        caption="In wide and narrow networks the share of flipped signs is on the law of the "
        f"ray, at most {off:.3f} away.",
    )


def _figure(d: int, mean: np.ndarray, error: np.ndarray, lines: np.ndarray) -> str:
    with style.figure(len(NAMES), width=3.5, height=3.0) as (fig, axes):
        for j, (ax, name) in enumerate(zip(axes, NAMES, strict=True)):
            looks = zip(RATIOS.values(), style.COLOURS, "os", strict=False)
            for i, (width, colour, marker) in enumerate(looks):
                ax.plot(
                    (0, *LINE),
                    [0, *lines[i, j]],
                    color=colour,
                    linewidth=1,
                    label=f"law of the ray, {width}",
                )
                look = {"color": colour, "marker": marker, "label": f"measured, {width}"}
                style.dots(ax, ETAS, mean[i, j], error[i, j], **look)
            ax.set_title(f"{random_networks.TITLES[name]},  d = {d}")
            ax.set(
                xlabel="step size η",
                ylabel="share of signs flipped" if j == 0 else "",
                ylim=(0, 1.02),
            )
        axes[0].legend(loc="lower right")
        return style.svg(fig)
