"""The early stage with several classes and cross entropy, and wide references: gradients, means, the gradient's floor."""

from dataclasses import replace

import jax
import numpy as np
import pytest

import giantstep as gs
from giantstep.systems.early import _cross_entropy as cross_entropy
from giantstep.systems.early import samples
from giantstep.systems.early._wide_reference import WIDE, reference


def system(classes: int = 3, positive: bool = False, **options) -> gs.Early:
    """Classes around directions of their own; positive inputs, as images are, never leave a neuron dead on one class alone."""
    rng = np.random.default_rng(0)
    labels = np.arange(150) % classes
    X = rng.normal(size=(150, 12)) + 1.5 * rng.normal(size=(classes, 12))[labels]
    data = gs.Dataset((np.abs(X) if positive else X, labels), tuple(range(classes)), centre="none", signal=None)
    given = {"n": 60, "d": 12, "width": 40, "loss": "cross_entropy", "rate": 0.02, "steps": 30, "data": data}
    return gs.Early(**(given | options))


@pytest.mark.parametrize("options", [{}, {"layers": "both", "bias": "trained"}, {"batch": 7, "bias": "none"}])
def test_a_step_is_that_of_automatic_differentiation(options):
    here = system(init=0.3, steps=1, **options)
    X, Y, (B, a) = samples.extended(here), cross_entropy.one_hot(here), samples.start(here, 3)
    rows = next(iter(samples.batches(here, 3)))

    def loss(B, a, X, Y):
        f = jax.numpy.maximum(X @ B.T, 0) @ a
        return jax.numpy.mean(jax.nn.logsumexp(f, axis=1) - jax.numpy.sum(f * Y, axis=1))

    by_b, by_a = jax.grad(loss, (0, 1))(B, a, X[rows], Y[rows])
    mask = np.ones(13)
    mask[-1] = here.bias == "trained"
    after = loss(B - here.rate * by_b * mask, a - (here.rate * by_a if here.layers == "both" else 0), X, Y)
    path = cross_entropy.run(here, 3)
    assert path.loss == pytest.approx([float(loss(B, a, X, Y)), float(after)])
    whole_b, whole_a = jax.grad(loss, (0, 1))(B, a, X, Y)
    square = np.sum((whole_b * mask) ** 2) + (np.sum(whole_a**2) if here.layers == "both" else 0)
    assert path.ratio[0] * path.loss[0] == pytest.approx(float(square))


def test_classes_and_counts():
    here = system(classes=4, n=61)
    _, y = samples.inputs(here)
    assert here.counts == (15, 15, 15, 16) and np.bincount(y.astype(int)).tolist() == [15, 15, 15, 16]
    assert cross_entropy.run(replace(here, steps=1)).loss[0] == pytest.approx(np.log(4), abs=1e-4)
    assert gs.system.from_plain(here.to_plain()) == here
    for options, words in (
        ({"data": "cone"}, "needs the classes of a Dataset"),
        ({"loss": "logistic"}, "take loss = 'cross_entropy' for more"),
        ({"n": 2}, "leave a class without samples"),
    ):
        with pytest.raises(gs.InputError, match=words):
            system(**options)  # type: ignore[arg-type]


def test_the_gradient_at_the_start_is_known_from_the_inputs():
    here = system(steps=1)
    found = [cross_entropy.run(here, seed).ratio[0] for seed in range(300)]
    error = np.std(found) / 300**0.5
    assert abs(np.mean(found) - cross_entropy.first_ratio(here)) < 4 * error < 0.05 * np.mean(found)


@pytest.mark.parametrize("positive", [False, True])
def test_the_floor_of_the_gradient(positive):
    """While the residuals are those of the start the gradient is above what the inputs alone say, and not far above."""
    here = system(positive=positive, width=200, rate=0.002, steps=60)
    floor = cross_entropy.floor(here).value
    found = np.mean([cross_entropy.least_ratio(cross_entropy.run(here, seed)) for seed in range(4)])
    assert 0 < floor < found < 6 * floor


@pytest.mark.parametrize("positive", [False, True])
def test_the_loss_is_that_of_a_wide_reference(positive):
    here = system(positive=positive, width=60, rate=0.01, steps=60)
    found, said = gs.simulate(here, range(12)), gs.theory(here)
    for name in ("drop_time", "last_loss"):
        (value, se), (expected, spread) = found.numbers[name], said.numbers[name]
        assert abs(value - expected) < 0.02 * expected + 4 * np.hypot(se or 0, spread or 0) < 0.3 * expected
    assert said.status.ok and f"{WIDE} neurons" in str(said.status)


def test_a_reference_of_its_own_width_is_the_network():
    here = replace(system(), width=WIDE)
    assert reference(here) == here


def test_patterns_that_change_are_predicted():
    """Two classes that are not orthogonally separable: frozen patterns gave a time that is 30% too short."""
    here = gs.Early(n=40, d=30, width=60, data="gaussian", cosine=0.3, bias="trained", rate=0.002, steps=150)
    (found, se), (said, spread) = (
        gs.simulate(here, range(6)).numbers["drop_time"],
        gs.theory(here).numbers["drop_time"],
    )
    assert abs(found / said - 1) < 0.03 + 3 * np.hypot(se or 0, spread or 0) / said < 0.12
