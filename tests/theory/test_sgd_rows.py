"""SGD on features of data that are not N(0, I): moments from rows, against exact ones and against simulations."""

from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.experiment import draw
from giantstep.theory.sgd_readout._from_rows import on_rows, rows
from giantstep.theory.sgd_readout.population import population
from giantstep.theory.sgd_readout.predict import excess

MIXTURE = gs.Mixture(
    60,
    (
        gs.Component(0.5, mean={"x1": 1.5}),
        gs.Component(0.5, mean={"x1": -1.5}, bulk=0.5, spikes=(gs.Spike(3.0, "x2"),)),
    ),
)


def setting(data, target, p=60, rate: Any = 0.5, rows="sphere", **sgd):
    network = gs.Network(p, "relu", centred=True, rows=rows)
    return gs.Setting(data, target, network, gs.Protocol((), gs.SGD(100, rate, **sgd)))


def test_rows_of_gaussian_data_have_the_exact_moments():
    """A mixture of one component N(0, I): what Hermite expansion gives, to the error of 8192 rows."""
    target = gs.target("x1 + H2(x2)/2")
    drawn, exact = (setting(data, target) for data in (gs.Mixture(30, (gs.Component(1.0),)), gs.Gaussian(30)))
    W = draw.weights(exact, 0)[0]
    found, known = on_rows(drawn, W, 0), population(exact, W)
    assert found.values.sum() == pytest.approx(known.values.sum(), rel=0.02)
    assert found.floor == pytest.approx(known.floor, rel=0.06)
    ends = [excess(of, gs.SGD(100, 1.0), 100) for of in (found, known)]
    np.testing.assert_allclose(np.ravel(ends[0]), np.ravel(ends[1]), rtol=0.05)


@pytest.mark.parametrize("name", ["mixture", "images"])
def test_mixtures_and_images_are_predicted(name):
    """Within 3 standard errors and 4%; with the moments of N(0, I) inputs the prediction would be far away."""
    images = gs.Dataset("fashion-mnist", classes=(0, 1), path="sample", centre="all")
    data, law = (MIXTURE, "sphere") if name == "mixture" else (images, "trace")
    s = setting(data, gs.target("1 | -1", noise=0.5), rate=[0.4, 0.9], rows=law, passes=2)
    found, predicted = gs.simulate(s, range(16), n_test=1000).mean(), gs.theory(s)
    allowed = 3 * np.hypot(found.test_error_se, predicted.test_error_se) + 0.04 * predicted.test_error
    assert np.all(np.abs(found.test_error - predicted.test_error) < allowed)
    assert "rows of the data" in predicted.status.notes[0] and predicted.test_error[0] < 0.9


def test_own_labels_are_taken_from_the_data_set():
    rng = np.random.default_rng(0)
    X = rng.laplace(size=(600, 10))
    y = np.abs(X[:, 0]) + X[:, 1]
    s = setting(gs.Dataset((X, y), centre="none"), gs.target("y", noise=0.1), p=40)
    _, labels = rows(s, 0, 1)
    np.testing.assert_array_equal(labels, y)
    predicted = gs.theory(s)
    assert 0 < predicted.risk < float(np.mean(y**2))
    with pytest.raises(gs.InputError, match="needs 900 rows, and there are 600; take a width of at most 200"):
        gs.theory(setting(gs.Dataset((X, y), centre="none"), gs.target("y"), p=300))
