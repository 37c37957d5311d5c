"""Learning from a stream: against dual averaging on draws of the prior without particles, and its own estimate of the loss."""

import numpy as np
import pytest

import giantstep as gs
from giantstep.functions import losses
from giantstep.systems.mean_field.bases import basis
from giantstep.systems.mean_field.curve_inputs import CurveInputs, deviations

GRID = np.linspace(0, 1, 30)
HOW = {"count": 5, "penalty": 0.05, "bound": 2.0, "intercept": False}


def stream(n, seed, size=10):
    """Curves of five cosines in batches, with a label that depends on two of them."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 5)) / np.arange(1, 6)
    y = np.tanh(2 * x[:, 0] - 3 * x[:, 1])
    curves = x @ basis(GRID, 5).T
    return [(curves[k : k + size], y[k : k + size]) for k in range(0, n, size)], x, y


def averaged(x, y, c, draws=20_000):
    """The same law by weights on draws of the prior: losses on the way, and the output of the last law."""
    u = np.random.default_rng(1).standard_normal((draws, 5)) * c
    total, met = np.zeros(draws), []
    log_w = np.zeros(draws)
    for t, (row, label) in enumerate(zip(x, y, strict=True), start=1):
        h = 2.0 * np.tanh(u @ row)
        w = np.exp(log_w - log_w.max())
        f = w @ h / w.sum()
        met.append(losses.value("square", np.array(f), np.array(label)))
        total += t * losses.slope("square", np.array(f), np.array(label)) * h
        log_w = -2 * total / ((t + 1) * (t + 2) * 0.05)
    w = np.exp(log_w - log_w.max())
    return np.array(met), lambda new: (w / w.sum()) @ (2.0 * np.tanh(u @ new.T))


def test_the_law_is_that_of_dual_averaging_without_particles():
    """Batches of one and of ten, over a doubling of the room: the same losses and outputs up to the noise of 1500 particles."""
    ones, x, y = stream(150, 0, 1)
    c = deviations(CurveInputs(intercept=False), x[:10])
    met, output = averaged(x, y, c)
    new = np.random.default_rng(2).standard_normal((100, 5)) / np.arange(1, 6)
    tens = gs.mean_field.follow(iter(stream(150, 0, 10)[0]), GRID, particles=1500, **HOW)
    apart = tens.predict(new @ basis(GRID, 5).T) - output(new)
    assert np.sqrt(np.mean(apart**2)) < 3 * 2.0 / 1500**0.5
    rest = [(np.concatenate([b[0] for b in ones[:10]]), y[:10]), *ones[10:]]
    single = gs.mean_field.follow(rest, GRID, particles=1500, **HOW)
    late = single.losses[75:]
    assert late.mean() == pytest.approx(met[75:].mean(), rel=0.25) and np.corrcoef(late, met[75:])[0, 1] > 0.9
    assert len(tens.losses) == 150 and tens.fit.field.history.y[-1] == pytest.approx(tens.losses.mean())


def test_losses_on_the_way_are_those_on_other_curves():
    """The later half of the losses against the loss on fresh curves of the law in between: within 4 standard errors and 20%."""
    batches, _, _ = stream(400, 3, 20)
    found = gs.mean_field.follow(batches, GRID, particles=400, **HOW)
    half = gs.mean_field.follow(batches[:15], GRID, particles=400, **HOW)
    other, _, y = stream(2000, 4, 2000)
    fresh = losses.value("square", half.predict(other[0][0]), y)
    late = found.losses[200:]
    assert abs(late.mean() - fresh.mean()) < 4 * late.std() / 200**0.5 + 0.2 * fresh.mean()
    assert late.mean() < 0.6 * found.losses[:20].mean() and "each predicted before" in repr(found)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gs.mean_field.follow([], GRID), "no batch"),
        (lambda: gs.mean_field.follow(stream(10, 0)[0]), "needs a grid"),
        (lambda: gs.mean_field.follow(stream(10, 0)[0], GRID, passes=3), "no option 'passes'"),
        (lambda: gs.mean_field.follow([(np.ones((2, 30)), [1.0])], GRID), "y must be 2 finite numbers"),
    ],
)
def test_what_is_no_stream_is_refused_in_a_sentence(call, words):
    with pytest.raises(gs.InputError, match=words):
        call()
