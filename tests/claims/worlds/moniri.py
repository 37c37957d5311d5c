"""Worlds in which the claims on one giant step are wrong."""

from types import SimpleNamespace
from typing import Any

import numpy as np
from worlds.altered import Change, astray, half_batch, longer, noisier, protocol, unit_rows, weights

import giantstep as gs
from giantstep.experiment import draw
from giantstep_papers.giantstep import second_sample
from giantstep_papers.moniri import expansion, onset, outliers, predicted, remainder, talk
from giantstep_papers.shared import paired


def direction(part: float) -> Change:
    """beta from a part of the samples."""

    def wrong(setting: Any, seed: int) -> np.ndarray:
        X, y = draw.rows(setting, seed, draw.step_batches(setting)[0])
        count = int(part * len(y))
        return X[:count].T @ y[:count] / count

    return lambda patch: patch.setattr(talk, "direction", wrong)


def by_signs(setting: Any, seed: int) -> np.ndarray:
    X, y = draw.rows(setting, seed, draw.step_batches(setting)[0])
    return X.T @ np.sign(y) / len(y)


def scaled_second_layer(factor: float) -> Change:
    second = draw.second_layer
    return lambda patch: patch.setattr(draw, "second_layer", lambda *given: factor * second(*given))


def signs(patch: Any) -> None:
    """The second layer is of signs, whose third power is itself."""
    second = draw.second_layer
    patch.setattr(draw, "second_layer", lambda *given: np.sign(second(*given)))


def tilted(patch: Any) -> None:
    """The weights of random features know the target's direction."""
    drawn = draw.weights

    def wrong(*given: Any) -> tuple[np.ndarray, np.ndarray]:
        W, a = drawn(*given)
        W = W + 0.4 * np.eye(W.shape[1])[0]
        return W / np.linalg.norm(W, axis=1, keepdims=True), a

    patch.setattr(draw, "weights", wrong)


def another_batch(patch: Any) -> None:
    """The rank-one part is taken from samples of the readout, not from those of the gradient."""
    other = SimpleNamespace(rows=draw.rows, step_batches=lambda setting: (draw.readout_batch(setting),))
    patch.setattr(remainder, "draw", other)


def fresh_readout(patch: Any) -> None:
    """The readout does not use the batch of the step."""
    patch.setattr(
        draw, "readout_batch", lambda setting: draw.Batch((draw.Stream.READOUT,), setting.protocol.readout_size)
    )


def target(formula: str, noise: float = 0.0) -> Change:
    return lambda patch: patch.setitem(talk.TARGETS, "setting 2", gs.target(formula, noise=noise))


def growing(found: Any) -> np.ndarray:
    """The step carries a factor sqrt(p) of another normalisation."""
    return found.initial + (len(found.initial) / 240) ** 0.5 * (found.final - found.initial)


def spikes(strength: float) -> Change:
    """The last spike of F_l is ``strength`` times as strong; 0 leaves it out."""
    right = expansion.expansion

    def wrong(c: np.ndarray, g: np.ndarray, u: np.ndarray, order: int, tau: float = 0.0) -> np.ndarray:
        last = np.where(np.arange(len(c)) == order, strength, 1.0)
        return right(last * c, g, u, order, tau)

    return lambda patch: patch.setattr(expansion, "expansion", wrong)


WORLDS: dict[str, dict[str, Change]] = {
    "moniri/rank-one": {
        "the gradient sees half of the batch": half_batch(remainder),
        "the batch of the gradient is another one": another_batch,
    },
    "moniri/normalisation-trap": {
        "the second layer is 1.1 times as large": scaled_second_layer(1.1),
        "the initial output is dropped": protocol(remainder, residual="target"),
    },
    "moniri/alignment": {
        "beta from three quarters of the samples": direction(0.75),
        "beta from the signs of the labels": lambda patch: patch.setattr(talk, "direction", by_signs),
    },
    "moniri/spikes": {
        "beta from a quarter of the samples": direction(0.25),
        "the gradient sees half of the batch": half_batch(outliers),
    },
    "moniri/bulk": {
        "rows are 1.1 times as long": weights(predicted, lambda found: 1.1 * found.final),
        "the step is three times as long": longer(predicted, 3.0),
    },
    "moniri/onset": {
        "the step is 1.25 times as long": longer(onset, 1.25),
        "the step has a factor sqrt(p)": weights(onset, growing),
    },
    "moniri/positions": {
        "the step is 1.25 times as long": longer(predicted, 1.25),
        "rows are normalised after the step": unit_rows(predicted),
    },
    "moniri/third-spike": {
        "the step is 1.25 times as long": longer(predicted, 1.25),
        "rows are normalised after the step": unit_rows(predicted),
        "the second layer is of signs": signs,
    },
    "moniri/expansion": {
        "the last spike is left out": spikes(0.0),
        "the last spike is twice as strong": spikes(2.0),
    },
    "moniri/expansion-gradient": {
        "rows are normalised after the step": unit_rows(expansion),
        "the step is 1.25 times as long": longer(expansion, 1.25),
    },
    "moniri/protocol": {
        "the step goes astray": astray(paired),
        "the step is a tenth as long": longer(paired, 0.1),
    },
    "giantstep/second-sample": {
        "the readout has a fresh batch": fresh_readout,
        "the initial output is dropped": protocol(second_sample, residual="target"),
    },
    "moniri/linear-floor": {
        "the weights know the target": tilted,
        "labels have additional noise of variance 1": noisier(1.0),
    },
    "moniri/improvement": {
        "the step goes astray": astray(paired),
        "the step is a tenth as long": longer(paired, 0.1),
    },
    "moniri/limits": {
        "beta from half of the samples": direction(0.5),
        "the penalty is doubled": lambda patch: patch.setattr(paired, "PENALTY", 0.2),
    },
    "moniri/trend": {
        "the step goes astray": astray(paired),
        "the step is 1.5 times as long": longer(paired, 1.5),
    },
    "moniri/settings": {
        "the quadratic part is half as large": target("x1 + H2(x1)/(2*sqrt(2))", 0.75**0.5),
        "the step goes astray": astray(paired),
    },
    "giantstep/settings": {
        "the quadratic part is half as large": target("x1 + H2(x1)/(2*sqrt(2))", 0.75**0.5),
        "the step is 2.5 times as long": longer(paired, 2.5),
    },
}
