"""After a step beyond n^(1/4) the network learns the quadratic part of its target.

Random features take it for noise.
"""

from collections.abc import Sequence

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
from giantstep.plot import style
from giantstep_papers.moniri import talk
from giantstep_papers.shared import paired
from giantstep_papers.shared.said import signed

CLAIM = Claim(
    order=16,
    quote="Unlike random features model, after one gradient update, the model can learn higher "
    "order polynomial components of the teacher function.",
    place="Moniri's talk of March 2024, slide “Conclusion”",
    kind="remark",
    statement="Unlike random features, the model can learn higher-order polynomial components of "
    "the teacher function after one gradient update.",
    where="settings 1 and 2 of the simulations, H₂/√2 in place of noise of the same power, at "
    "alpha = 0.4",
    how="Random features must have the same errors in both settings, because the quadratic part "
    "is noise to them. After the step the test error of setting 2 must be lower by a good part of "
    "what the finite-size theory predicts. Differences are in units of the errors of random "
    "features.",
    judges=(
        Judge(
            "test error of setting 1 less that of setting 2 after the step",
            side="above",
            relative=True,
            margin=0.5,
            departure=1.0,
            because="the words “can learn”, which name no amount",
        ),
        Judge(
            "difference of the settings for random features",
            margin=(0.005, 0.002),
            departure=0.045,
            because="terms of order 1/n",
        ),
    ),
    seeds={"quick": Seeds(60, 480), "full": Seeds(100, 600)},
)

ALPHAS = (0.1, 0.2, 0.4)
SIZES = {"quick": 200, "full": 800}
LARGE = 10**12  # where theory shows what stays of a difference
THRESHOLD = 0.25
NAMES = ("setting 1: $x_1$ + noise", r"setting 2: $x_1 + H_2(x_1)/\sqrt{2}$")
BELOW = [a < THRESHOLD for a in ALPHAS]


def experiments(n: int, alphas: Sequence[float]) -> list[Setting]:
    return [paired.experiment(n, alphas, target) for target in talk.targets().values()]


def apart(errors: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """How much lower the errors of setting 2 are, (errors, alphas).

    They are in units of the errors of random features. Those errors, equal in the limit, are
    subtracted first.
    """
    one, two = map(paired.gains, errors)
    return (two - one) / scale.reshape(-1, *[1] * (one.ndim - 1))


def measure(size: Size, seeds: range) -> Data:
    """Errors of both settings, (2, errors, step sizes, seeds)."""
    n = SIZES[size]
    found = [paired.measured(n, ALPHAS, name, seeds) for name in talk.targets()]
    return {"errors": np.array(found)}


def predict(size: Size) -> Data:
    """Errors of both settings without seeds, here and at a large n.

    The lines of the figure are along a fine grid.
    """
    fine, count = np.linspace(0.0, max(ALPHAS) + 0.01, 31), len(ALPHAS)
    alphas = (*ALPHAS, *fine.tolist())
    here, large = (
        np.array([paired.predicted(setting) for setting in experiments(n, alphas)])
        for n in (SIZES[size], LARGE)
    )
    scale = here[0, :, 0]
    line, far = (apart(errors, scale)[0, count:] for errors in (here, large))
    return {
        "errors": here[:, :, : 1 + count],
        "fine": fine,
        "lines": here[:, :, 1 + count :],
        "line": line,
        "far": far,
        "large": large[:, :, : 1 + count],
        "scale": scale,
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Without a step the settings have the same errors.

    Beyond 1/4 the test error of setting 2 is lower by what it learns.
    """
    judge, scale = judging(CLAIM, size), predicted["scale"]
    found, expected = (apart(each["errors"], scale)[:1, -1] for each in (measured, predicted))
    one, two = measured["errors"][:, :, 0]
    learned = "test error of setting 1 less that of setting 2 after the step"
    alike, before = "difference of the settings for random features", (one - two) / scale[:, None]
    return statistics.stated(
        judge(learned, found, expected, at=[f"alpha = {ALPHAS[-1]:g}"]),
        judge(alike, before, at=paired.ERRORS.values()),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n, scale = SIZES[size], predicted["scale"]
    learned = float(apart(measured["errors"], scale)[0, -1].mean())
    one, two = measured["errors"][:, 0, 0]
    before = float(((one - two) / scale[0]).mean())
    lower = (
        f"After a step of size n^{ALPHAS[-1]:g} the test error is {signed(learned, '.1%')} lower "
        "with a quadratic part in the labels than with noise of its power."
    )
    return Verdict(
        sizes=setup(size),
        sentence=f"{lower} For random features it is {signed(before, '.1%')} lower.",
        figure=draw(n, measured["errors"], predicted),
        caption=lower,
        settings=tuple(setting.id for setting in experiments(n, ALPHAS)),
    )


def setup(size: Size) -> str:
    """What is run, in words."""
    return f"n = {SIZES[size]}; {talk.RATIOS}; penalty {paired.PENALTY:g}"


def draw(n: int, errors: np.ndarray, predicted: Data) -> str:
    """Both errors of both settings over the theory's lines, and their difference.

    The difference is at this n and a large one.
    """
    fine = predicted["fine"]
    with style.figure(3, width=2.85, height=2.8) as (fig, axes):
        for j, label in enumerate(paired.ERRORS.values()):
            for i, name in enumerate(NAMES):
                look = {"colour": style.COLOURS[i], "label": name, "marker": "os"[i]}
                dots, line = errors[i, j, 1:], predicted["lines"][i, j]
                paired.over_line(axes[j], ALPHAS, dots, fine, line, **look)
            axes[j].set_ylabel(label)
        look = {"colour": style.COLOURS[2], "label": f"simulation, n = {n}", "marker": "D"}
        dots = apart(errors, predicted["scale"])[0]
        paired.over_line(axes[2], ALPHAS, dots, fine, predicted["line"], **look)
        far = f"theory, n = 10$^{{{round(np.log10(LARGE))}}}$"
        axes[2].plot(fine, predicted["far"], "--", color=style.INK, label=far)
        axes[2].set_ylabel("difference in test error /\nerror of random features")
        axes[2].plot([], [], color=style.INK, label=f"theory, n = {n}")
        for ax in axes:
            paired.step_axis(ax, THRESHOLD)
        named = (ax.get_legend_handles_labels() for ax in axes[[0, 2]])
        handles, labels = (one + two for one, two in zip(*named, strict=True))
        fig.legend(handles, labels, loc="outside lower center", ncols=3)
        return style.svg(fig)
