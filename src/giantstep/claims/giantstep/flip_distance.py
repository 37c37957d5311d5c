"""After a giant step the gradient in the input is many times larger, and the way to the other sign as short as before."""

import numpy as np

import giantstep as gs
from giantstep.checks import cache
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import compare
from giantstep.checks.power import decided
from giantstep.claims.claim import claim
from giantstep.experiment import draw
from giantstep.experiment.setting import Setting
from giantstep.plot import style
from giantstep.simulate import network
from giantstep.systems.attack.ray import rays
from giantstep.systems.attack.stepped_ray import law

NAMES = {"relu": "ReLU", "tanh": "tanh"}
STEPS = (0.0, 0.2, 1.0, 4.0)  # eta/sqrt(p)
DISTANCES = (0.25, 0.5, 1.0, 2.0)
LINE = tuple(0.1 * k for k in range(21))  # where the lines of the figure are computed
SIZES = {"quick": (100, 30, 60), "full": (400, 100, 200)}  # d, seeds, inputs of a network; p = 2d, n = 8d
GRANTED = 0.03  # of a share
NEEDED = 0.12  # of a share: what the test should see
CLOSE = 0.1  # granted to the gradient's square, as a share of it


def setting(name: str, d: int, step: float) -> Setting:
    """One step of that size, the network itself as the output."""
    protocol = gs.Protocol((gs.GiantStep(8 * d, step * (2 * d) ** 0.5),) if step else (), None)
    return gs.Setting(gs.Gaussian(d), gs.target("x1 + 0.5*H2(x1)", noise=0.3), gs.Network(2 * d, name), protocol)


def one(name: str, d: int, inputs: int, seed: int) -> np.ndarray:
    """Shares of inputs within the distances, and the mean of ||grad f||^2, (steps, distances + 1)."""
    numbers = []
    for step in STEPS:
        of = setting(name, d, step)
        X, _ = draw.rows(of, seed, draw.test_batch(inputs))
        ray = rays(network(of, seed), X)
        numbers.append([*np.mean(ray.roots()[:, None] <= np.array(DISTANCES), axis=0), np.mean(ray.length**2)])
    return np.array(numbers)


def measure(size: Size) -> Data:
    """(activations, steps, distances + 1, seeds)."""
    d, seeds, inputs = SIZES[size]
    runs = np.array(cache.each(one, [(name, d, inputs, seed) for name in NAMES for seed in range(seeds)]))
    return {"found": np.moveaxis(runs.reshape(len(NAMES), seeds, len(STEPS), -1), 1, -1)}


def predict(size: Size) -> Data:
    """The same from the law of the ray after one step, and medians of the distance, (activations, steps)."""
    laws = [[law(setting(name, SIZES[size][0], step)) for step in STEPS] for name in NAMES]
    shares = [[[*np.interp(DISTANCES, x.distances, x.within), x.gradient] for x in row] for row in laws]
    lines = np.array([[np.interp(LINE, x.distances, x.within) for x in row] for row in laws])
    return {"found": np.array(shares), "medians": np.array([[x.median for x in row] for row in laws]), "lines": lines}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    d, seeds, inputs = SIZES[size]
    expected, medians = predicted["found"], predicted["medians"]
    granted = np.concatenate([np.full(expected[..., :-1].shape, GRANTED), CLOSE * expected[..., -1:]], axis=-1)
    comparison = compare(measured["found"], expected, granted=granted)
    shares = comparison[..., :-1]
    worst = np.unravel_index(np.argmax(np.abs(shares.mean - shares.predicted)), shares.mean.shape)
    grown = comparison.mean[:, -1, -1] / comparison.mean[:, 0, -1]
    at = DISTANCES.index(1.0)
    labels = [*(f"share within {t:g}" for t in DISTANCES), "mean of ‖∇f‖²"]
    return Verdict(
        outcome=decided(bool(np.any(comparison.missed)), float(np.max(shares.seen)), NEEDED),
        sentence=f"A step of η = {STEPS[-1]:g}√p makes ‖∇f‖² {grown[0]:.0f} (ReLU) and {grown[1]:.0f} (tanh) times larger, and "
        f"the sign of {comparison.mean[0, 0, at]:.2f} before and {comparison.mean[0, -1, at]:.2f} after it (ReLU) "
        f"changes within a "
        f"distance of 1, at ‖x‖ ≈ {d**0.5:.0f}; all shares are within {np.abs(shares.mean - shares.predicted)[worst]:.3f} ± "
        f"{shares.error[worst]:.3f} of the prediction, whose medians run from {medians.min():.2f} to {medians.max():.2f}.",
        header=("activation", "η/√p", "quantity", "measured", "s.e.", "predicted", "in s.e."),
        rows=tuple(
            (
                name,
                step,
                what,
                *(float(x[i, j, k]) for x in (comparison.mean, comparison.error, expected, comparison.distance)),
            )
            for i, name in enumerate(NAMES)
            for j, step in enumerate(STEPS)
            for k, what in enumerate(labels)
        ),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {d}; p = 2d, n = 8d; {inputs} inputs a network; y = x1 + H2(x1)/2 + 0.3 noise",
        figure=_figure(comparison.mean, comparison.error, expected, predicted["lines"]),
        caption="Left: the share of inputs whose sign has changed against the distance along the gradient, before and after "
        "steps of several sizes for tanh; the dots of all steps nearly coincide, on the predicted lines. Right: the mean of "
        f"‖∇f‖² against the step size, which grows up to {np.max(grown):.0f} times along the predicted lines.",
        power=shares.power(" of a share"),
        settings=tuple(setting(name, d, step).id for name in NAMES for step in STEPS),
    )


def _figure(mean: np.ndarray, error: np.ndarray, expected: np.ndarray, lines: np.ndarray) -> str:
    with style.figure(2, width=3.5, height=2.9) as (fig, axes):
        for j, (step, colour) in enumerate(zip(STEPS, style.COLOURS, strict=False)):
            axes[0].plot(LINE, lines[1, j], color=colour, linewidth=1)
            label = f"η = {step:g}√p" if step else "before"
            style.dots(axes[0], DISTANCES, mean[1, j, :-1], error[1, j, :-1], color=colour, label=label)
        axes[0].set(xlabel="distance along the gradient", ylabel="share of signs changed", ylim=(0, 1.02))
        axes[0].set_title("tanh", loc="left")
        axes[0].legend(loc="lower right")
        for i, (name, colour) in enumerate(zip(NAMES, style.COLOURS, strict=False)):
            axes[1].axhline(mean[i, 0, -1], color=colour, linewidth=0.8, linestyle=":")
            axes[1].plot(STEPS[1:], expected[i, 1:, -1], color=colour, linewidth=1)
            style.dots(axes[1], STEPS[1:], mean[i, 1:, -1], error[i, 1:, -1], color=colour, label=NAMES[name])
        axes[1].set(xlabel="step size η/√p (dotted: before)", ylabel="mean of ‖∇f‖²", xscale="log", yscale="log")
        axes[1].set_xticks(STEPS[1:], [f"{step:g}" for step in STEPS[1:]])
        axes[1].minorticks_off()
        axes[1].legend()
        return style.svg(fig)


CLAIM = claim("giantstep/flip-distance", measure=measure, predict=predict, judge=judge)
