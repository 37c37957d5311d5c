"""One prediction for every step size, from random features through the staircase to sqrt(n), and a look beyond."""

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from giantstep.claims import paired
from giantstep.claims.moniri import talk
from giantstep.claims.paired import Compared
from giantstep.lab.verdict import Claim, Size, Verdict

if TYPE_CHECKING:
    from giantstep.setting import Setting

ALPHAS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
UPDATES = {"rank1": "rank-one part", "gradient": "full gradient"}
ACTIVATIONS = ("relu", "tanh")
SIZES = {"quick": (500, 20), "full": (2000, 40)}
PUBLISHED = "published limit"
NEAR = 3.0  # % granted to finite sizes
SURE = 4.0  # standard errors, for 56 comparisons
LAST = 0.5  # alpha up to which the prediction is judged; beyond, its status says that the step is too long for it


def experiment(n: int, activation: str, update: str, alphas: Any) -> "Setting":
    """relu on H1 + H2/sqrt(2), whose quadratic part its second spike learns; tanh, which has none, on H1 + noise."""
    target = talk.setting_2() if activation == "relu" else talk.setting_1()
    return paired.experiment(n, alphas, target, activation=activation, update=update)


def measured(n: int, seeds: int) -> dict[tuple[str, str, str], Compared]:
    """Errors at step size 0 and every alpha, for each activation, update and error."""
    found = {}
    for activation, update in product(ACTIVATIONS, UPDATES):
        setting = experiment(n, activation, update, ALPHAS)
        outcome, theory = paired.simulated(setting, seeds), paired.predicted(setting)
        for error in paired.ERRORS:
            found[activation, update, error] = paired.compare(getattr(outcome, error), getattr(theory, error))
    return found


class Point(NamedTuple):
    activation: str
    update: str
    what: str
    alpha: float | str
    mean: float
    error: float
    predicted: float
    distance: float

    @property
    def off(self) -> float:  # in %
        return 100 * (self.mean / self.predicted - 1)


def run(size: Size) -> Verdict:
    n, seeds = SIZES[size]
    found = measured(n, seeds)
    rows = [
        Point(activation, update, paired.ERRORS[error], alpha, *map(float, column))
        for (activation, update, error), each in found.items()
        for alpha, column in zip(("no step", *ALPHAS), zip(*each, each.distance, strict=True), strict=True)
    ]
    judged = [r for r in rows if isinstance(r.alpha, str) or r.alpha <= LAST]
    missed = [r for r in judged if abs(r.distance) > SURE and abs(r.off) > NEAR]
    worst, beyond = (max(part, key=lambda r: abs(r.off)) for part in (judged, [r for r in rows if r not in judged]))
    return Verdict(
        outcome="fails" if missed else "holds",
        sentence=f"{len(judged) - len(missed)} of {len(judged)} errors, from no step to η = √n, agree with one prediction "
        f"within {SURE:g} s.e. or {NEAR:g}%: {sum(abs(r.off) for r in judged) / len(judged):.1f}% off on average, "
        f"{worst.off:+.1f}% at most ({worst.mean:.3f} ± {worst.error:.3f} against {worst.predicted:.3f}: {worst.activation}, "
        f"{UPDATES[worst.update]}, {worst.what}, alpha = {worst.alpha}). Beyond, at η = n^{ALPHAS[-1]:g}, it is off by up to "
        f"{beyond.off:+.1f}% ({beyond.activation}, {UPDATES[beyond.update]}, {beyond.what}).",
        header=("activation", "update", "error", "alpha", "measured", "s.e.", "predicted", "distance in s.e."),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {n}; {talk.RATIOS}; penalty {paired.PENALTY:g}",
        figure=_figure(n, found),
        settings=tuple(experiment(n, a, u, ALPHAS).id for a in ACTIVATIONS for u in UPDATES),
    )


def _figure(n: int, found: dict[tuple[str, str, str], Compared]) -> str:
    """Errors against alpha with one curve through all of them, and the published staircase beside it."""
    import numpy as np

    from giantstep import canvas

    start, none = -0.25, -0.3  # of the lines, and where random features stand on the axis
    fine = np.linspace(start, max(ALPHAS) + 0.01, 48).tolist()
    steps = [k / (2 * k + 2) for k in range(12)]  # where the regimes of the staircase begin, each a flat piece
    stairs = [start, *(s + side for s in steps for side in (-1e-9, 1e-9))]
    with canvas.figure(len(ACTIVATIONS), 2, width=3.6, height=2.4) as (fig, axes):
        for column, activation in zip(axes.reshape(2, -1).T, ACTIVATIONS, strict=True):
            limit = paired.predicted(experiment(n, activation, "rank1", stairs), "limit")
            lines = {u: paired.predicted(experiment(n, activation, u, fine)) for u in UPDATES}
            for ax, (error, label) in zip(column, paired.ERRORS.items(), strict=True):
                ax.plot(stairs, getattr(limit, error)[1:], "--", color=canvas.INK, linewidth=0.9, label=PUBLISHED)
                for update, colour in zip(UPDATES, canvas.COLOURS, strict=False):
                    each, name = found[activation, update, error], UPDATES[update]
                    ax.plot(fine, getattr(lines[update], error)[1:], color=colour, label=f"theory, {name}")
                    canvas.dots(ax, [none, *ALPHAS], each.mean, each.error, color=colour, label=f"simulated, {name}")
                ax.set_xticks([none, 0, 0.2, 0.4, 0.6], ["none", "0", "0.2", "0.4", "0.6"])
                ax.set_ylabel(label)
                paired.step_axis(ax, 0.5)
            target = "x_1 + H_2(x_1)/\\sqrt{2}" if activation == "relu" else "x_1 + \\mathrm{noise}"
            column[0].set(xlabel="")
            column[0].set_title(f"{activation},  $y = {target}$", loc="left")
        named = dict(zip(*reversed(axes.flat[0].get_legend_handles_labels()), strict=True))
        order = [f"{what}, {name}" for name in UPDATES.values() for what in ("theory", "simulated")]
        fig.legend([named[k] for k in (*order, PUBLISHED)], [*order, PUBLISHED], loc="outside lower center", ncols=3)
        return canvas.svg(fig)


ONE_CURVE = Claim(
    name="giantstep/one-curve",
    statement="One smooth prediction, made at the experiment's own sizes, gives the training loss and the test error at every "
    "step size, from random features through the regimes of Moniri et al. (2024) to η ~ √n.",
    paper="giantstep",
    where="gs.theory, beside the published limits",
    run=run,
)
