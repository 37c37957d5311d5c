"""The talk's protocol to the letter: Gaussian rows, the residual y - f_0, and one batch.

That batch is the one of the step and of the readout.
"""

from dataclasses import replace
from itertools import product

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
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep_papers.moniri import talk
from giantstep_papers.shared import paired
from giantstep_papers.shared.controls import controlled

CLAIM = Claim(
    order=11,
    quote="3. Fit a via ridge regression […] F = σ(XW₁ᵀ) […] L_tr(F₀) − L_tr(F) →ᴾ Δ_tr > 0, "
    "L_te(F₀) − L_te(F) →ᴾ Δ_te > 0",
    place="Moniri's talk of March 2024, slides “One Gradient Step Update” and “Analysis of the "
    "Training/Test Errors”",
    kind="asymptotic limit",
    statement="With the ridge regression on F = σ(XW₁ᵀ) the gains over F₀ in training objective "
    "and test error tend to positive limits.",
    where="the protocol as the slides write it: W₀ Gaussian, the gradient of y − f₀, and the same "
    "X for the step and for the ridge fit",
    how="At alpha = 0.3, inside the regime ℓ = 2, we measure both gains for both targets at three "
    "n. Positive means a good part of the gain that theory has with a fresh batch.",
    judges=(
        Judge(
            "gain",
            side="above",
            relative=True,
            margin=0.5,
            departure=1.0,
            because="the second use of the batch, which that theory leaves out",
        ),
    ),
    seeds={"quick": Seeds(30, 160), "full": Seeds(40, 240)},
)

ALPHAS = (0.1, 0.3, 0.45)
JUDGED = 1  # 0.3, inside the regime of degree two; the others are shown
SIZES = {"quick": (120, 200, 320), "full": (200, 400, 800)}


def experiment(
    n: int, name: str, alphas: tuple[float, ...] = ALPHAS, *, to_the_letter: bool = True
) -> gs.Setting:
    """No step and these step sizes, to the letter of the slides.

    Otherwise with unit rows, the residual y and a fresh readout.
    """
    setting = paired.experiment(n, alphas, talk.TARGETS[name])
    if not to_the_letter:
        return setting
    (step,) = setting.protocol.steps
    readout = gs.Ridge(n, paired.PENALTY, batch="reuse")
    protocol = gs.Protocol((replace(step, residual="full"),), readout)
    network = replace(setting.network, rows="gaussian")
    return replace(setting, network=network, protocol=protocol)


def one_run(n: int, name: str, seed: int) -> dict[str, np.ndarray]:
    """Errors (2, step sizes) and controls of one seed."""
    setting = experiment(n, name)
    controls = np.array(paired.draws(setting, seed)[:4])  # of the one batch
    return {"errors": paired.fits(setting, seed)[..., 0], "controls": controls}


def errors(n: int, seeds: range) -> Float[np.ndarray, "targets 2 steps seeds"]:
    """Test error and training objective, with control variates."""
    found = cache.over(one_run, [(n, name) for name in talk.LABELS], seeds)
    pairs = zip(found["errors"], found["controls"], strict=True)
    return np.array([controlled(*both) for both in pairs])


def clean(n: int) -> Float[np.ndarray, "targets 2 steps"]:
    """The same by theory for the protocol that it covers.

    That has rows of length one, the residual y and a fresh batch.
    """
    each = [experiment(n, name, to_the_letter=False) for name in talk.LABELS]
    return np.array([paired.predicted(setting) for setting in each])


def measure(size: Size, seeds: range) -> Data:
    """Errors, (sizes, targets, 2, step sizes, seeds)."""
    return {"errors": np.array([errors(n, seeds) for n in SIZES[size]])}


def predict(size: Size) -> Data:
    """Errors of the clean protocol, (sizes, targets, 2, step sizes)."""
    return {"errors": np.array([clean(n) for n in SIZES[size]])}


def gains(errors: np.ndarray) -> np.ndarray:
    """What the step that is judged takes off the errors of random features, (sizes, targets, 2).

    Seeds follow if there are any.
    """
    return errors[:, :, :, 0] - errors[:, :, :, 1 + JUDGED]


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Both gains are positive at every n, beside those with a fresh batch."""
    judge, cells = judging(CLAIM, size), product(SIZES[size], talk.LABELS, paired.ERRORS.values())
    at = [f"{name}, {what}, n = {n}" for n, name, what in cells]
    found, expected = gains(measured["errors"]), gains(predicted["errors"])
    return statistics.trend(judge("gain", found, expected, at=at))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes, n = SIZES[size], SIZES[size][-1]
    # of both targets the smaller gain
    first, *_, last = gains(measured["errors"]).mean(axis=-1).min(axis=1)
    return Verdict(
        sizes=f"n = {', '.join(map(str, sizes))}; {talk.RATIOS}; relu; penalty {paired.PENALTY:g}",
        sentence=f"With the protocol of the slides a step of size n^{ALPHAS[JUDGED]:g} lowers both "
        f"errors at every n. At the largest n it lowers the test error by at least {last[0]:.2f} "
        f"and the training objective by at least {last[1]:.2f}."
        if ruling.stated.outcome == "holds"
        else "",
        figure=draw(measured["errors"][-1], predicted["errors"][-1]),
        caption="With one batch for the step and the readout the step lowers both errors, and the "
        "training objective lies far below that of a fresh batch.",
        trend=f"Between n = {sizes[0]} and {n} the smaller gain of both targets goes from "
        f"{first[0]:.2f} to {last[0]:.2f} in test error, and from {first[1]:.2f} to {last[1]:.2f} "
        "in training objective.",
        settings=tuple(experiment(n, name).id for name in talk.LABELS),
    )


def draw(errors: np.ndarray, expected: np.ndarray) -> str:
    """Errors of both targets against alpha.

    The protocol of the slides is dots, the clean one lines.
    """
    mean, error = mean_and_error(errors)
    x = np.array([0.0, *ALPHAS])
    with style.figure(2, width=3.5, height=2.9) as (fig, axes):
        for i, label in enumerate(talk.LABELS.values()):
            for j, (ax, what) in enumerate(zip(axes, paired.ERRORS.values(), strict=True)):
                look = {"color": style.COLOURS[i]}
                style.curve(ax, x[1:], expected[i, j, 1:], **look)
                look |= {"marker": "os"[i], "label": label}
                style.dots(ax, x[1:], mean[i, j, 1:], error[i, j, 1:], **look)
                ax.set_ylabel(what)
        for ax in axes:
            ax.set(xlabel=paired.STEP_SIZE, ylim=(0, None))
        axes[0].plot([], [], color=style.INK, label="theory, clean protocol")
        return style.svg(fig, below=3)
