"""Given what the giant steps have learned, wide networks' features can be replaced by Gaussian ones; not without it."""

from typing import Any

import numpy as np

import giantstep as gs
from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, cache, statistics
from giantstep.measure import mean_and_error
from giantstep.plot import style

SQUARES, PRODUCTS = "x1 + x2 + x1^2 - x2^2", "x1 + x1*x2 + x1*x3"
NAMES = {SQUARES: "$x_1 + x_2 + x_1^2 - x_2^2$", PRODUCTS: "$x_1 + x_1x_2 + x_1x_3$"}
CASES = ((SQUARES, "gelu", 1), (SQUARES, "relu", 2), (PRODUCTS, "relu", 2))  # target, activation, steps
SIZES = {"quick": 150, "full": 500}  # d
SEEDS: dict[Size, Seeds] = {"quick": Seeds(12, 56), "full": Seeds(30, 170)}
RULE = {"quick": Tolerance(0.04, 0.1), "full": Tolerance(0.02, 0.04)}
VISIBLE = 0.2  # of the error: by so much the Gaussian model should be off on average
RATIO = 4  # n/d
STRENGTH = 1.0  # s = eta/p
PENALTY = 0.1  # of the ridge fit
N_TEST = 2000  # test samples
GIVEN, PLAIN = "conditional", "gaussian"
ERRORS = {"test_error": "test error", "train_error": "training error"}


def experiment(target: str, activation: str, steps: int, d: int) -> gs.Setting:
    network = gs.Network(d, activation, scale="1/p")
    many = (gs.GiantStep(RATIO * d, STRENGTH * d),) * steps
    return gs.Setting(gs.Gaussian(d), gs.target(target), network, gs.Protocol(many, gs.Ridge(RATIO * d, PENALTY)))


def measure(size: Size, seeds: range) -> Data:
    """Errors of the network and of both models on the same draws, (cases, seeds), by kind of error and model."""
    work: Any = {"n_test": N_TEST, "dtype": "float32"}
    settings = [experiment(*case, SIZES[size]) for case in CASES]
    outcomes = {"network": [cache.simulate(s, seeds, method="dense", **work) for s in settings]}
    for model in (GIVEN, PLAIN):
        some = seeds if model == GIVEN else seeds[: len(seeds) // 2]
        outcomes[model] = [cache.equivalent(s, model, some, **work) for s in settings]
    return {
        name: {model: np.stack([getattr(o, name) for o in each]) for model, each in outcomes.items()} for name in ERRORS
    }


def predict(size: Size) -> Data:
    """The difference of the conditional model's errors from the network's, relative to them."""
    return {"difference": 0.0}


def differences(measured: Data, model: str) -> np.ndarray:
    """(model - network) / mean of the network, (errors, cases, seeds)."""
    each, count = [measured[name] for name in ERRORS], measured["test_error"][model].shape[1]
    return np.stack([(e[model] - e["network"][:, :count]) / e["network"].mean(axis=1, keepdims=True) for e in each])


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The conditional model against the network; and the Gaussian model should be visibly off in every case."""
    names = [f"{target}, {activation}, {steps} step{'s' * (steps > 1)}" for target, activation, steps in CASES]
    at = [f"{name}, {what}" for what in ERRORS.values() for name in names]
    plain = np.mean(differences(measured, PLAIN), axis=(0, 1))
    return statistics.stated(
        statistics.compare(
            "error of the conditional model less the network's",
            differences(measured, GIVEN),
            predicted["difference"],
            at=at,
            within=RULE[size],
        ),
        statistics.compare(
            "mean difference of the Gaussian model",
            plain[None],
            [VISIBLE],
            at=[""],
            side="above",
            within=Tolerance(0.05, VISIBLE),
        ),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d = SIZES[size]
    given, plain = (100 * np.abs(differences(measured, m).mean(-1)) for m in (GIVEN, PLAIN))
    return Verdict(
        sentence=f"The errors of the conditional model differ from the network's by {given.mean():.1f}% on average and "
        f"{given.max():.1f}% at most, those of the Gaussian model by {plain.mean():.0f}% on average. {ruling.stated.sentence}",
        sizes=f"d = p = {d}, n = {RATIO}d a step and in the readout; s = {STRENGTH:g}; penalty {PENALTY:g}",
        figure=_figure(measured),
        caption="Errors of the models over the network's on the same draws, less one, in %: one row a case, test errors above "
        f"training errors. The conditional model is {given.max():.1f}% away from the line at zero at most, the Gaussian model "
        f"{plain.max():.0f}%.",
        settings=tuple(experiment(*case, d).id for case in CASES),
    )


def _figure(measured: Data) -> str:
    """Differences in % around the zero that the equivalence predicts, one row for every case and error."""
    rows = [(i, k) for i in range(len(CASES)) for k in range(len(ERRORS))]
    y = np.arange(len(rows))[::-1]
    with style.figure(width=7.2, height=3.2) as (fig, ax):
        ax.axvline(0, color=style.INK, linewidth=0.8)
        for j, (model, label) in enumerate(((GIVEN, "Gaussian given the learned directions"), (PLAIN, "Gaussian"))):
            mean, error = mean_and_error(100 * differences(measured, model))
            x, bar = (np.array([v[k, i] for i, k in rows]) for v in (mean, error))
            ax.errorbar(x, y + 0.12 - 0.24 * j, xerr=bar, fmt="os"[j], color=style.COLOURS[j], capsize=2, label=label)
        names = [f"{NAMES[CASES[i][0]]}, {CASES[i][1]}, T = {CASES[i][2]}: {list(ERRORS.values())[k]}" for i, k in rows]
        ax.set_yticks(y, names)
        for at in y[1::2][:-1]:
            ax.axhline(at - 0.5, color=style.INK, linewidth=0.4, linestyle=":")
        ax.set_xlabel("difference from the network's error in %")
        return style.svg(fig, below=2)
