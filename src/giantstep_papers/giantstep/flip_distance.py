"""After a giant step the gradient in the input is many times larger,
and the way to the other sign as short as before."""

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
    statistics,
)
from giantstep.experiment import draw
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.simulate import network
from giantstep.systems.attack.ray import rays
from giantstep.systems.attack.stepped_ray import law
from giantstep_papers.shared.controls import controlled

CLAIM = Claim(
    order=10,
    of="giantstep",
    statement="A giant step makes the gradient in the input many times larger and leaves the "
    "distance to the other sign of order one: along the learned direction f is an odd function, so "
    "that the way is |⟨v, x⟩|.",
    where="our computation for one step on isotropic data, without a readout",
    how="We count the inputs whose sign changes within four distances, before and after steps of "
    "two sizes. Their shares and the mean of ‖∇f‖² must be those predicted. Moments of "
    "the drawn weights and labels, of known mean, are regressed out.",
    judges=(
        Judge(
            "share of signs changed",
            margin=(0.04, 0.02),
            departure=(0.1, 0.05),
            because="terms of order 1/d and 1/p",
        ),
        Judge(
            "mean of ‖∇f‖²",
            relative=True,
            margin=(0.04, 0.02),
            departure=(0.1, 0.04),
            because="terms of order 1/d and 1/p",
        ),
    ),
    seeds={"quick": Seeds(24, 110), "full": Seeds(60, 280)},
)

NAMES = {"relu": "ReLU", "tanh": "tanh"}
STEPS = (0.0, 0.2, 1.0)  # eta/sqrt(p)
# the lines of the gradient
FINE = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
DISTANCES = (0.25, 0.5, 1.0, 2.0)
LINE = tuple(0.1 * k for k in range(21))  # the lines of the shares
DIMENSIONS = {"quick": 120, "full": 400}
WIDTH, SAMPLES = 2, 8  # p/d, n/d
INPUTS, MORE = 160, 400  # of a network: for distances, and for the gradient


def setting(name: str, d: int, step: float) -> gs.Setting:
    """One step of that size, the network itself as the output."""
    n, p = SAMPLES * d, WIDTH * d
    protocol = gs.Protocol((gs.GiantStep(n, step * p**0.5),) if step else (), None)
    target = gs.target("x1 + 0.5*H2(x1)", noise=0.3)
    return gs.Setting(gs.Gaussian(d), target, gs.Network(p, name), protocol)


def one(name: str, d: int, seed: int) -> np.ndarray:
    """Shares of inputs within the distances, and the mean of ||grad f||^2,
    (steps, distances + 1)."""
    numbers = []
    for step in STEPS:
        of = setting(name, d, step)
        X, _ = draw.rows(of, seed, draw.test_batch(MORE))
        trained = network(of, seed)
        roots = rays(trained, X[:INPUTS]).roots()
        square = np.mean(rays(trained, X).length ** 2)
        numbers.append([*np.mean(roots[:, None] <= np.array(DISTANCES), axis=0), square])
    return np.array(numbers)


def controls(name: str, d: int, seed: int) -> list[float]:
    """Numbers of the draws whose mean is zero: of a^2, of the slope of the labels, of (sum a)^2,
    of ||W^T a||^2 and of <W^T a, beta>.

    By the last the gradient before the step and what the step adds to it overlap.
    """
    of = setting(name, d, STEPS[-1])
    (W, a), (X, y) = draw.weights(of, seed), draw.rows(of, seed, draw.step_batches(of)[0])
    return [
        float(np.mean(a**2)) - 1,
        float(np.mean(y * X[:, 0])) - 1,
        float(np.sum(a) ** 2 / len(a)) - 1,
        float(np.sum((a @ W) ** 2) / np.sum(a**2)) - 1,
        float(a @ W @ (X.T @ y) / len(y) / len(a) ** 0.5),
    ]


def measure(size: Size, seeds: range) -> Data:
    """(activations, steps, distances + 1, seeds),
    and the controls (activations, controls, seeds)."""
    cases = [(name, DIMENSIONS[size]) for name in NAMES]
    return {"found": cache.over(one, cases, seeds), "controls": cache.over(controls, cases, seeds)}


