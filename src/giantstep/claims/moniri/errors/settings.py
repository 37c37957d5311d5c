"""Two targets with the same linear part and the same power: one curve up to alpha = 1/4, two beyond."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from giantstep.checks import ComparedNumbers, Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, statistics
from giantstep.claims import paired
from giantstep.claims.moniri import talk
from giantstep.experiment.setting import Setting
from giantstep.plot import style

ALPHAS = (0.1, 0.2, 0.4)
SIZES = {"quick": 200, "full": 800}
SEEDS: dict[Size, Seeds] = {"quick": Seeds(60, 240), "full": Seeds(100, 600)}
EQUAL = {"quick": 0.005, "full": 0.002}  # margin of an error: of order 1/n
SEEN = {
    "quick": (0.025, 0.05),
    "full": (0.01, 0.02),
}  # departures of the test error and of the training loss, which is noisier
APART = {"quick": Tolerance(0.02, 0.07), "full": Tolerance(0.01, 0.03)}  # of an error
LARGE = 10**12  # where theory shows what stays of a difference
THRESHOLD = 0.25
NAMES = ("setting 1: $x_1$ + noise", r"setting 2: $x_1 + H_2(x_1)/\sqrt{2}$")
AT = [f"{what}, alpha = {a:g}" for what, a in product(paired.ERRORS.values(), ALPHAS)]
BELOW = np.array([a < THRESHOLD for _ in paired.ERRORS for a in ALPHAS])
FAR = [i for i, a in enumerate(ALPHAS) if a > THRESHOLD]  # of the test error


def experiments(n: int, alphas: Sequence[float]) -> list[Setting]:
    return [paired.experiment(n, alphas, target) for target in talk.targets().values()]


def apart(errors: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """How much lower the errors of setting 2 are, in units of the errors of random features, (errors, alphas).

    The errors of random features, equal in the limit, are subtracted first.
    """
    one, two = map(paired.gains, errors)
    return (two - one) / scale.reshape(-1, *[1] * (one.ndim - 1))


def measure(size: Size, seeds: range) -> Data:
    """Errors of both settings, (2, errors, step sizes, seeds)."""
    return {"errors": np.array([paired.measured(SIZES[size], ALPHAS, name, seeds) for name in talk.targets()])}


def predict(size: Size) -> Data:
    """Errors of both settings without seeds, and the lines of the figure along a fine grid, here and at a large n."""
    fine = np.linspace(0.0, max(ALPHAS) + 0.01, 31)
    here, large = (
        np.array([paired.predicted(setting) for setting in experiments(n, (*ALPHAS, *fine.tolist()))])
        for n in (SIZES[size], LARGE)
    )
    scale = here[0, :, 0]
    line, far = (apart(errors, scale)[0, len(ALPHAS) :] for errors in (here, large))
    return {
        "errors": here[:, :, : 1 + len(ALPHAS)], "fine": fine, "lines": here[:, :, 1 + len(ALPHAS) :], "line": line,
        "far": far, "scale": scale,
    }  # fmt: skip


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """As stated: no difference below 1/4, and beyond it at least half of the predicted one. As corrected: that of the theory."""
    scale = predicted["scale"]
    found, expected = apart(measured["errors"], scale), apart(predicted["errors"], scale)
    found, expected = found.reshape(len(AT), -1), expected.ravel()
    names = [name for name, low in zip(AT, BELOW, strict=True) if low]
    seen = np.repeat(SEEN[size], len(ALPHAS))[BELOW]
    equal = statistics.compare(
        "difference of the settings", found[BELOW], at=names, within=Tolerance(EQUAL[size], seen)
    )
    beyond = statistics.compare(
        "difference beyond 1/4", found[FAR], expected[FAR], at=[AT[i] for i in FAR], side="above", relative=True,
        within=Tolerance(0.5, 1.0),
    )  # fmt: skip
    corrected: ComparedNumbers = statistics.compare("difference and theory", found, expected, at=AT, within=APART[size])
    return Evidence((equal, beyond), (corrected,))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n = SIZES[size]
    found = ruling.stated.of("difference of the settings")
    i = int(np.argmax(np.abs(found.difference)))
    most = f"{found.difference[i]:.3f} ± {found.half[i]:.3f} of the error of random features ({found.comparison.at[i]})"
    at = {name: float(np.interp(0.2, predicted["fine"], predicted[name])) for name in ("line", "far")}
    return Verdict(
        sizes=f"n = {n}; {talk.RATIOS}; penalty {paired.PENALTY:g}",
        figure=_figure(n, measured["errors"], predicted),
        caption="Test error, training loss and the difference in test error of the two settings against alpha, dots over "
        f"the theory's lines. Below alpha = 1/4 they differ by up to {most}. The dashed line shows the theory at n = 10¹², "
        "where the difference is gone up to 1/4.",
        settings=tuple(setting.id for setting in experiments(n, ALPHAS)),
        trend=f"In theory the difference in test error at alpha = 0.2 is {at['line']:.4f} at n = {n} "
        f"and {at['far']:.4f} at n = 10¹².",
    )


def _figure(n: int, errors: np.ndarray, predicted: Data) -> str:
    """Both errors of both settings over the theory's lines, and their difference at this n and a large one."""
    fine = predicted["fine"]
    with style.figure(3, width=2.85, height=2.8) as (fig, axes):
        for j, label in enumerate(paired.ERRORS.values()):
            for i, name in enumerate(NAMES):
                look = {"colour": style.COLOURS[i], "label": name, "marker": "os"[i]}
                paired.over_line(axes[j], ALPHAS, errors[i, j, 1:], fine, predicted["lines"][i, j], **look)
            axes[j].set_ylabel(label)
        look = {"colour": style.COLOURS[2], "label": f"simulation, n = {n}", "marker": "D"}
        paired.over_line(axes[2], ALPHAS, apart(errors, predicted["scale"])[0], fine, predicted["line"], **look)
        axes[2].plot(fine, predicted["far"], "--", color=style.INK, label="theory, n = 10$^{12}$")
        axes[2].set_ylabel("difference in test error /\nerror of random features")
        axes[2].plot([], [], color=style.INK, label=f"theory, n = {n}")
        for ax in axes:
            paired.step_axis(ax, THRESHOLD)
        handles, labels = (a + b for a, b in zip(*(ax.get_legend_handles_labels() for ax in axes[[0, 2]]), strict=True))
        fig.legend(handles, labels, loc="outside lower center", ncols=3)
        return style.svg(fig)
