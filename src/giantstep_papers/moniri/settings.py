"""After a step beyond n^(1/4) the network learns the quadratic part of its target, which random features take for noise."""

from collections.abc import Sequence

import numpy as np

from giantstep.checks import Claim, Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, statistics
from giantstep.experiment.setting import Setting
from giantstep.plot import style
from giantstep_papers.moniri import talk
from giantstep_papers.shared import paired

CLAIM = Claim(
    order=16,
    quote="Unlike random features model, after one gradient update, the model can learn higher "
    "order polynomial components of the teacher function.",
    place="Moniri's talk of March 2024, slide “Conclusion”",
    kind="remark",
    statement="Unlike random features, the model can learn higher-order polynomial components of the "
    "teacher function after one gradient update.",
    where="settings 1 and 2 of the simulations, H₂/√2 in place of noise of the same power, at alpha = 0.4",
    how="Random features must have the same errors in both settings, because the quadratic part "
    "is noise to them. The margin is of order 1/n, and 4.5% must be noticed. After the step "
    "the test error of setting 2 must be lower by at least half of what the finite-size "
    "theory predicts. No difference must be noticed.",
    seeds={"quick": Seeds(60, 480), "full": Seeds(100, 600)},
)

ALPHAS = (0.1, 0.2, 0.4)
SIZES = {"quick": 200, "full": 800}
EQUAL = {"quick": 0.005, "full": 0.002}  # margin of an error: of order 1/n
SEEN = {
    "quick": np.array([0.02, 0.04]),
    "full": np.array([0.01, 0.02]),
}  # departures of the test error and of the training objective, which is noisier
ALIKE = {
    "quick": Tolerance(0.005, 0.045),
    "full": Tolerance(0.002, 0.045),
}  # of random features: half of what a step learns
LEARNS = Tolerance(0.5, 1.0)  # of the predicted difference: what "learns" means in numbers
LARGE = 10**12  # where theory shows what stays of a difference
THRESHOLD = 0.25
NAMES = ("setting 1: $x_1$ + noise", r"setting 2: $x_1 + H_2(x_1)/\sqrt{2}$")
BELOW = [a < THRESHOLD for a in ALPHAS]


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
        "far": far, "large": large[:, :, : 1 + len(ALPHAS)], "scale": scale,
    }  # fmt: skip


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Without a step the settings have the same errors; beyond 1/4 the test error of setting 2 is lower by what it learns."""
    scale = predicted["scale"]
    found, expected = apart(measured["errors"], scale)[:1, -1], apart(predicted["errors"], scale)[:1, -1]
    one, two = measured["errors"][:, :, 0]
    return statistics.stated(
        statistics.compare(
            "test error of setting 1 less that of setting 2 after the step", found, expected, at=[f"alpha = {ALPHAS[-1]:g}"],
            side="above", relative=True, within=LEARNS,
        ),
        statistics.compare(
            "difference of the settings for random features", (one - two) / scale[:, None], at=paired.ERRORS.values(),
            within=ALIKE[size],
        ),
    )  # fmt: skip


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n, scale = SIZES[size], predicted["scale"]
    learned = float(apart(measured["errors"], scale)[0, -1].mean())
    before = float(((measured["errors"][0, 0, 0] - measured["errors"][1, 0, 0]) / scale[0]).mean())
    return Verdict(
        sizes=setup(size),
        sentence=f"After a step of size n^{ALPHAS[-1]:g} the test error is {learned:.1%} lower with a quadratic part in "
        f"the labels than with noise of its power. For random features it is {before:.1%} lower.".replace("-", "−"),  # noqa: RUF001
        figure=draw(n, measured["errors"], predicted),
        caption=f"After a step of size n^{ALPHAS[-1]:g} the test error is {learned:.1%} lower with a quadratic part in "
        "the labels than with noise of its power.",
        settings=tuple(setting.id for setting in experiments(n, ALPHAS)),
    )


def setup(size: Size) -> str:
    """What is run, in words."""
    return f"n = {SIZES[size]}; {talk.RATIOS}; penalty {paired.PENALTY:g}"


def draw(n: int, errors: np.ndarray, predicted: Data) -> str:
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
