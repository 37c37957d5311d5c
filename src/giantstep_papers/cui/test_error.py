"""The test error of spiked random features after one step of size eta ~ sqrt(n) has a limit, and
the network is close to it."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

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
from giantstep.checks.cache import one_blas_thread
from giantstep.experiment import draw
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.simulate import train
from giantstep.theory.sgd_readout.population import moments
from giantstep_papers.shared.controls import controlled

CLAIM = Claim(
    order=1,
    quote="we provide an exact asymptotic description of the generalization error of the sRF […]. "
    "The resulting characterization for sRFs also captures closely the learning curves of the"
    " original network model.",
    place="abstract only",
    kind="asymptotic limit",
    statement="The test error of the spiked random features model has an exact asymptotic "
    "description, which also captures closely the learning curves of the original network.",
    where="the settings of their notebooks, with the teachers sin and tanh; the spiked model is the"
    " network after the rank-one part of the step",
    how="Population risks of the spiked model must be those predicted, and those of the network "
    "must be close to them. The draws of the step serve as control variates.",
    judges=(
        Judge(
            "error of the spiked model",
            relative=True,
            margin=(0.05, 0.015),
            departure=(0.15, 0.04),
            mean=((0.05, 0.015), (0.1, 0.04)),
            because="corrections of order 9/d",
        ),
        Judge(
            "error of the network",
            relative=True,
            margin=0.05,
            departure=(0.15, 0.075),
            because="the word “closely”, which was given this meaning beforehand",
        ),
    ),
    seeds={"quick": Seeds(24, 80), "full": Seeds(60, 240)},
)

DIMENSIONS = {"quick": 200, "full": 600}  # d = p
RATIOS = {
    "quick": (0.5, 3.0),
    "full": (0.5, 1.5, 3.0),
}  # n/d; whole numbers of batches fit in the largest
MOST = 3.0  # the largest n/d
LINE = (0.25, 3.0, 12)  # n/d where the line is predicted
UPDATES = ("gradient", "rank1")


class NotebookCase(NamedTuple):
    """An experiment of the paper's notebooks: teacher, step size, samples of the step over d,
    and penalty, in its units."""

    teacher: str
    eta: float
    step_samples: float
    penalty: float


CASES = (NotebookCase("sin(x1)", 3.0, 20.0, 0.1), NotebookCase("tanh(x1)", 1.0, 0.5, 0.01))


def experiment(case: NotebookCase, d: int, ratio: float, update: str = "gradient") -> gs.Setting:
    """The preset with d = p, a tanh network and n = ratio d; the step's gradient or the rank-one
    part of it."""
    first, n = round(case.step_samples * d), round(ratio * d)
    setting = gs.presets.cui(first, n, d, d, case.eta, case.penalty, target=case.teacher)
    (step,) = setting.protocol.steps
    return replace(
        setting, protocol=replace(setting.protocol, steps=(replace(step, update=update),))
    )


def limit(case: NotebookCase, d: int, ratio: float, update: str) -> float:
    """The test error predicted."""
    return float(gs.theory(experiment(case, d, ratio, update)).test_error)


def errors(
    case: int, update: str, ratios: tuple[float, ...], d: int, seed: int
) -> Float[np.ndarray, " numbers"]:
    """The population risks at every n/d, means over the batches that fit in one of 3d samples,
    and then the controls."""
    largest = experiment(CASES[case], d, MOST, update)
    X, y = draw.rows(largest, seed, draw.readout_batch(largest))
    with one_blas_thread(d):
        W = train(largest, seed, dtype="float32", memory=4.0).final.astype(float)
        F, (second, cross), found = np.tanh(X @ W.T), moments(largest, W), []
        for ratio in ratios:
            readout, n = experiment(CASES[case], d, ratio).protocol.readout, round(ratio * d)
            penalty = readout.penalty  # type: ignore[union-attr]
            batches = [slice(i, i + n) for i in range(0, len(F) - n + 1, n)]
            fits = [np.asarray(gs.ridge(F[own], y[own], penalty).coefficients) for own in batches]
            # E (f* - <b, f>)^2 with the exact moments of the features
            power = largest.target.power
            found.append(np.mean([power - 2 * b @ cross + b @ second @ b for b in fits]))
    return np.concatenate([found, controls(largest, seed)])


def controls(setting: gs.Setting, seed: int) -> Float[np.ndarray, " 4"]:
    """What the draws of the step and of the first layer do to the error, each less its known mean.

    With beta = X^T y/n of the step's batch, e the part of the target's direction outside beta,
    of length one, and rows of W uniform on the sphere: sum_{j > 1} beta_j^2, beta_1, |W e|^2 and
    |W^T W e|^2.
    """
    X, y = draw.rows(setting, seed, draw.step_batches(setting)[0])
    (W, _), d, p = draw.weights(setting, seed), setting.d, setting.p
    beta = X.T @ y / len(y)
    e = -beta * beta[0] / (beta @ beta)
    e[0] += 1
    along = W @ (e / np.linalg.norm(e))
    found = beta[1:] @ beta[1:], beta[0], along @ along, np.sum((along @ W) ** 2)
    means = (
        (d - 1) / len(y) * setting.target.power,
        float(setting.target.hermite[(1,)]),
        p / d,
        p / d + p * (p - 1) / d**2,
    )
    return np.array(found) - means


def measure(size: Size, seeds: range) -> Data:
    """By update the risks and controls, (cases, numbers, seeds)."""
    cells = [
        [(k, update, RATIOS[size], DIMENSIONS[size]) for k in range(len(CASES))]
        for update in UPDATES
    ]
    return dict(zip(UPDATES, cache.over(errors, cells, seeds), strict=True))


def predict(size: Size) -> Data:
    """The test errors of the spiked model, (cases, n/d), and those along the line."""
    d = DIMENSIONS[size]
    found = np.array([[limit(case, d, r, "rank1") for r in RATIOS[size]] for case in CASES])
    lines = np.array([[limit(case, d, r, "rank1") for r in np.linspace(*LINE)] for case in CASES])
    return {"rank1": found, "lines": lines}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The spiked model is the network after the rank-one part of the step: it has the errors
    predicted for it, and the network after the whole gradient is close to them."""
    at = [f"{case.teacher}, n = {ratio:g}d" for case in CASES for ratio in RATIOS[size]]
    model, network = (_risks(measured[update], size) for update in ("rank1", "gradient"))
    judge, limits = judging(CLAIM, size), predicted["rank1"]
    return statistics.stated(
        *judge.each_and_mean("error of the spiked model", model, limits, at=at),
        judge("error of the network", network, limits, at=at),
    )


