"""The talk's protocol to the letter: Gaussian rows, the residual y - f_0, and one batch for the step and the readout."""

from dataclasses import replace
from itertools import product

import numpy as np
from jaxtyping import Float

import giantstep as gs
from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, cache, statistics
from giantstep.claims import paired
from giantstep.claims.controls import controlled
from giantstep.claims.moniri import talk
from giantstep.claims.moniri.spectrum import predicted as spectra
from giantstep.experiment import draw
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.simulate import train
from giantstep.theory.one_step.parameters import activation_constants

ALPHAS = (0.1, 0.3, 0.45)
JUDGED = (0.3,)  # the others are shown: one is enough, and the least dear
SMALL = 0.2  # the step size at which the spike is measured: of first order in eta
SIZES = {"quick": 200, "full": 800}
SEEDS: dict[Size, Seeds] = {"quick": Seeds(22, 60), "full": Seeds(24, 400)}
ERROR = {"quick": Tolerance(0.05, 0.15), "full": Tolerance(0.03, 0.04)}  # of a predicted error
LEAST = Tolerance(0.25, 1.0)  # of a predicted gain: what "lowers" means in numbers
SPIKE = {"quick": Tolerance(0.02, 0.06), "full": Tolerance(0.01, 0.03)}  # of a coefficient
TERMS = ("Xβ", "y − f₀")


def experiment(n: int, name: str, alphas: tuple[float, ...] = ALPHAS, *, to_the_letter: bool = True) -> gs.Setting:
    """No step and these step sizes; to the letter of the slides, or with unit rows, the residual y and a fresh readout."""
    setting = paired.experiment(n, alphas, talk.TARGETS[name])
    if not to_the_letter:
        return setting
    (step,) = setting.protocol.steps
    protocol = gs.Protocol((replace(step, residual="full"),), gs.Ridge(n, paired.PENALTY, batch="reuse"))
    return replace(setting, network=replace(setting.network, rows="gaussian"), protocol=protocol)


def spike(n: int, name: str, seed: int) -> Float[np.ndarray, " 2"]:
    """The coefficients of X beta and y - f_0 in (F - F_0) a/(eta s |a|^2) after a small step, by least squares."""
    setting = experiment(n, name)
    (step,) = setting.protocol.steps
    setting = replace(setting, protocol=replace(setting.protocol, steps=(replace(step, eta=SMALL),)))
    X, y = draw.rows(setting, seed, draw.readout_batch(setting))
    layers, sigma = train(setting, seed), setting.network.activation
    a, s = layers.second_layer, setting.network.factor
    before, after = (np.asarray(sigma(X @ W.T)) for W in (layers.initial, layers.final))
    columns = np.stack([X @ spectra.direction(setting, seed, layers), y - s * before @ a], axis=1)
    return np.linalg.lstsq(columns, (after - before) @ a / (SMALL * s * (a @ a)), rcond=None)[0]


def one_run(n: int, name: str, seed: int) -> dict[str, np.ndarray]:
    """Errors (2, step sizes), coefficients of the spike (2) and controls of one seed."""
    setting = experiment(n, name)
    controls = np.array(paired.draws(setting, seed)[:4])  # of the one batch
    return {"errors": paired.fits(setting, seed)[..., 0], "spike": spike(n, name, seed), "controls": controls}


def measure(size: Size, seeds: range) -> Data:
    """Errors (targets, 2, step sizes, seeds), with control variates, and coefficients of the spike (targets, 2, seeds)."""
    found = cache.over(one_run, [(SIZES[size], name) for name in talk.LABELS], seeds)
    errors = [controlled(*both) for both in zip(found["errors"], found["controls"], strict=True)]
    return {"errors": np.array(errors), "spike": found["spike"]}