def adjusted(measured: Data) -> np.ndarray:
    """What was found, without the part of its noise that the controls explain."""
    return np.stack(
        [controlled(*each) for each in zip(measured["found"], measured["controls"], strict=True)]
    )


def predict(size: Size) -> Data:
    """The same from the law of the ray after one step, medians of the distance, and lines."""
    d = DIMENSIONS[size]
    laws = [[law(setting(name, d, step)) for step in STEPS] for name in NAMES]
    return {
        "found": np.array(
            [
                [[*np.interp(DISTANCES, x.distances, x.within), x.gradient] for x in row]
                for row in laws
            ]
        ),
        "medians": np.array([[x.median for x in row] for row in laws]),
        "lines": np.array([[np.interp(LINE, x.distances, x.within) for x in row] for row in laws]),
        "gradients": np.array(
            [[law(setting(name, d, step)).gradient for step in FINE] for name in NAMES]
        ),
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Shares within the distances and the gradient's mean square, before and after the steps."""
    found, expected = adjusted(measured), predicted["found"]
    cases = [f"{title}, η = {step:g}√p" for title in NAMES.values() for step in STEPS]
    at = [f"{case}, within {t:g}" for case in cases for t in DISTANCES]
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge("share of signs changed", found[:, :, :-1], expected[..., :-1], at=at),
        judge("mean of ‖∇f‖²", found[:, :, -1], expected[..., -1], at=cases),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d, medians, at = DIMENSIONS[size], predicted["medians"], DISTANCES.index(1.0)
    mean, error = mean_and_error(adjusted(measured))
    grown = mean[:, -1, -1] / mean[:, 0, -1]
    return Verdict(
        sentence=f"The largest step multiplies the squared gradient by up to {grown.max():.0f}. "
        "With ReLU the share of inputs whose sign changes within a distance of 1 goes from "
        f"{mean[0, 0, at]:.0%} to {mean[0, -1, at]:.0%}. In theory the median distance is "
        f"{medians.min():.2f} to {medians.max():.2f}. {ruling.stated.sentence}",
        sizes=f"d = {d}; p = {WIDTH}d, n = {SAMPLES}d; {INPUTS} inputs of length √d "
        "a network; y = x₁ + H₂(x₁)/2 + 0.3 noise",
        figure=_figure(mean, error, predicted),
        caption="The distance to the other sign hardly changes (left), though a step makes the "
        f"squared gradient up to {np.max(grown):.0f} times larger (right).",
        settings=tuple(setting(name, d, step).id for name in NAMES for step in STEPS),
    )


def _figure(mean: np.ndarray, error: np.ndarray, predicted: Data) -> str:
    with style.figure(2, width=3.6, height=3.0) as (fig, axes):
        for j, (step, colour, marker) in enumerate(zip(STEPS, style.COLOURS, "os^", strict=False)):
            axes[0].plot(LINE, predicted["lines"][1, j], color=colour, linewidth=1)
            label = f"after η = {step:g}√p" if step else "before the step"
            look = {"color": colour, "marker": marker, "label": label}
            style.dots(axes[0], DISTANCES, mean[1, j, :-1], error[1, j, :-1], **look)
        axes[0].set(
            xlabel="distance along the gradient",
            ylabel="share of signs changed",
            ylim=(0, 1.02),
            title="tanh",
        )
        for i, (name, colour, marker) in enumerate(zip(NAMES, style.COLOURS, "os", strict=False)):
            axes[1].plot(FINE, predicted["gradients"][i], color=colour, linewidth=1)
            look = {"color": colour, "marker": marker, "label": NAMES[name]}
            style.dots(axes[1], STEPS, mean[i, :, -1], error[i, :, -1], **look)
        axes[1].set(
            xlabel="step size η/√p (0: before the step)", ylabel="mean of ‖∇f‖²", yscale="log"
        )
        for ax in axes:
            ax.plot([], [], color=style.INK, linewidth=1, label="lines: theory")
            ax.legend(loc="lower right")
        return style.svg(fig)