def _risks(
    numbers: Float[np.ndarray, "cases numbers seeds"], size: Size
) -> Float[np.ndarray, "cases ratios seeds"]:
    ratios = len(RATIOS[size])
    return np.array([controlled(each[:ratios], each[ratios:]) for each in numbers])


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d, ratios = DIMENSIONS[size], RATIOS[size]
    means = {update: mean_and_error(_risks(measured[update], size)) for update in UPDATES}
    furthest = {
        u: 100 * np.max(np.abs(mean / predicted["rank1"] - 1)) for u, (mean, _) in means.items()
    }
    failed = "" if ruling.stated.outcome == "holds" else f" {ruling.stated.sentence}"
    return Verdict(
        sentence=f"The spiked model is within {furthest['rank1']:.1f}% of the errors predicted "
        f"for it, and the network within {furthest['gradient']:.1f}%.{failed}",
        sizes=f"d = p = {d}; "
        + "; ".join(
            f"{c.teacher}: η = {c.eta:g}, n₀ = {c.step_samples:g}d, λ = {c.penalty:g}"
            for c in CASES
        ),
        figure=_figure(d, ratios, means, predicted),
        caption=f"The network has the predicted test errors within {furthest['gradient']:.1f}%, "
        f"and the spiked model within {furthest['rank1']:.1f}%.",
        settings=tuple(
            experiment(case, d, r, update).id
            for case in CASES
            for r in ratios
            for update in UPDATES
        ),
    )


def _figure(d: int, ratios: tuple[float, ...], means: Data, predicted: Data) -> str:
    labels = {"gradient": f"network, d = p = {d}", "rank1": "spiked model"}
    with style.figure(len(CASES), width=3.6, height=2.9) as (fig, axes):
        for i, (ax, case) in enumerate(zip(axes, CASES, strict=True)):
            style.curve(
                ax,
                np.linspace(*LINE),
                predicted["lines"][i],
                color=style.COLOURS[0],
                label="theory",
            )
            for k, (update, marker) in enumerate(zip(UPDATES, "os", strict=True)):
                fill = {} if k == 0 else {"markerfacecolor": "white", "zorder": 1}
                where = np.array(ratios) + 0.05 * k
                values = [each[i] for each in means[update]]
                style.dots(
                    ax,
                    where,
                    *values,
                    color=style.COLOURS[k],
                    marker=marker,
                    label=labels[update],
                    **fill,
                )
            ax.set(xlabel="samples per dimension n/d", ylabel="test error")
            ax.set_ylim(0, 1.25 * float(np.max(predicted["lines"][i])))
            teacher = case.teacher.replace("x1", "x₁")
            ax.set_title(
                f"y = {teacher}, η = {case.eta:g}, n₀ = {case.step_samples:g}d, λ = "
                f"{case.penalty:g}"
            )
            ax.legend(loc="lower left")
        return style.svg(fig)