def predict(size: Size) -> Data:
    """Errors of the protocol that theory covers, (targets, 2, step sizes), and the coefficients of the spike, (2).

    A neuron's step has phi r_i sigma'(h_ij) from the sample i itself, phi = d/n and r = y - f_0, so that the mean of the feature
    moves by sigma'(h) sigma'(h) phi r_i in place of c_1 c_1 phi r_i: F - F_0 ~ eta s (c_1^2 X beta + phi Var sigma' r) a^T.
    """
    n = SIZES[size]
    setting = experiment(n, "setting 1")
    coefficients, _, slope = activation_constants(setting.network.activation)
    clean = [paired.predicted(experiment(n, name, to_the_letter=False)) for name in talk.LABELS]
    first = coefficients[1] ** 2
    return {"errors": np.array(clean), "spike": np.array([first, setting.d / n * (slope - first)])}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """As stated the errors are those of the clean protocol; as corrected both fall and the spike has a part along y - f_0."""
    judged = [ALPHAS.index(alpha) for alpha in JUDGED]
    errors, expected = measured["errors"][..., 1:, :][:, :, judged], predicted["errors"][..., 1:][..., judged]
    gains, clean = (x[:, :, :1] - y for x, y in ((measured["errors"], errors), (predicted["errors"], expected)))
    at = [f"{t}, {what}, alpha = {a:g}" for t, what, a in product(talk.LABELS, paired.ERRORS.values(), JUDGED)]
    terms = [f"{t}, {term}" for t in talk.LABELS for term in TERMS]
    return Evidence(
        (statistics.compare("error", errors, expected, at=at, relative=True, within=ERROR[size]),),
        (
            statistics.compare("gain", gains, clean, at=at, side="above", relative=True, within=LEAST),
            statistics.compare(
                "coefficient of the spike", measured["spike"], np.tile(predicted["spike"], (2, 1)), at=terms,
                within=SPIKE[size],
            ),
        ),
    )  # fmt: skip


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n, off = SIZES[size], ruling.stated.of("error").difference.reshape(2, 2, len(JUDGED))
    test, training = (f"{x.min():+.0%} to {x.max():+.0%}" for x in (off[:, 0], off[:, 1]))
    spike = ", ".join(f"{x:.3f}" for x in measured["spike"].mean(axis=(0, 2)))
    theory = ", ".join(f"{x:.3f}" for x in predicted["spike"])
    clean = f"{test} of the test error and {training} of the training loss"
    return Verdict(
        sizes=f"n = {n}; {talk.RATIOS}; relu; penalty {paired.PENALTY:g}",
        figure=_figure(size, measured, predicted),
        caption="Test error (left) and training loss (right) against alpha to the letter of the slides, dots, and the theory of "
        f"the clean protocol, lines. At alpha = {JUDGED[0]:g} they differ by {clean}. The spike has the coefficients {spike} "
        f"along Xβ and y − f₀, where {theory} are predicted.",
        trend=f"At alpha = {JUDGED[0]:g} the protocol of the slides differs from the clean one by {clean}.",
        settings=tuple(experiment(n, name).id for name in talk.LABELS),
    )


def _figure(size: Size, measured: Data, predicted: Data) -> str:
    mean, error = mean_and_error(measured["errors"])
    x = np.array([0.0, *ALPHAS])
    with style.figure(2, width=3.5, height=2.9) as (fig, axes):
        for i, label in enumerate(talk.LABELS.values()):
            for j, (ax, what) in enumerate(zip(axes, paired.ERRORS.values(), strict=True)):
                style.curve(ax, x[1:], predicted["errors"][i, j, 1:], color=style.COLOURS[i])
                style.dots(
                    ax, x[1:], mean[i, j, 1:], error[i, j, 1:], color=style.COLOURS[i], marker="os"[i], label=label
                )
                ax.set_ylabel(what)
        for ax in axes:
            ax.set(xlabel=paired.STEP_SIZE, ylim=(0, None))
        axes[0].plot([], [], color=style.INK, label="theory, clean protocol")
        return style.svg(fig, below=3)
