"""A step as a change of the inputs: untrained features on stretched inputs against a network that took the step."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.systems.function_space.simulate import direction


def setting(activation="tanh", eta: Any = 30.0, n=200, d=80, p=120, **network):
    own = gs.Network(p, activation, **{"rows": "gaussian", **network})
    protocol = gs.Protocol((gs.GiantStep(8 * d, eta),), gs.Ridge(n, 0.01))
    return gs.Setting(gs.Gaussian(d), gs.target("tanh(2*x1)", noise=0.2), own, protocol)


def law(given: gs.Setting) -> gs.Mixture:
    """The law of the stretched inputs."""
    assert isinstance(given.data, gs.Mixture)
    return given.data


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_errors_after_the_step_are_those_of_stretched_inputs(activation):
    """Test and training error within 3 standard errors and 5%; without the step the test error is far away."""
    s = setting(activation)
    stretched = gs.theory.equivalent_inputs(s)
    trained, seen = (gs.simulate(each, range(12), n_test=2000).mean() for each in (s, stretched))
    for name in ("test_error", "train_error"):
        a, b = getattr(trained, name), getattr(seen, name)
        se = np.hypot(getattr(trained, f"{name}_se"), getattr(seen, f"{name}_se"))
        assert abs(a - b) < 3 * se + 0.05 * a, name
    predicted = gs.theory(stretched).test_error
    assert predicted == pytest.approx(trained.test_error, rel=0.1)
    assert gs.theory(s.with_(eta=0.0)).test_error > 1.5 * predicted


def test_the_kernel_is_that_of_untrained_rows_on_stretched_inputs():
    """sigma(<g, S^(1/2) x>): the leading eigenvalues against those of the trained rows, which know nothing of S."""
    s = setting(p=600)
    own = law(gs.theory.equivalent_inputs(s)).components[0]
    trained, u = gs.simulate.train(s, seed=0), direction(s, seed=0)
    u = u / np.linalg.norm(u)
    root = own.bulk**0.5 * np.eye(s.d) + ((own.bulk + own.spikes[0].strength) ** 0.5 - own.bulk**0.5) * np.outer(u, u)
    after, moved = (gs.measure.kernel(W, s.network.activation, u) for W in (trained.final, trained.initial @ root))
    before = gs.measure.kernel(trained.initial, s.network.activation, u)
    assert moved.values[0] == pytest.approx(after.values[0], rel=0.08)
    assert moved.transverse == pytest.approx(after.transverse, rel=0.08)
    assert after.values[0] > 10 * before.values[before.aligned]


def test_the_target_is_the_same_function():
    """<v, x> = <S^(-1/2) v, S^(1/2) x>: labels keep their mean square, and without a step nothing is stretched."""
    s = setting(eta=20.0)
    stretched = gs.theory.equivalent_inputs(s)
    v = stretched.target.matrix(s.d)[0]
    assert v @ law(stretched).covariance() @ v == pytest.approx(1.0)
    still = gs.theory.equivalent_inputs(setting(eta=0.0))
    np.testing.assert_allclose(law(still).covariance(), np.eye(80), atol=1e-12)
    np.testing.assert_allclose(still.target.matrix(80)[0], np.eye(80)[0], atol=1e-12)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (setting(second_layer="rademacher"), "second_layer='gaussian'"),
        (setting(eta=[1.0, 2.0]), "one size"),
        (replace(setting(), protocol=gs.Protocol((gs.GiantStep(80, 1.0),))), "readout on fresh samples"),
        (setting(activation="H2(x)"), "c_1"),
    ],
)
def test_what_has_no_such_inputs_is_refused_in_a_sentence(given, words):
    with pytest.raises(gs.InputError, match=words):
        gs.theory.equivalent_inputs(given)
