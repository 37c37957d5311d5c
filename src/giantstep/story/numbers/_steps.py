"""The scenes of directions: what one step learns, what several do, and what a batch used twice does."""

from dataclasses import replace
from typing import Any

import numpy as np

from giantstep.experiment.protocol import GiantStep, Protocol
from giantstep.experiment.setting import Setting
from giantstep.experiment.target import target
from giantstep.explain import explain
from giantstep.explain.words import combination
from giantstep.measure import mean_and_error
from giantstep.plot._systems import in_plane
from giantstep.plot.formula import formula as formula_of
from giantstep.simulate import evolution, simulate
from giantstep.story import _figure as figure
from giantstep.story._scene import Scene

SEEDS = range(8)
LONG = 20  # times the width and the power of d: a step that hides the initial weights


def directions(scene: Scene) -> dict[str, Any]:
    """The share of a neuron along every direction after one step, for batches of d^kappa and several targets."""
    kappa, formula = scene.controls
    return figure.figure(
        figure.axis("", -0.5, 1.5, names=["w₁", "w₂"]),
        figure.axis("share of a neuron along the direction", 0, 1),
        [_learned(scene.setting, float(k), str(f)) for k in kappa.values for f in formula.values],
    )


def _learned(base: Setting, kappa: float, formula: str) -> dict[str, Any]:
    """A step of the size 20 p d^((kappa - 1)/2): the gradient's part of order kappa is then longer than the initial weights."""
    d, p = base.d, base.p
    n, eta = round(4 * d**kappa), LONG * p * d ** ((kappa - 1) / 2)
    s = base.with_(target=target(formula, rank=2), n=n, eta=eta)
    o = simulate(s, SEEDS, method="overlap", n_test=100, progress=False).mean()
    # One step turns the neurons to the range of the first tensor that is not zero, once n reaches d^order (Dandi et al. 2024)
    order = s.target.information_exponent or 1
    x = explain(formula, batch=f"d^{min(kappa, order):g}", steps=1)
    found = (
        f"the neurons turn to {_named(x.staircase[-1])}"
        if x.staircase[-1]
        else "one step finds less and less as d grows"
    )
    words = f"Here n = {n} and d = {d}. In theory {found}. "
    words += f"The shares are {o.captured[0]:.2f} along w₁ and {o.captured[1]:.2f} along w₂."
    marks = [
        *(
            figure.bars([k - 0.3, k + 0.3], [share], "share, mean of 8 networks", k)
            for k, share in enumerate(o.captured)
        ),
        figure.dots([0, 1], o.captured, o.captured_se, "", 3),
        figure.level(float(o.null_level), "by chance"),
    ]
    return figure.frame(marks, words)


def _named(directions: Any) -> str:
    """The directions in words: w₁ and w₂."""
    return " and ".join(formula_of(combination(each)) for each in directions)


def staircase(scene: Scene) -> dict[str, Any]:
    """The paths of the neurons in the plane of the first two directions."""
    taken, formula = scene.controls
    places = {f: evolution(scene.setting.with_(target=target(str(f))), 0) for f in formula.values}
    frames = [_paths(places[f], str(f), int(t)) for t in taken.values for f in formula.values]
    x, y = (figure.axis(f"cosine with {name}", -1, 1) for name in ("w₁", "w₂"))
    return figure.figure({**x, "circle": True}, y, frames)


def _paths(path: Any, formula: str, t: int) -> dict[str, Any]:
    places = np.swapaxes(in_plane(path)[0][: t + 1], 0, 1)  # (neurons, steps, 2)
    words = "Before the first step, neurons know no direction."
    if t:
        mean, found = path.shares[t].mean(axis=0), explain(formula, batch="d", steps=t).staircase[-1]
        words = f"After {t} step{'s' * (t != 1)} neurons know {_named(found)}, says theory. "
        words += f"Their mean shares are {mean[0]:.2f} along w₁ and {mean[1]:.2f} along w₂."
    marks = [
        figure.trails(places[path.a > 0], "neurons with a > 0", 0),
        figure.trails(places[path.a < 0], "neurons with a < 0", 1),
    ]
    return figure.frame([mark for mark in marks if mark["paths"]], words)


def reuse(scene: Scene) -> dict[str, Any]:
    """The share along the target after two steps, on two fresh batches and on one batch twice."""
    ratio, formula = scene.controls
    d, ratios = scene.setting.d, [float(r) for r in ratio.values]
    kinds = ("two fresh batches", "one batch twice")
    found = {
        f: {kind: [_shares(scene.setting, str(f), round(r * d), kind == kinds[1]) for r in ratios] for kind in kinds}
        for f in formula.values
    }
    frames = []
    for i, r in enumerate(ratios):
        for f in formula.values:
            marks = [figure.level(1 / d, "by chance"), figure.upright([r], "n/d chosen", 3)]
            marks += [
                figure.dots(ratios, *zip(*found[f][kind], strict=True), name=kind, ink=k, hollow=k == 1)
                for k, kind in enumerate(kinds)
            ]
            fresh, again = (found[f][kind][i] for kind in kinds)
            batch = "d" if r == 1 else f"{r:g}d"
            words = f"With n = {batch} and two fresh batches, the share along x₁ is {fresh[0] * d:.2g} times chance. "
            words += f"With one batch used twice it is {again[0] * d:.2g} times chance."
            frames.append(figure.frame(marks, words))
    return figure.figure(
        figure.axis("samples n/d", 0.8, 10, log=True),
        figure.axis("share of a neuron along the target", 1e-4, 1, log=True),
        frames,
    )


def _shares(base: Setting, formula: str, n: int, again: bool) -> tuple[float, float]:
    first = replace(base.protocol.steps[0], n=n)
    second = GiantStep(None, first.eta, batch="reuse") if again else first
    s = base.with_(target=target(formula), protocol=Protocol((first, second), None))
    mean, error = mean_and_error(np.array([np.mean(evolution(s, seed).shares[-1]) for seed in SEEDS]), 0)
    return float(mean), float(error)
