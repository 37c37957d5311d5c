"""Given what one giant step has learned, features of wide networks may be Gaussian ones."""

from typing import Any, NamedTuple

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
)
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks

CLAIM = Claim(
    order=13,
    paper="dandi_spectrum",
    quote="Theorem (Conditional Gaussian equivalence, [DKLPS '23]) In the linear regime n ≍ p ≍ d, "
    "φ_CK(x) ≃ μ(x_v) + Φ(x_v) x^⊥ + Ψ(x_v)^{1/2} ξ",
    place="Stephan's talk, slide “In the feature learning regime”",
    kind="asymptotic limit",
    statement="In the linear regime n ≍ p ≍ d the features φ_CK(x) are equivalent to μ(x_v) + "
    "Φ(x_v) x^⊥ + Ψ(x_v)^(1/2) ξ: they are conditionally Gaussian.",
    where="the conditional Gaussian equivalence after one step, along one learned direction v; "
    "two targets",
    how="We compare training and test errors of a ridge fit of the Gaussian features with those "
    "of the network, on the same draws, at the largest d. The limit is the value at 1/d = 0 "
    "of a line through three d. Differences are shares of the network's mean error.",
    judges=(
        Judge(
            "difference at the largest d",
            margin=(0.04, 0.02),
            departure=(0.1, 0.04),
            because="corrections of order 1/d",
        ),
        Judge(
            "difference at 1/d = 0",
            margin=(0.04, 0.02),
            departure=(0.12, 0.05),
            because="corrections that are no line in 1/d",
        ),
    ),
    seeds={"quick": Seeds(12, 80), "full": Seeds(30, 170)},
)

SQUARES, PRODUCTS = "x1 + x2 + x1^2 - x2^2", "x1 + x1*x2 + x1*x3"
NAMES = {SQUARES: "$x_1 + x_2 + x_1^2 - x_2^2$", PRODUCTS: "$x_1 + x_1x_2 + x_1x_3$"}


class EquivalenceCase(NamedTuple):
    """An experiment of the linear regime, n ~ p ~ d."""

    target: str
    activation: str
    steps: int

    @property
    def name(self) -> str:
        return f"{self.target}, {self.activation}, {self.steps} step{'s' * (self.steps > 1)}"

    @property
    def label(self) -> str:
        return f"{NAMES[self.target]}, {self.activation}, T = {self.steps}"

    def setting(self, d: int) -> gs.Setting:
        network = gs.Network(d, self.activation, scale="1/p")
        many = (gs.GiantStep(RATIO * d, STRENGTH * d),) * self.steps
        protocol = gs.Protocol(many, gs.Ridge(RATIO * d, PENALTY))
        return gs.Setting(gs.Gaussian(d), gs.target(self.target), network, protocol)


# one step learns one direction
CASES = (EquivalenceCase(SQUARES, "gelu", 1), EquivalenceCase(PRODUCTS, "relu", 1))
SIZES = {"quick": (40, 80, 160), "full": (120, 240, 500)}  # d
RATIO = 4  # n/d
STRENGTH = 1.0  # s = eta/p
PENALTY = 0.1  # of the ridge fit
N_TEST = 2000  # test samples
GIVEN, PLAIN = "conditional", "gaussian"
ERRORS = {"test_error": "test error", "train_error": "training error"}


def errors(
    cases: tuple[EquivalenceCase, ...], d: int, seeds: range, models: tuple[str, ...]
) -> Data:
    """Errors of the network and of models on the same draws, (cases, seeds), by kind of error
    and model."""
    work: Any = {"n_test": N_TEST, "dtype": "float32"}
    settings = [case.setting(d) for case in cases]
    outcomes = {"network": [cache.simulate(s, seeds, method="dense", **work) for s in settings]}
    for model in models:
        outcomes[model] = [cache.equivalent(s, model, seeds, **work) for s in settings]

    def of(name: str) -> Data:
        return {
            model: np.stack([getattr(outcome, name) for outcome in each])
            for model, each in outcomes.items()
        }

    return {name: of(name) for name in ERRORS}


def differences(measured: Data, model: str) -> np.ndarray:
    """(model - network) / mean of the network, (errors, cases, seeds)."""
    found = []
    for error in (measured[name] for name in ERRORS):
        network = error["network"]
        found.append((error[model] - network) / network.mean(axis=1, keepdims=True))
    return np.stack(found)


def measure(size: Size, seeds: range) -> Data:
    """``errors`` of the network and of the conditional model at every d."""
    return {str(d): errors(CASES, d, seeds, (GIVEN,)) for d in SIZES[size]}


def predict(size: Size) -> Data:
    """The difference of the conditional model's errors from the network's, relative to them."""
    return {"difference": 0.0}


def over_sizes(size: Size, measured: Data) -> np.ndarray:
    """Differences of the conditional model at every d, (sizes, errors, cases, seeds)."""
    return np.stack([differences(measured[str(d)], GIVEN) for d in SIZES[size]])


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The conditional model against the network at the largest d, and where its difference goes
    on a line in 1/d."""
    at = [f"{case.name}, {what}" for what in ERRORS.values() for case in CASES]
    found = over_sizes(size, measured)
    judge, said = judging(CLAIM, size), predicted["difference"]
    hand = judge(
        f"conditional model less network, d = {SIZES[size][-1]}",
        found[-1],
        said,
        by="difference at the largest d",
        at=at,
    )
    # the value at 1/d = 0 of a line through the differences of every seed
    x = 1 / np.array(SIZES[size])
    away = x - np.mean(x)
    weights = 1 / len(x) - np.mean(x) * away / np.sum(away**2)
    end = np.tensordot(weights, found, axes=1)
    what = "conditional model less network, 1/d to 0"
    limit = judge(what, end, said, by="difference at 1/d = 0", at=at)
    return Evidence((hand,), limit=(limit,))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes, found = SIZES[size], 100 * np.abs(over_sizes(size, measured).mean(-1))
    return Verdict(
        sentence="The errors of the conditional model differ from the network's by at most "
        f"{found[-1].max():.1f}% at the largest d. {ruling.sentence}",
        sizes=f"d = p = {', '.join(map(str, sizes))}, n = {RATIO}d a step and in the readout; s = "
        f"{STRENGTH:g}; penalty {PENALTY:g}",
        figure=_figure(size, measured),
        caption=f"At d = {sizes[-1]} the conditional model has the network's errors within "
        f"{found[-1].max():.1f}%.",
        settings=tuple(case.setting(d).id for case in CASES for d in sizes),
        trend=f"The largest difference goes from {found[0].max():.1f}% at d = {sizes[0]} to "
        f"{found[-1].max():.1f}% at d = {sizes[-1]}.",
    )


def _figure(size: Size, measured: Data) -> str:
    """Differences in % around the zero that the equivalence predicts, against d."""
    mean, error = mean_and_error(100 * over_sizes(size, measured))
    with style.figure(width=4.2, height=3.6) as (fig, ax):
        ax.axhline(0, color=style.INK, linewidth=0.8)
        for k, what in enumerate(ERRORS.values()):
            for i, case in enumerate(CASES):
                name = f"{case.label}: {what}"
                look = {"color": style.COLOURS[i], "marker": "os"[k], "label": name}
                values = mean[:, k, i], error[:, k, i]
                style.dots(ax, SIZES[size], *values, linestyle="-", linewidth=0.8, **look)
        ax.set(xlabel="d", ylabel="error less the network's, %")
        ticks.logarithmic(ax, "x", SIZES[size])
        ax.minorticks_off()
        fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=1)
        return style.svg(fig)
